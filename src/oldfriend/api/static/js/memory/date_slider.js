// The date slider: selects a day as of which beliefs are shown, with a bar for the changes of each day.
// Its scale is linear in time; it stops at days with changes, and at a few days of a longer gap between them.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { findKind } from "../kinds.js";
import { followLink } from "../router.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { findLocale, formatCalendarDay, formatMonth, formatChangeCounts } from "./labels.js";

const DAY_MS = 86_400_000;
const MARK_HEIGHT = 28;
const LABEL_PX = 96; // room for a label with its year, by which the step between labels is chosen
const LETTER_PX = 7, WIDE_LETTER_PX = 13; // width of a letter of a label
const LABEL_GAP_PX = 14; // between two labels
const DAY_LABEL_PADDING_PX = 10; // at each side of the label below the thumb
const NARROW_PX = 420; // a line so narrow has the day below its thumb with a short month
const MONTH_END_PX = 24; // the line's first days are no month with a label of its own if they take less
const BAR_PX = 3; // width of a bar with the gap to the next: days that lie closer share one
const DEFAULT_WIDTH_PX = 600; // width of the line until it has been measured
const MAX_GAP_STOPS = 3; // stops in the gap between two days with changes
const SHORT_DAYS = 45; // up to so many days, single days are labeled in place of months
const DAY_STEPS = [1, 2, 5, 10, 20, 45]; // days between two labels
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200]; // months between two labels
const MONTH_DAYS = 30.4;
const BACK_KEYS = ["ArrowLeft", "ArrowDown"], AHEAD_KEYS = ["ArrowRight", "ArrowUp"];

const toDayNumber = (iso) => Math.round(Date.parse(`${iso}T00:00:00Z`) / DAY_MS);
const toIsoDay = (number) => new Date(number * DAY_MS).toISOString().slice(0, 10);

/** @param {number[]} days */
const sortUnique = (days) => [...new Set(days)].sort((a, b) => a - b);

/** The stops of the slider as day numbers: the days given, and up to MAX_GAP_STOPS between two. @param {number[]} days */
export function findStops(days) {
  return sortUnique(days).flatMap((day, index, all) => {
    const gap = (all[index + 1] ?? day + 1) - day;
    const steps = Math.min(gap, MAX_GAP_STOPS + 1);
    return Array.from({ length: steps }, (_, step) => day + Math.round((gap * step) / steps));
  });
}

/** The slider, with buttons for the previous and next day with changes. */
export function DateSlider() {
  const isBySaid = beliefList.timeBasis.value === "said";
  const { items = [], today } = (isBySaid ? beliefList.saidDays.value : beliefList.learnedDays.value) ?? {};
  const last = today ? toDayNumber(today) : 0;
  const first = items.length ? Math.min(toDayNumber(items[0].day), last) : last;
  const chosen = beliefList.day.value ? toDayNumber(beliefList.day.value) : last;
  const [selected, setSelected] = useState(chosen);
  const timer = useRef(0);
  useEffect(() => setSelected(chosen), [chosen]);
  if (!today) return html`<div class="slider is-waiting" data-stays></div>`;
  const moveTo = (number) => {
    const newDay = Math.max(first, Math.min(last, number));
    setSelected(newDay);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => (beliefList.day.value = newDay === last ? null : toIsoDay(newDay)), 60);
  };
  const changed = items.map((each) => ({ ...each, number: toDayNumber(each.day) }));
  const changeStops = findStops([...changed.map((each) => each.number).filter((number) => number <= last), last]);
  const stops = changeStops.includes(selected) ? changeStops : sortUnique([...changeStops, selected]);
  const earlier = changed.findLast((each) => each.number < selected);
  const later = changed.find((each) => each.number > selected);
  const atShown = changed.find((each) => each.number === selected);
  const at = stops.indexOf(selected);
  const onKey = (event) => {
    const step = BACK_KEYS.includes(event.key) ? -1 : AHEAD_KEYS.includes(event.key) ? 1 : 0;
    if (!step) return;
    event.preventDefault(); // else it goes on by a day, at which nothing may have changed
    moveTo(stops[at + step] ?? selected);
  };
  const drag = ({ target }) => {
    const wanted = first + Number(target.value);
    const nearest = stops.reduce((best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best));
    target.value = String(nearest - first);
    moveTo(nearest);
  };
  const title = selected === last ? t("memory_now") : t(isBySaid ? "memory_said_by" : "memory_as_of", { day: formatCalendarDay(toIsoDay(selected)) });
  const counts = atShown ? formatChangeCounts(atShown) : t(selected === last ? "memory_turned_none_today" : "memory_turned_none");
  return html`<section class=${`slider ${selected === last ? "" : "is-past"}`} aria-label=${t("memory_slider")} data-stays>
    <p class="slider-told"><strong aria-live="polite">${title}</strong> <span class="meta">${counts.split(" · ").map((each, index) => html`${index > 0 && " · "}<span class="whole">${each}</span>`)}</span></p>
    ${first < last && html`<div class="slider-track">
      <button class="step" disabled=${!earlier} aria-label=${t("memory_day_before")} title=${t("memory_day_before")} onClick=${() => moveTo(earlier.number)}>‹</button>
      <div class="slider-line"><${Marks} changed=${changed} first=${first} last=${last} selected=${selected} />
        <input type="range" min="0" max=${last - first} step="1" value=${selected - first} aria-label=${t("memory_slider")}
          aria-valuetext=${`${title}. ${counts}`} onKeyDown=${onKey} onInput=${drag} />
        <${Scale} first=${first} last=${last} selected=${selected} /></div>
      <button class="step" disabled=${selected === last} aria-label=${t("memory_day_after")} title=${t("memory_day_after")} onClick=${() => moveTo(later?.number ?? last)}>›</button>
    </div>`}
    ${first === last && html`<p class="meta">${t("memory_first_day")}</p>`}
    <p class="choices">${first < last && html`<${TimeBasisSelect} />`}${selected !== last && html`<button onClick=${() => moveTo(last)}>${t("memory_to_now")}</button>`}</p>
  </section>`;
}

