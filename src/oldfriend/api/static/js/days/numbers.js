// The measurements that a person records: chart, summary and table of one series.
import { useEffect, useMemo, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { followLink } from "../router.js";
import { DoneMessage, showDone, ErrorMessage, useAction } from "../settings/form_parts.js";
import * as store from "../store.js";
import { formatDate } from "../memory/labels.js";
import { language, t } from "../i18n.js";
import { daysApi } from "./api.js";
import { LineChart } from "./line_chart.js";
import { atNoon, today, Tabs } from "./tabs.js";

const PERIODS = [["30", "numbers_month"], ["90", "numbers_quarter"], ["365", "numbers_year"], ["", "numbers_all"]];
const DAY_MS = 86_400_000;
const MAX_ROWS = 400;
const SAMPLE_LINE = "4,20 44,14 84,28 124,24 164,38 204,32 244,46 284,42 316,52";
const STEADY_SHARE = 0.002; // change per week, as a share of the mean, that still counts as steady

/** The display name of a measurement. @param {string} name */
export const formatName = (name) => t(`measure_${name}`, {}, name.replaceAll("_", " "));

/** A number in the format of the page's language. @param {number} value @param {number} [digits] */
const formatNumber = (value, digits = 2) => value.toLocaleString(language.value, { maximumFractionDigits: Math.abs(value) >= 1000 ? 0 : digits });

/** A value with its unit, as a pair if there is a second. @param {number} value @param {string} unit @param {number | null} [second] */
function formatMeasurement(value, unit, second = null) {
  const number = second === null ? formatNumber(value) : `${formatNumber(value)}/${formatNumber(second)}`;
  return unit.startsWith("/") ? `${number}${unit}` : [number, unit].filter(Boolean).join(" "); // "7/10" has no space
}

/** The ISO date at which a period of some days that ends today begins; "" for "". @param {string} days */
const findStart = (days) => days && new Date(Date.parse(`${today()}T12:00Z`) - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);

export function Numbers({ name }) {
  const [measures, setMeasures] = useState(null);
  const [error, setError] = useState("");
  const load = () => daysApi.measurements().then((page) => (setMeasures(page.items), setError("")), (failure) => setError(failure.message || t("lost")));
  useEffect(() => void load(), [store.rewriteCount.value]);
  const selected = name || measures?.[0]?.name;
  return html`<${Tabs} current="/days/numbers" /><header class="view-head"><h2>${t("numbers_title")}</h2><p class="lead">${t("numbers_lead")}</p></header>
    ${error && html`<p class="bad" role="alert">${error} <button class="quiet" onClick=${load}>${t("settings_again")}</button></p>`}
    ${measures && !measures.length && html`<p class="empty">${t("numbers_none")} <a href="/bring" onClick=${followLink}>${t("place_bring")}</a></p><${Sample} />`}
    ${measures?.length > 0 && html`<nav class="chips" aria-label=${t("numbers_title")}>${measures.map((each) => html`<a key=${each.name} class="chip" href=${`/days/numbers/${encodeURIComponent(each.name)}`}
      aria-current=${each.name === selected ? "page" : null} onClick=${followLink}>${formatName(each.name)}</a>`)}</nav>`}
    ${selected && measures && html`<${Series} key=${selected} name=${selected} last=${measures.find((each) => each.name === selected)?.last} onChanged=${load} />`}<${DoneMessage} />`;
}

/** An example, shown while there are no measurements. */
function Sample() {
  return html`<div class="number-sample" aria-hidden="true"><p class="meta">${formatName("weight")}</p><div class="standing"><p><strong>${formatMeasurement(71.4, "kg")}</strong></p></div>
    <svg viewBox="0 0 320 64" preserveAspectRatio="none"><polyline points=${SAMPLE_LINE} /></svg></div>`;
}

/** @param {{name: string, last?: string, onChanged: () => unknown}} props `last` is its newest day, if any */
function Series({ name, last, onChanged }) {
  const [period, setPeriod] = useState("90");
  const [series, setSeries] = useState(null);
  const [actionError, , run] = useAction();
  const load = () => run(async () => setSeries(await daysApi.series(name, findStart(period))));
  useEffect(() => void load(), [period, store.rewriteCount.value]);
  const reload = async () => (await load(), onChanged());
  const remove = (value) => run(async () => {
    await daysApi.deleteMeasurement(value.id);
    await reload();
    const { value: number, unit, second_value, second_unit, day } = value;
    showDone(t("numbers_removed", { value: formatMeasurement(number, unit, second_value), when: formatDate(atNoon(day)) }), async () => {
      await daysApi.addMeasurements([{ name, value: number, unit, second_value, second_unit, day }]);
      await reload();
    });
  });
  const days = useMemo(() => series?.days ?? [], [series]);
  return html`<section class="series" aria-labelledby="series-title"><header class="series-head"><h3 id="series-title">${formatName(name)}</h3>
      <div class="tabs" role="group" aria-label=${t("numbers_span")}>${PERIODS.map(([value, phrase]) => html`<button key=${value} aria-pressed=${period === value} onClick=${() => setPeriod(value)}>${t(phrase)}</button>`)}</div></header>
    <${ErrorMessage} text=${actionError} />
    ${series && !days.length && html`<${NoRecentValues} name=${name} last=${last} showAll=${() => setPeriod("")} />`}
    ${days.length > 0 && html`<${Summary} series=${series} />`}
    ${days.length > 1 && html`<${LineChart} days=${days} label=${describeChart(name, series)} formatValue=${(value) => formatNumber(value)}
      formatDayValue=${({ day, value, second_value: second }) => `${formatDate(atNoon(day))} · ${formatMeasurement(value, series.unit, second)}`} />`}
    ${days.length === 1 && html`<p class="meta">${t("numbers_few")}</p>`}
    ${series && html`<${AddForm} name=${name} unit=${series.unit} isPair=${days.some(({ second_value: second }) => second !== null)} onAdded=${reload} run=${run} />`}
    ${series?.items.length > 0 && html`<${ValueTable} series=${series} remove=${remove} />`}</section>`;
}

/** Shown when the chosen period has no values: the last one, and a button to show all. @param {{name: string, last?: string, showAll: () => void}} props */
function NoRecentValues({ name, last, showAll }) {
  const [series, setSeries] = useState(null);
  useEffect(() => {
    setSeries(null);
    if (last) daysApi.series(name, last).then(setSeries, () => null); // the button to show all stays
  }, [name, last]);
  return html`${series?.days.length > 0 && html`<${Summary} series=${series} />`}
    <p class="empty">${t("numbers_none_then")}${last && html` <button class="quiet" onClick=${showAll}>${t("numbers_show_all")}</button>`}</p>`;
}

/** The last value in large type, the trend, mean, minimum and maximum. @param {{series: any}} props */
function Summary({ series }) {
  const { days, items, unit, mean, weekly_slope: slope } = series;
  const last = days.at(-1);
  const [firstOfDay, secondOfDay] = items.filter(({ day }) => day === last.day);
  const hasTime = firstOfDay && !secondOfDay && firstOfDay.second_value !== null && firstOfDay.second_unit !== firstOfDay.unit; // a distance with its duration
  const min = days.reduce((best, each) => (each.value < best.value ? each : best));
  const max = days.reduce((best, each) => (each.value > best.value ? each : best));
  const isSteady = slope === null || Math.abs(slope) < Math.abs(mean) * STEADY_SHARE;
  const trend = slope === null ? "" : isSteady ? t("numbers_steady") : t(slope > 0 ? "numbers_rising" : "numbers_falling", { value: formatMeasurement(Math.abs(slope), unit.startsWith("/") ? "" : unit) });
  const facts = days.length > 1 ? [[t("numbers_mean"), formatMeasurement(mean, unit)], [t("numbers_least"), `${formatMeasurement(min.value, unit)} · ${formatDate(atNoon(min.day))}`], [t("numbers_most"), `${formatMeasurement(max.value, unit)} · ${formatDate(atNoon(max.day))}`]] : [];
  return html`<div class="standing"><p><strong>${hasTime ? formatValue(firstOfDay) : formatMeasurement(last.value, unit, last.second_value)}</strong> <span class="meta">${formatDate(atNoon(last.day))}</span></p>
    ${trend && html`<p class="trend">${trend}</p>`}
    ${facts.length > 0 && html`<dl>${facts.map(([label, value]) => html`<div key=${label}><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`}</div>`;
}

/** The text alternative of the chart. @param {string} name @param {any} series */
function describeChart(name, { days, unit }) {
  const values = days.map(({ value }) => value);
  return t("numbers_chart", { name: formatName(name), count: days.length, from: formatDate(atNoon(days[0].day)), to: formatDate(atNoon(days.at(-1).day)), least: formatMeasurement(Math.min(...values), unit), most: formatMeasurement(Math.max(...values), unit) });
}

/** @param {{name: string, unit: string, isPair: boolean, onAdded: () => Promise<void>, run: (action: () => Promise<unknown>) => Promise<unknown>}} props */
function AddForm({ name, unit, isPair, onAdded, run }) {
  const [value, setValue] = useState("");
  const [second, setSecond] = useState("");
  const [day, setDay] = useState("");
  const isValid = value !== "" && Number.isFinite(Number(value)) && (!isPair || (second !== "" && Number.isFinite(Number(second))));
  const add = (event) => {
    event.preventDefault();
    if (!isValid) return;
    run(async () => {
      await daysApi.addMeasurements([{ name, value: Number(value), unit, ...(isPair && { second_value: Number(second), second_unit: unit }), ...(day && { day }) }]);
      setValue("");
      setSecond("");
      await onAdded();
    });
  };
  const number = (label, content, set) => html`<input type="number" step="any" inputmode="decimal" value=${content} aria-label=${label} placeholder=${label} onInput=${({ target }) => set(target.value)} />`;
  const label = unit ? t("numbers_value_in", { unit }) : t("numbers_value");
  return html`<form class="number-add" onSubmit=${add}>${number(label, value, setValue)}${isPair && number(t("numbers_second"), second, setSecond)}
    <input type="date" aria-label=${t("memory_day")} max=${today()} value=${day || today()} onChange=${({ target }) => setDay(target.value)} />
    <button disabled=${!isValid}>${t("tasks_add")}</button></form>`;
}

/** The values as a table, newest first, each with a button to remove it. @param {{series: any, remove: (value: any) => unknown}} props */
function ValueTable({ series, remove }) {
  const rows = [...series.items].reverse().slice(0, MAX_ROWS);
  return html`<details class="number-table"><summary>${t("memory_as_table")}</summary>
    <table><caption class="visually-hidden">${formatName(series.name)}</caption><thead><tr><th scope="col">${t("memory_day")}</th><th scope="col">${t("numbers_value")}</th><th scope="col"><span class="visually-hidden">${t("diary_remove")}</span></th></tr></thead>
      <tbody>${rows.map((each) => html`<tr key=${each.id}><th scope="row">${formatDate(atNoon(each.day))}</th><td>${formatValue(each)}</td>
        <td><button class="quiet" aria-label=${`${t("diary_remove")}: ${formatValue(each)}, ${formatDate(atNoon(each.day))}`} onClick=${() => remove(each)}>${t("diary_remove")}</button></td></tr>`)}</tbody></table></details>`;
}

/** One recorded value: a pair as 120/80, a distance with its duration. @param {any} each */
function formatValue({ value, unit, second_value: second, second_unit: secondUnit }) {
  if (second === null) return formatMeasurement(value, unit);
  return secondUnit && secondUnit !== unit ? `${formatMeasurement(value, unit)} ${t("numbers_took", { time: formatMeasurement(second, secondUnit) })}` : formatMeasurement(value, unit, second);
}
