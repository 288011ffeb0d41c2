// A line chart over days in SVG, with axes, a weekly mean, and a day picked by pointer or arrow keys.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { findLocale } from "../memory/labels.js";

const HIGH = 240, LEFT = 48, RIGHT = 12, TOP = 12, BOTTOM = 28;
const MOST_DOTS = 62;
const DAY_MS = 86_400_000;
const WEEK = 7;
const TICK_PX = 96; // from one day that is named to the next, at least
const STEPS = [1, 2, 2.5, 5, 10];

/** @typedef {{day: string, value: number, second_value: number | null}} DayValue */

/** @param {{days: DayValue[], label: string, tell: (value: number) => string, tellDay: (day: DayValue) => string}} given */
export function LineChart({ days, label, tell, tellDay }) {
  const place = useRef(null);
  const [wide, setWide] = useState(720);
  const [picked, setPicked] = useState(-1);
  useEffect(() => {
    const sizes = new ResizeObserver(([entry]) => setWide(Math.max(240, Math.round(entry.contentRect.width))));
    sizes.observe(place.current);
    return () => sizes.disconnect();
  }, []);
  useEffect(() => setPicked(-1), [days]);
  const times = days.map(({ day }) => Date.parse(day));
  const first = times[0];
  const last = Math.max(times[times.length - 1], first + DAY_MS);
  const ticks = findTicks(days.flatMap(({ value, second_value: second }) => (second === null ? [value] : [value, second])));
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const x = (time) => LEFT + ((time - first) / (last - first)) * (wide - LEFT - RIGHT);
  const y = (value) => TOP + (1 - (value - low) / (high - low)) * (HIGH - TOP - BOTTOM);
  const path = (values) => values.map((value, at) => value !== null && `${values[at - 1] == null ? "M" : "L"}${x(times[at]).toFixed(1)} ${y(value).toFixed(1)}`).filter(Boolean).join("");
  const values = days.map(({ value }) => value);
  const seconds = days.map(({ second_value: second }) => second);
  const pick = ({ clientX }) => {
    const at = clientX - place.current.getBoundingClientRect().left;
    setPicked(times.reduce((best, time, index) => (Math.abs(x(time) - at) < Math.abs(x(times[best]) - at) ? index : best), 0));
  };
  const step = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -days.length, End: days.length }[event.key];
    if (!by) return;
    event.preventDefault();
    setPicked(Math.min(days.length - 1, Math.max(0, (picked < 0 ? days.length : picked) + by)));
  };
  const named = namedDays(first, last, Math.max(2, Math.floor((wide - LEFT - RIGHT) / TICK_PX)));
  const isDense = days.length > 2 * WEEK && last - first < 2 * days.length * DAY_MS;
  const hasMean = isDense && !seconds.some((each) => each !== null);
  return html`<div class="line-chart" ref=${place} tabindex="0" role="group" aria-label=${label} onKeyDown=${step} onBlur=${() => setPicked(-1)}>
    <p class="line-chart-told" role="status">${picked >= 0 ? tellDay(days[picked]) : ""}</p>
    <svg width=${wide} height=${HIGH} viewBox=${`0 0 ${wide} ${HIGH}`} aria-hidden="true" onPointerMove=${pick} onPointerDown=${pick} onPointerLeave=${() => setPicked(-1)}>
      ${ticks.map((value) => html`<g key=${value}><path class="grid" d=${`M${LEFT} ${y(value)}H${wide - RIGHT}`} /><text x=${LEFT - 8} y=${y(value) + 4} text-anchor="end">${tell(value)}</text></g>`)}
      ${named.map(({ time, text }, at) => html`<text key=${time} x=${x(time)} y=${HIGH - 8} text-anchor=${at ? "middle" : "start"}>${text}</text>`)}
      ${seconds.some((each) => each !== null) && html`<path class="values is-second" d=${path(seconds)} />`}
      <path class=${`values ${hasMean ? "is-soft" : ""}`} d=${path(values)} />
      ${hasMean && html`<path class="week" d=${path(weeklyMeans(times, values))} />`}
      ${days.length <= MOST_DOTS && days.map(({ day, value, second_value: second }, at) => html`<g key=${day}><circle cx=${x(times[at])} cy=${y(value)} r="3" />${second !== null && html`<circle class="is-second" cx=${x(times[at])} cy=${y(second)} r="3" />`}</g>`)}
      ${picked >= 0 && html`<g class="picked"><path d=${`M${x(times[picked])} ${TOP}V${HIGH - BOTTOM}`} /><circle cx=${x(times[picked])} cy=${y(values[picked])} r="5" /></g>`}
    </svg></div>`;
}

/** For each day, the mean of those within the seven days up to it. @param {number[]} times @param {number[]} values */
export function weeklyMeans(times, values) {
  let from = 0;
  return times.map((time, at) => {
    while (times[from] <= time - WEEK * DAY_MS) from += 1;
    const within = values.slice(from, at + 1);
    return within.reduce((sum, each) => sum + each, 0) / within.length;
  });
}

/** Round values from below the least to above the most. @param {number[]} values */
export function findTicks(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const rough = (most - least || Math.abs(most) / 10 || 1) / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (STEPS.find((each) => each * power >= rough) ?? 10);
  const [start, end] = [Math.floor(least / step), Math.max(Math.ceil(most / step), Math.floor(least / step) + 1)];
  return Array.from({ length: end - start + 1 }, (_, place) => Number(((start + place) * step).toPrecision(12)));
}

/** Days to name below the line, evenly apart. @param {number} first @param {number} last @param {number} most */
function namedDays(first, last, most) {
  const count = Math.min(most, Math.round((last - first) / DAY_MS) + 1);
  const isLong = last - first > 300 * DAY_MS;
  const format = new Intl.DateTimeFormat(findLocale(), isLong ? { month: "short", year: "2-digit", timeZone: "UTC" } : { day: "numeric", month: "short", timeZone: "UTC" });
  return Array.from({ length: count - 1 }, (_, place) => {
    const time = first + Math.round(((last - first) * place) / (count - 1) / DAY_MS) * DAY_MS;
    return { time, text: format.format(new Date(time)) };
  });
}