/** Selects whether days are those of learning or of the messages. */
function TimeBasisSelect() {
  const choose = (basis) => {
    beliefList.timeBasis.value = basis;
    beliefList.day.value = null;
  };
  return html`<select class="ways" aria-label=${t("memory_ways")} value=${beliefList.timeBasis.value} onChange=${({ target }) => choose(target.value)}>
    <option value="said">${t("memory_way_said")}</option><option value="learned">${t("memory_way_learned")}</option></select>`;
}

/** The width of the element that the returned ref is set on. @returns {[{current: any}, number]} */
function useWidth() {
  const element = useRef(null);
  const [width, setWidth] = useState(DEFAULT_WIDTH_PX);
  useEffect(() => {
    const resizeObserver = new ResizeObserver(([{ contentRect }]) => setWidth(contentRect.width || DEFAULT_WIDTH_PX));
    resizeObserver.observe(element.current);
    return () => resizeObserver.disconnect();
  }, []);
  return [element, width];
}

/** About the width of a label in px. @param {string} text */
const widthOf = (text) => [...text].reduce((sum, each) => sum + (each > "\u2e80" ? WIDE_LETTER_PX : LETTER_PX), 0);

/** Labels below the line at their places in time: days or months as far as they fit, today, and the selected day under the thumb.
 * @param {{first: number, last: number, selected: number}} props day numbers */
function Scale({ first, last, selected }) {
  const [line, width] = useWidth();
  const isNow = selected === last;
  const pxOf = (number) => ((number - first) / (last - first)) * width;
  const thumb = pxOf(selected);
  const chosenDay = width < NARROW_PX ? formatDayNumber(selected, { year: "numeric" }) : formatCalendarDay(toIsoDay(selected));
  const reach = widthOf(chosenDay) / 2 + DAY_LABEL_PADDING_PX + LABEL_GAP_PX / 2;
  const isFree = (from, to) => isNow || to <= thumb - reach || from >= thumb + reach; // of the label of the selected day
  const todayFrom = width - widthOf(t("tasks_today"));
  let freeFrom = 0; // px from which on the next label fits
  let lastYear = "";
  const labels = findLabelDays(first, last, width).flatMap((number) => {
    const from = pxOf(number);
    const year = toIsoDay(number).slice(0, 4);
    const text = formatLabel(number, last - first, year !== lastYear);
    const until = from + widthOf(text);
    if (from < freeFrom || until + LABEL_GAP_PX > todayFrom) return [];
    freeFrom = until + LABEL_GAP_PX;
    lastYear = year;
    return isFree(from, until) ? [{ from, text }] : [];
  });
  const isTodayShown = isFree(todayFrom, width);
  return html`<div class="scale" aria-hidden="true" ref=${line}>${labels.map(({ from, text }) => html`<span key=${from} style=${{ left: `${(from / width) * 100}%` }}>${text}</span>`)}
    ${isTodayShown && html`<span class="scale-today">${t("tasks_today")}</span>`}
    ${!isNow && html`<b style=${{ left: `${(thumb / width) * 100}%` }}>${chosenDay}</b>`}</div>`;
}

/** The day numbers that labels stand for: the first day where there is room for it, and days or first days of months at a step that leaves room for each.
 * @param {number} first @param {number} last @param {number} width of the line in px */
