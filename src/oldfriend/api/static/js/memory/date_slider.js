// The date slider: the memory as it was on a day, with marks where much changed.
// It goes by the days on which something did; a silence takes a few steps, however long it was.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { findKind } from "../kinds.js";
import { followLink } from "../router.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { formatCalendarDay, formatMonth, formatChangeCounts } from "./labels.js";

const DAY_MS = 86_400_000;
const HIGHEST = 28;
const MONTH_PX = 46, YEAR_PX = 44; // wide the name of a month is at most, and the year behind it
const DAY_PX = 80; // to each side of the thumb for the day that is looked at
const USUAL_PX = 600; // of the line, until it is there
const MOST_OF_SILENCE = 3; // days between two on which something changed

const numberOf = (iso) => Math.round(Date.parse(`${iso}T00:00:00Z`) / DAY_MS);
const isoOf = (number) => new Date(number * DAY_MS).toISOString().slice(0, 10);

/** @param {number[]} days */
const inOrder = (days) => [...new Set(days)].sort((one, other) => one - other);

/** The days that can be stopped at, as numbers: those on which something changed, and a few between. @param {number[]} days */
export function findStops(days) {
  return inOrder(days).flatMap((day, place, all) => {
    const gap = (all[place + 1] ?? day + 1) - day;
    const steps = Math.min(gap, MOST_OF_SILENCE + 1);
    return Array.from({ length: steps }, (_, step) => day + Math.round((gap * step) / steps));
  });
}

/** The slider along the top. */
export function DateSlider() {
  const isBySaid = beliefList.timeBasis.value === "said";
  const { items = [], today } = (isBySaid ? beliefList.saidDays.value : beliefList.learnedDays.value) ?? {};
  const last = today ? numberOf(today) : 0;
  const first = items.length ? Math.min(numberOf(items[0].day), last) : last;
  const at = beliefList.day.value ? numberOf(beliefList.day.value) : last;
  const [shown, setShown] = useState(at);
  const timer = useRef(0);
  useEffect(() => setShown(at), [at]);
  if (!today) return html`<div class="slider is-waiting" data-stays></div>`;
  const go = (number) => {
    const to = Math.max(first, Math.min(last, number));
    setShown(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => (beliefList.day.value = to === last ? null : isoOf(to)), 60);
  };
  const changed = items.map((each) => ({ ...each, number: numberOf(each.day) }));
  const usual = findStops([...changed.map((each) => each.number).filter((number) => number <= last), last]);
  const stops = usual.includes(shown) ? usual : inOrder([...usual, shown]);
  const before = changed.findLast((each) => each.number < shown);
  const after = changed.find((each) => each.number > shown);
  const on = changed.find((each) => each.number === shown);
  const told = shown === last ? t("memory_now") : t(isBySaid ? "memory_said_by" : "memory_as_of", { day: formatCalendarDay(isoOf(shown)) });
  const much = on ? formatChangeCounts(on) : t(shown === last ? "memory_turned_none_today" : "memory_turned_none");
  return html`<section class=${`slider ${shown === last ? "" : "is-past"}`} aria-label=${t("memory_slider")} data-stays>
    <p class="slider-told"><strong aria-live="polite">${told}</strong> <span class="meta">${much.split(" · ").map((each, place) => html`${place > 0 && " · "}<span class="whole">${each}</span>`)}</span></p>
    ${first < last && html`<div class="slider-track">
      <button class="step" disabled=${!before} aria-label=${t("memory_day_before")} title=${t("memory_day_before")} onClick=${() => go(before.number)}>‹</button>
      <div class="slider-line"><${Marks} changed=${changed} stops=${stops} shown=${shown} />
        <input type="range" min="0" max=${stops.length - 1} step="1" value=${stops.indexOf(shown)} aria-label=${t("memory_slider")}
          aria-valuetext=${`${told}. ${much}`} onInput=${({ target }) => go(stops[Number(target.value)])} />
        <${Scale} stops=${stops} shown=${shown} isNow=${shown === last} /></div>
      <button class="step" disabled=${shown === last} aria-label=${t("memory_day_after")} title=${t("memory_day_after")} onClick=${() => go(after?.number ?? last)}>›</button>
    </div>`}
    ${first === last && html`<p class="meta">${t("memory_first_day")}</p>`}
    <p class="choices">${first < last && html`<${Ways} />`}${shown !== last && html`<button onClick=${() => go(last)}>${t("memory_to_now")}</button>`}</p>
  </section>`;
}

