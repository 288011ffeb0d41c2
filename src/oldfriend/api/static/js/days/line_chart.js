// A line chart over days in SVG, with axes, a weekly mean, and a day picked by pointer or arrow keys.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { findLocale } from "../memory/labels.js";

const HEIGHT = 240, LEFT = 48, RIGHT = 12, TOP = 12, BOTTOM = 28;
const MAX_DOTS = 62;
const DAY_MS = 86_400_000;
const DAYS_PER_WEEK = 7;
const MIN_TICK_PX = 96; // minimum distance of two date labels
const TICK_STEPS = [1, 2, 2.5, 5, 10];

/** @typedef {{day: string, value: number, second_value: number | null}} DayValue */

/** @param {{days: DayValue[], label: string, formatValue: (value: number) => string, formatDayValue: (day: DayValue) => string}} props */
export function LineChart({ days, label, formatValue, formatDayValue }) {
  const container = useRef(null);
  const [width, setWidth] = useState(720);
  const [picked, setPicked] = useState(-1);
  useEffect(() => {
    const resizeObserver = new ResizeObserver(([entry]) => setWidth(Math.max(240, Math.round(entry.contentRect.width))));
    resizeObserver.observe(container.current);
    return () => resizeObserver.disconnect();
  }, []);
  useEffect(() => setPicked(-1), [days]);
  const times = days.map(({ day }) => Date.parse(day));
  const first = times[0];
  const last = Math.max(times[times.length - 1], first + DAY_MS);
  const ticks = findTicks(days.flatMap(({ value, second_value: second }) => (second === null ? [value] : [value, second])));
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const x = (time) => LEFT + ((time - first) / (last - first)) * (width - LEFT - RIGHT);
  const y = (value) => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const path = (values) => values.map((value, index) => value !== null && `${values[index - 1] == null ? "M" : "L"}${x(times[index]).toFixed(1)} ${y(value).toFixed(1)}`).filter(Boolean).join("");
  const values = days.map(({ value }) => value);
  const seconds = days.map(({ second_value: second }) => second);
  const pick = ({ clientX }) => {
    const pointerX = clientX - container.current.getBoundingClientRect().left;
    setPicked(times.reduce((best, time, index) => (Math.abs(x(time) - pointerX) < Math.abs(x(times[best]) - pointerX) ? index : best), 0));
  };
  const onKeyDown = (event) => {
    const offset = { ArrowLeft: -1, ArrowRight: 1, Home: -days.length, End: days.length }[event.key];
    if (!offset) return;
    event.preventDefault();
    setPicked(Math.min(days.length - 1, Math.max(0, (picked < 0 ? days.length : picked) + offset)));
  };
  const dayTicks = findDayTicks(first, last, Math.max(2, Math.floor((width - LEFT - RIGHT) / MIN_TICK_PX)));
  const isDense = days.length > 2 * DAYS_PER_WEEK && last - first < 2 * days.length * DAY_MS;
  const hasMean = isDense && !seconds.some((each) => each !== null);
  return html`<div class="line-chart" ref=${container} tabindex="0" role="group" aria-label=${label} onKeyDown=${onKeyDown} onBlur=${() => setPicked(-1)}>
    <p class="line-chart-told" role="status">${picked >= 0 ? formatDayValue(days[picked]) : ""}</p>
    <svg width=${width} height=${HEIGHT} viewBox=${`0 0 ${width} ${HEIGHT}`} aria-hidden="true" onPointerMove=${pick} onPointerDown=${pick} onPointerLeave=${() => setPicked(-1)}>
      ${ticks.map((value) => html`<g key=${value}><path class="grid" d=${`M${LEFT} ${y(value)}H${width - RIGHT}`} /><text x=${LEFT - 8} y=${y(value) + 4} text-anchor="end">${formatValue(value)}</text></g>`)}
      ${dayTicks.map(({ time, text }, index) => html`<text key=${time} x=${x(time)} y=${HEIGHT - 8} text-anchor=${index ? "middle" : "start"}>${text}</text>`)}
      ${seconds.some((each) => each !== null) && html`<path class="values is-second" d=${path(seconds)} />`}
      <path class=${`values ${hasMean ? "is-soft" : ""}`} d=${path(values)} />
      ${hasMean && html`<path class="week" d=${path(weeklyMeans(times, values))} />`}
      ${days.length <= MAX_DOTS && days.map(({ day, value, second_value: second }, index) => html`<g key=${day}><circle cx=${x(times[index])} cy=${y(value)} r="3" />${second !== null && html`<circle class="is-second" cx=${x(times[index])} cy=${y(second)} r="3" />`}</g>`)}
      ${picked >= 0 && html`<g class="picked"><path d=${`M${x(times[picked])} ${TOP}V${HEIGHT - BOTTOM}`} /><circle cx=${x(times[picked])} cy=${y(values[picked])} r="5" /></g>`}
    </svg></div>`;
}

/** For each day, the mean of the values of the seven days up to it. @param {number[]} times @param {number[]} values */
export function weeklyMeans(times, values) {
  let from = 0;
  return times.map((time, index) => {
    while (times[from] <= time - DAYS_PER_WEEK * DAY_MS) from += 1;
    const week = values.slice(from, index + 1);
    return week.reduce((sum, each) => sum + each, 0) / week.length;
  });
}

/** Round values for the y axis, from below the minimum to above the maximum. @param {number[]} values */
export function findTicks(values) {
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const roughStep = (max - min || Math.abs(max) / 10 || 1) / 3;
  const power = 10 ** Math.floor(Math.log10(roughStep));
  const step = power * (TICK_STEPS.find((each) => each * power >= roughStep) ?? 10);
  const [start, end] = [Math.floor(min / step), Math.max(Math.ceil(max / step), Math.floor(min / step) + 1)];
  return Array.from({ length: end - start + 1 }, (_, index) => Number(((start + index) * step).toPrecision(12)));
}

/** Dates to label on the x axis, evenly spaced, with their text. @param {number} first @param {number} last @param {number} max */
function findDayTicks(first, last, max) {
  const count = Math.min(max, Math.round((last - first) / DAY_MS) + 1);
  const isLong = last - first > 300 * DAY_MS;
  const format = new Intl.DateTimeFormat(findLocale(), isLong ? { month: "short", year: "2-digit", timeZone: "UTC" } : { day: "numeric", month: "short", timeZone: "UTC" });
  return Array.from({ length: count - 1 }, (_, index) => {
    const time = first + Math.round(((last - first) * index) / (count - 1) / DAY_MS) * DAY_MS;
    return { time, text: format.format(new Date(time)) };
  });
}
