// The numbers that a person keeps: a chart of one, its summary, and a table.
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

const SPANS = [["30", "numbers_month"], ["90", "numbers_quarter"], ["365", "numbers_year"], ["", "numbers_all"]];
const DAY_MS = 86_400_000;
const MOST_ROWS = 400;
const SAMPLE_LINE = "4,20 44,14 84,28 124,24 164,38 204,32 244,46 284,42 316,52";
const STEADY = 0.002; // of the mean, in a week

/** What a number is called. @param {string} name */
export const formatName = (name) => t(`measure_${name}`, {}, name.replaceAll("_", " "));

/** A number as it is written here. @param {number} value @param {number} [digits] */
const written = (value, digits = 2) => value.toLocaleString(language.value, { maximumFractionDigits: Math.abs(value) >= 1000 ? 0 : digits });

/** With its unit, and as a pair where it is one. @param {number} value @param {string} unit @param {number | null} [second] */
function told(value, unit, second = null) {
  const number = second === null ? written(value) : `${written(value)}/${written(second)}`;
  return unit.startsWith("/") ? `${number}${unit}` : [number, unit].filter(Boolean).join(" "); // 7/10
}

/** The first day of a span that ends today. @param {string} days */
const since = (days) => days && new Date(Date.parse(`${today()}T12:00Z`) - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);

export function Numbers({ name }) {
  const [measures, setMeasures] = useState(null);
  const [trouble, setTrouble] = useState("");
  const read = () => daysApi.measures().then((page) => (setMeasures(page.items), setTrouble("")), (problem) => setTrouble(problem.message || t("lost")));
  useEffect(() => void read(), [store.rewritten.value]);
  const shown = name || measures?.[0]?.name;
  return html`<${Tabs} at="/days/numbers" /><header class="view-head"><h2>${t("numbers_title")}</h2><p class="lead">${t("numbers_lead")}</p></header>
    ${trouble && html`<p class="bad" role="alert">${trouble} <button class="quiet" onClick=${read}>${t("settings_again")}</button></p>`}
    ${measures && !measures.length && html`<p class="empty">${t("numbers_none")} <a href="/bring" onClick=${followLink}>${t("place_bring")}</a></p><${Sample} />`}
    ${measures?.length > 0 && html`<nav class="chips" aria-label=${t("numbers_title")}>${measures.map((each) => html`<a key=${each.name} class="chip" href=${`/days/numbers/${encodeURIComponent(each.name)}`}
      aria-current=${each.name === shown ? "page" : null} onClick=${followLink}>${formatName(each.name)}</a>`)}</nav>`}
    ${shown && measures && html`<${Series} key=${shown} name=${shown} last=${measures.find((each) => each.name === shown)?.last} onChanged=${read} />`}<${DoneMessage} />`;
}

/** How it will be, for whoever has no number yet. */
function Sample() {
  return html`<div class="number-sample" aria-hidden="true"><p class="meta">${formatName("weight")}</p><div class="standing"><p><strong>${told(71.4, "kg")}</strong></p></div>
    <svg viewBox="0 0 320 64" preserveAspectRatio="none"><polyline points=${SAMPLE_LINE} /></svg></div>`;
}

/** @param {{name: string, last?: string, onChanged: () => unknown}} given the newest day of it, where there is one */
function Series({ name, last, onChanged }) {
  const [span, setSpan] = useState("90");
  const [series, setSeries] = useState(null);
  const [trouble, , run] = useAction();
  const read = () => run(async () => setSeries(await daysApi.series(name, since(span))));
  useEffect(() => void read(), [span, store.rewritten.value]);
  const changed = async () => (await read(), onChanged());
  const remove = (value) => run(async () => {
    await daysApi.unmeasure(value.id);
    await changed();
    const { value: number, unit, second_value, second_unit, day } = value;
    showDone(t("numbers_removed", { value: told(number, unit, second_value), when: formatDate(atNoon(day)) }), async () => {
      await daysApi.measure([{ name, value: number, unit, second_value, second_unit, day }]);
      await changed();
    });
  });
  const days = useMemo(() => series?.days ?? [], [series]);
  return html`<section class="series" aria-labelledby="series-title"><header class="series-head"><h3 id="series-title">${formatName(name)}</h3>
      <div class="tabs" role="group" aria-label=${t("numbers_span")}>${SPANS.map(([value, words]) => html`<button key=${value} aria-pressed=${span === value} onClick=${() => setSpan(value)}>${t(words)}</button>`)}</div></header>
    <${ErrorMessage} text=${trouble} />
    ${series && !days.length && html`<${NothingThen} name=${name} last=${last} showAll=${() => setSpan("")} />`}
    ${days.length > 0 && html`<${Standing} series=${series} />`}
    ${days.length > 1 && html`<${LineChart} days=${days} label=${chartTold(name, series)} tell=${(value) => written(value)}
      tellDay=${({ day, value, second_value: second }) => `${formatDate(atNoon(day))} · ${told(value, series.unit, second)}`} />`}
    ${days.length === 1 && html`<p class="meta">${t("numbers_few")}</p>`}
    ${series && html`<${Add} name=${name} unit=${series.unit} isPair=${days.some(({ second_value: second }) => second !== null)} onAdded=${changed} run=${run} />`}
    ${series?.items.length > 0 && html`<${Table} series=${series} remove=${remove} />`}</section>`;
}

