// The date slider: selects a day as of which beliefs are shown, with a bar for the changes of each day.
// Its scale is not linear: it stops at days with changes, and a longer gap between them takes a few stops.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { findKind } from "../kinds.js";
import { followLink } from "../router.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { formatCalendarDay, formatMonth, formatChangeCounts } from "./labels.js";

const DAY_MS = 86_400_000;
const MARK_HEIGHT = 28;
const MONTH_PX = 46, YEAR_PX = 44; // maximum width of a month's label, and of the year after it
const DAY_LABEL_PX = 80; // half the width of the label below the thumb
const DEFAULT_WIDTH_PX = 600; // width of the line until it has been measured
const MAX_GAP_STOPS = 3; // stops in the gap between two days with changes

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
  const title = selected === last ? t("memory_now") : t(isBySaid ? "memory_said_by" : "memory_as_of", { day: formatCalendarDay(toIsoDay(selected)) });
  const counts = atShown ? formatChangeCounts(atShown) : t(selected === last ? "memory_turned_none_today" : "memory_turned_none");
  return html`<section class=${`slider ${selected === last ? "" : "is-past"}`} aria-label=${t("memory_slider")} data-stays>
    <p class="slider-told"><strong aria-live="polite">${title}</strong> <span class="meta">${counts.split(" · ").map((each, index) => html`${index > 0 && " · "}<span class="whole">${each}</span>`)}</span></p>
    ${first < last && html`<div class="slider-track">
      <button class="step" disabled=${!earlier} aria-label=${t("memory_day_before")} title=${t("memory_day_before")} onClick=${() => moveTo(earlier.number)}>‹</button>
      <div class="slider-line"><${Marks} changed=${changed} stops=${stops} selected=${selected} />
        <input type="range" min="0" max=${stops.length - 1} step="1" value=${stops.indexOf(selected)} aria-label=${t("memory_slider")}
          aria-valuetext=${`${title}. ${counts}`} onInput=${({ target }) => moveTo(stops[Number(target.value)])} />
        <${Scale} stops=${stops} selected=${selected} isNow=${selected === last} /></div>
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

/** Labels below the line: months as far as they fit, and the selected day under the thumb. */
function Scale({ stops, selected, isNow }) {
  const line = useRef(null);
  const [width, setWidth] = useState(DEFAULT_WIDTH_PX);
  useEffect(() => {
    const resizeObserver = new ResizeObserver(([{ contentRect }]) => setWidth(contentRect.width || DEFAULT_WIDTH_PX));
    resizeObserver.observe(line.current);
    return () => resizeObserver.disconnect();
  }, []);
  const fractionOf = (index) => index / Math.max(1, stops.length - 1);
  const thumb = fractionOf(stops.indexOf(selected));
  const isCovered = (at, labelWidth) => !isNow && at < thumb + DAY_LABEL_PX / width && at + labelWidth > thumb - DAY_LABEL_PX / width; // by the label of the selected day
  let freeFrom = 0; // fraction of the line from which on the next label fits
  let lastName = "";
  const months = stops.flatMap((number, index) => {
    const [year, month] = toIsoDay(number).split("-").map(Number);
    const name = toIsoDay(number).slice(0, 7);
    const hasYear = lastName.slice(0, 4) !== name.slice(0, 4);
    const labelWidth = (MONTH_PX + (hasYear ? YEAR_PX : 0)) / width;
    if (name === lastName || fractionOf(index) < freeFrom || fractionOf(index) > 1 - labelWidth) return [];
    freeFrom = fractionOf(index) + labelWidth;
    lastName = name;
    return isCovered(fractionOf(index), labelWidth) ? [] : [{ at: fractionOf(index), name: formatMonth(year, month, hasYear) }];
  });
  return html`<div class="scale" aria-hidden="true" ref=${line}>${months.map(({ at, name }) => html`<span key=${at} style=${{ left: `${at * 100}%` }}>${name}</span>`)}
    ${!isNow && html`<b style=${{ left: `${thumb * 100}%` }}>${formatCalendarDay(toIsoDay(selected))}</b>`}</div>`;
}

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

/** A bar for each day, its height by the number of changes (logarithmic), colored by kind where kinds are known. */
function Marks({ changed, stops, selected }) {
  const max = Math.max(1, ...changed.map(countChanges));
  const indexByDay = new Map(stops.map((number, index) => [number, index]));
  const x = (number) => ((indexByDay.get(number) ?? stops.length - 1) / Math.max(1, stops.length - 1)) * 1000;
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
  return html`<svg class="marks" viewBox=${`0 0 1000 ${MARK_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
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