/** By what the days go. */
function Ways() {
  const choose = (way) => {
    beliefList.timeBasis.value = way;
    beliefList.day.value = null;
  };
  return html`<select class="ways" aria-label=${t("memory_ways")} value=${beliefList.timeBasis.value} onChange=${({ target }) => choose(target.value)}>
    <option value="said">${t("memory_way_said")}</option><option value="learned">${t("memory_way_learned")}</option></select>`;
}

/** The months below the line, as far as there is room, and the day under the thumb. */
function Scale({ stops, shown, isNow }) {
  const line = useRef(null);
  const [width, setWidth] = useState(USUAL_PX);
  useEffect(() => {
    const sizes = new ResizeObserver(([{ contentRect }]) => setWidth(contentRect.width || USUAL_PX));
    sizes.observe(line.current);
    return () => sizes.disconnect();
  }, []);
  const share = (place) => place / Math.max(1, stops.length - 1);
  const thumb = share(stops.indexOf(shown));
  const isCovered = (at, room) => !isNow && at < thumb + DAY_PX / width && at + room > thumb - DAY_PX / width; // by the day under the thumb
  let free = 0; // from where on there is room for a name
  let named = "";
  const months = stops.flatMap((number, place) => {
    const [year, month] = isoOf(number).split("-").map(Number);
    const name = isoOf(number).slice(0, 7);
    const hasYear = named.slice(0, 4) !== name.slice(0, 4);
    const room = (MONTH_PX + (hasYear ? YEAR_PX : 0)) / width;
    if (name === named || share(place) < free || share(place) > 1 - room) return [];
    free = share(place) + room;
    named = name;
    return isCovered(share(place), room) ? [] : [{ at: share(place), name: formatMonth(year, month, hasYear) }];
  });
  return html`<div class="scale" aria-hidden="true" ref=${line}>${months.map(({ at, name }) => html`<span key=${at} style=${{ left: `${at * 100}%` }}>${name}</span>`)}
    ${!isNow && html`<b style=${{ left: `${thumb * 100}%` }}>${formatCalendarDay(isoOf(shown))}</b>`}</div>`;
}

/** What else there is of those days: from the second on. */
export function DayExtras() {
  const { items = [], today } = beliefList.learnedDays.value ?? {};
  const isOneDay = !items.length || items[0].day >= today;
  return html`<p class="choices">
    ${!isOneDay && html`<a class="quiet-link" href="/memory/changes" onClick=${followLink}>${t("memory_what_changed")}</a>`}
    ${beliefList.moods.value.length > 1 && html`<a class="quiet-link" href="/memory/moods" onClick=${followLink}>${t("memory_moods")}</a>`}
    ${!isOneDay && html`<a class="quiet-link" href="/memory/thinking" onClick=${followLink}>${t("thinking_title")}</a>`}</p>`;
}

/** How much there is on each day: a bar, the higher the more, in the colors of its kinds where these are known. */
function Marks({ changed, stops, shown }) {
  const most = Math.max(1, ...changed.map(sizeOf));
  const places = new Map(stops.map((number, place) => [number, place]));
  const x = (number) => ((places.get(number) ?? stops.length - 1) / Math.max(1, stops.length - 1)) * 1000;
  /** @type {Record<string, string>} */
  const paths = {};
  for (const each of changed) {
    const high = HIGHEST * Math.max(0.16, Math.log1p(sizeOf(each)) / Math.log1p(most));
    let from = HIGHEST;
    for (const [color, count] of colorsOf(each)) {
      const step = (high * count) / sizeOf(each);
      const name = each.number > shown ? "mark-future" : `mark-past ${color && `mark-${color}`}`;
      paths[name] = `${paths[name] ?? ""}M${x(each.number).toFixed(1)} ${from.toFixed(1)}v${(-step).toFixed(1)}`;
      from -= step;
    }
  }
  return html`<svg class="marks" viewBox=${`0 0 1000 ${HIGHEST}`} preserveAspectRatio="none" aria-hidden="true">
    ${Object.entries(paths).map(([name, path]) => html`<path key=${name} class=${name} d=${path} />`)}</svg>`;
}

/** How much of a day has which color. */
function colorsOf(day) {
  const kinds = Object.entries(day.kinds ?? {});
  if (!kinds.length) return [["", sizeOf(day)]];
  /** @type {Record<string, number>} */
  const counts = {};
  for (const [kind, count] of kinds) {
    const color = findKind(kind).color ?? "fact";
    counts[color] = (counts[color] ?? 0) + count;
  }
  return Object.entries(counts);
}

const sizeOf = ({ added, changed, ended }) => added + changed + ended;