/** Nothing of late: the last there is, and the way to all of it. @param {{name: string, last?: string, showAll: () => void}} given */
function NothingThen({ name, last, showAll }) {
  const [series, setSeries] = useState(null);
  useEffect(() => {
    setSeries(null);
    if (last) daysApi.series(name, last).then(setSeries, () => null); // the way to all of it stays
  }, [name, last]);
  return html`${series?.days.length > 0 && html`<${Standing} series=${series} />`}
    <p class="empty">${t("numbers_none_then")}${last && html` <button class="quiet" onClick=${showAll}>${t("numbers_show_all")}</button>`}</p>`;
}

/** What the days come to: the last one large, then the mean, the extremes and where it is going. @param {{series: any}} given */
function Standing({ series }) {
  const { days, items, unit, mean, weekly_slope: slope } = series;
  const last = days.at(-1);
  const [only, another] = items.filter(({ day }) => day === last.day);
  const hasTime = only && !another && only.second_value !== null && only.second_unit !== only.unit; // a run, and how long it took
  const least = days.reduce((best, each) => (each.value < best.value ? each : best));
  const most = days.reduce((best, each) => (each.value > best.value ? each : best));
  const isSteady = slope === null || Math.abs(slope) < Math.abs(mean) * STEADY;
  const trend = slope === null ? "" : isSteady ? t("numbers_steady") : t(slope > 0 ? "numbers_rising" : "numbers_falling", { value: told(Math.abs(slope), unit.startsWith("/") ? "" : unit) });
  const facts = days.length > 1 ? [[t("numbers_mean"), told(mean, unit)], [t("numbers_least"), `${told(least.value, unit)} · ${formatDate(atNoon(least.day))}`], [t("numbers_most"), `${told(most.value, unit)} · ${formatDate(atNoon(most.day))}`]] : [];
  return html`<div class="standing"><p><strong>${hasTime ? toldOne(only) : told(last.value, unit, last.second_value)}</strong> <span class="meta">${formatDate(atNoon(last.day))}</span></p>
    ${trend && html`<p class="trend">${trend}</p>`}
    ${facts.length > 0 && html`<dl>${facts.map(([words, value]) => html`<div key=${words}><dt>${words}</dt><dd>${value}</dd></div>`)}</dl>`}</div>`;
}

/** @param {string} name @param {any} series */
function chartTold(name, { days, unit }) {
  const values = days.map(({ value }) => value);
  return t("numbers_chart", { name: formatName(name), count: days.length, from: formatDate(atNoon(days[0].day)), to: formatDate(atNoon(days.at(-1).day)), least: told(Math.min(...values), unit), most: told(Math.max(...values), unit) });
}

/** @param {{name: string, unit: string, isPair: boolean, onAdded: () => Promise<void>, run: (deed: () => Promise<unknown>) => Promise<unknown>}} given */
function Add({ name, unit, isPair, onAdded, run }) {
  const [value, setValue] = useState("");
  const [second, setSecond] = useState("");
  const [day, setDay] = useState("");
  const isFit = value !== "" && Number.isFinite(Number(value)) && (!isPair || (second !== "" && Number.isFinite(Number(second))));
  const add = (event) => {
    event.preventDefault();
    if (!isFit) return;
    run(async () => {
      await daysApi.measure([{ name, value: Number(value), unit, ...(isPair && { second_value: Number(second), second_unit: unit }), ...(day && { day }) }]);
      setValue("");
      setSecond("");
      await onAdded();
    });
  };
  const number = (label, given, set) => html`<input type="number" step="any" inputmode="decimal" value=${given} aria-label=${label} placeholder=${label} onInput=${({ target }) => set(target.value)} />`;
  const label = unit ? t("numbers_value_in", { unit }) : t("numbers_value");
  return html`<form class="number-add" onSubmit=${add}>${number(label, value, setValue)}${isPair && number(t("numbers_second"), second, setSecond)}
    <input type="date" aria-label=${t("memory_day")} max=${today()} value=${day || today()} onChange=${({ target }) => setDay(target.value)} />
    <button disabled=${!isFit}>${t("tasks_add")}</button></form>`;
}

/** The same as rows, the newest first, each to be removed. @param {{series: any, remove: (value: any) => unknown}} given */
function Table({ series, remove }) {
  const rows = [...series.items].reverse().slice(0, MOST_ROWS);
  return html`<details class="number-table"><summary>${t("memory_as_table")}</summary>
    <table><caption class="visually-hidden">${formatName(series.name)}</caption><thead><tr><th scope="col">${t("memory_day")}</th><th scope="col">${t("numbers_value")}</th><th scope="col"><span class="visually-hidden">${t("diary_remove")}</span></th></tr></thead>
      <tbody>${rows.map((each) => html`<tr key=${each.id}><th scope="row">${formatDate(atNoon(each.day))}</th><td>${toldOne(each)}</td>
        <td><button class="quiet" aria-label=${`${t("diary_remove")}: ${toldOne(each)}, ${formatDate(atNoon(each.day))}`} onClick=${() => remove(each)}>${t("diary_remove")}</button></td></tr>`)}</tbody></table></details>`;
}

/** One value as it was told: a pair as 120/80, a run with how long it took. @param {any} each */
function toldOne({ value, unit, second_value: second, second_unit: secondUnit }) {
  if (second === null) return told(value, unit);
  return secondUnit && secondUnit !== unit ? `${told(value, unit)} ${t("numbers_took", { time: told(second, secondUnit) })}` : told(value, unit, second);
}