function findLabelDays(first, last, width) {
  const pxPerDay = width / (last - first);
  const fits = (unitDays) => (step) => step * unitDays * pxPerDay >= LABEL_PX;
  if (last - first <= SHORT_DAYS) {
    const step = DAY_STEPS.find(fits(1)) ?? SHORT_DAYS;
    return Array.from({ length: Math.ceil((last - first) / step) }, (_, index) => first + index * step);
  }
  const step = MONTH_STEPS.find(fits(MONTH_DAYS)) ?? MONTH_STEPS[MONTH_STEPS.length - 1];
  const [year, month] = toIsoDay(first).split("-").map(Number);
  const start = Math.ceil((year * 12 + month) / step) * step; // months since year 0, of the first one at the step after the first day
  const count = Math.ceil((last - first) / MONTH_DAYS / step) + 1;
  const starts = Array.from({ length: count }, (_, index) => start + index * step).map((months) => Date.UTC(Math.floor(months / 12), months % 12, 1) / DAY_MS);
  const inside = starts.filter((number) => number > first && number < last);
  const isFirstNamed = !inside.length || (inside[0] - first) * pxPerDay >= MONTH_END_PX; // else the next month would lose its label to the last days of this one
  return isFirstNamed ? [first, ...inside] : inside;
}

/** The text of a label: a day of a short time, else a month; with its year where that is another than of the label before. */
function formatLabel(number, days, hasYear) {
  const [year, month] = toIsoDay(number).split("-").map(Number);
  if (days > SHORT_DAYS) return formatMonth(year, month, hasYear);
  return formatDayNumber(number);
}

/** A day with its short month. @param {number} number @param {Intl.DateTimeFormatOptions} [more] */
const formatDayNumber = (number, more) => new Intl.DateTimeFormat(findLocale(), { day: "numeric", month: "short", ...more, timeZone: "UTC" }).format(number * DAY_MS);

/** Links to the changes, moods and reflections; those that need several days are hidden on the first. */
export function DayExtras() {
  const { items = [], today } = beliefList.learnedDays.value ?? {};
  const isOneDay = !items.length || items[0].day >= today;
  if (isOneDay && beliefList.moods.value.length < 2) return null;
  return html`<p class="choices memory-more">
    ${!isOneDay && html`<a class="quiet-link" href="/memory/changes" onClick=${followLink}>${t("memory_what_changed")}</a>`}
    ${beliefList.moods.value.length > 1 && html`<a class="quiet-link" href="/memory/moods" onClick=${followLink}>${t("memory_moods")}</a>`}
    ${!isOneDay && html`<a class="quiet-link" href="/memory/thinking" onClick=${followLink}>${t("thinking_title")}</a>`}</p>`;
}

/** Joins days whose bars would lie upon each other: those within so many days count as one, in their middle.
 * @param {any[]} changed @param {number} days that a bar takes @param {number} selected after which day no bar goes across @returns {any[]} */
export function joinDays(changed, days, selected) {
  if (days <= 1) return changed;
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const each of changed) {
    const key = `${Math.floor(each.number / days)} ${each.number > selected}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const add = (sum, each) => Object.fromEntries([...Object.keys(sum), ...Object.keys(each)].map((key) => [key, (sum[key] ?? 0) + (each[key] ?? 0)]));
  return [...groups.values()].map((group) => ({
    number: (group[0].number + group[group.length - 1].number) / 2,
    kinds: group.reduce((sum, { kinds }) => add(sum, kinds ?? {}), {}),
    ...group.reduce((sum, { added, changed: revised, ended }) => add(sum, { added, changed: revised, ended }), {}),
  }));
}

/** A bar for each day, or for several where there is no room, its height by the number of changes (logarithmic), colored by kind where kinds are known. */
function Marks({ changed: days, first, last, selected }) {
  const [figure, width] = useWidth();
  const changed = joinDays(days, Math.ceil((BAR_PX * (last - first)) / width), selected);
  const max = Math.max(1, ...changed.map(countChanges));
  const x = (number) => ((Math.min(number, last) - first) / (last - first)) * 1000;
  /** @type {Record<string, string>} */
  const paths = {};
  for (const each of changed) {
    const height = MARK_HEIGHT * Math.max(0.16, Math.log1p(countChanges(each)) / Math.log1p(max));
    let from = MARK_HEIGHT;
    for (const [color, count] of countByColor(each)) {
      const step = (height * count) / countChanges(each);
      const name = each.number > selected ? "mark-future" : `mark-past ${color && `mark-${color}`}`;
      paths[name] = `${paths[name] ?? ""}M${x(each.number).toFixed(1)} ${from.toFixed(1)}v${(-step).toFixed(1)}`;
      from -= step;
    }
  }
  return html`<svg class="marks" ref=${figure} viewBox=${`0 0 1000 ${MARK_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
    ${Object.entries(paths).map(([name, path]) => html`<path key=${name} class=${name} d=${path} />`)}</svg>`;
}

/** The number of changes of a day by color: [color, count][]; color "" if its kinds are unknown. */
function countByColor(day) {
  const kinds = Object.entries(day.kinds ?? {});
  if (!kinds.length) return [["", countChanges(day)]];
  /** @type {Record<string, number>} */
  const counts = {};
  for (const [kind, count] of kinds) {
    const color = findKind(kind).color ?? "fact";
    counts[color] = (counts[color] ?? 0) + count;
  }
  return Object.entries(counts);
}

const countChanges = ({ added, changed, ended }) => added + changed + ended;
