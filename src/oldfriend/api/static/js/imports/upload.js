// One uploaded file: its preview, who is who, its progress and its result.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import * as beliefList from "../memory/belief_list.js";
import { followLink } from "../router.js";
import * as store from "../store.js";
import { channelName, translateServerText, formatShortDay, t, listTimeZones } from "../i18n.js";
import { startImport, imports, isInProgress, pauseImport, deleteUpload } from "./api.js";
import { formatCost, formatUsd } from "./learning_progress.js";

const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const NOBODY = "";
const COUNTED_STAGES = ["writing", "understanding", "reading"];
const STAGE_PHRASES = {
  checking: "bring_checking", waiting: "bring_waiting", writing: "bring_writing",
  understanding: "bring_understanding", reading: "bring_reading",
};
const SKIPPED_PHRASES = { known: "bring_known", forgotten: "bring_forgotten", changed: "bring_changed" };

export function Upload({ file, attempt }) {
  return html`<li class="parcel">
    <p class="parcel-name">${file.name}</p>
    ${file.contents && html`<${Contents} contents=${file.contents} />`}
    ${isInProgress(file) && html`<${ImportProgress} file=${file} attempt=${attempt} />`}
    ${file.stage === "ready" && html`<${ImportForm} file=${file} attempt=${attempt} />`}
    ${file.stage === "paused" && html`<p>${t("bring_paused")} <button onClick=${() => attempt(() => startImport(file.id, file.me, file.zone))}>${t("bring_go_on")}</button></p>`}
    ${file.stage === "failed" && html`${file.why && html`<p class="bad" role="alert">${translateServerText(file.why)}</p>`}
      ${file.contents && html`<p><button onClick=${() => attempt(() => startImport(file.id, file.me, file.zone))}>${t("bring_again")}</button></p>`}`}
    ${file.stage === "done" && html`<${ImportResult} result=${file.brought} format=${file.contents?.format} />`}
    ${!isInProgress(file) && file.stage !== "ready" && html`<p><button class="quiet" onClick=${() => attempt(() => deleteUpload(file.id))}>${t(file.stage === "done" ? "close" : "bring_put_away")}</button></p>`}
  </li>`;
}

/** Formats that hold records instead of messages: the page that shows them, by format.
 * @type {Record<string, {place: string, at: string}>} */
const RECORDS = {
  measurement_table: { place: "numbers_title", at: "/days/numbers" },
  apple_health: { place: "numbers_title", at: "/days/numbers" },
  day_one: { place: "diary_title", at: "/days/diary" },
  calendar: { place: "tasks_title", at: "/memory" },
};

/** Formats how many items of a file were added. @param {{format: string, added: number, when: string}} imported */
export function formatImport({ format, added, when }) {
  return t(format in RECORDS ? "bring_import_records" : "bring_import_line", { added, format: channelName(format), when });
}

function Contents({ contents }) {
  const [first, last] = [formatShortDay(contents.first), formatShortDay(contents.last)];
  return html`<p>${channelName(contents.format)}: ${t(contents.format in RECORDS ? "bring_ready_records" : "bring_ready", {
    messages: contents.messages, talks: contents.talks, days: first === last ? first : `${first} – ${last}`,
  })}</p>
    ${contents.notices.map((each) => html`<p class="meta" key=${each.text}>${translateServerText(each)}</p>`)}`;
}

function ImportForm({ file, attempt }) {
  const { contents } = file;
  const people = contents.speakers.filter((each) => each.role !== "companion");
  const [me, setMe] = useState(contents.me[0] ?? guessSpeaker(people, contents.is_clear));
  const [zone, setZone] = useState(file.zone);
  const likely = contents.likely_cost;
  return html`${!(contents.format in RECORDS) && html`<fieldset class="who-is-me"><legend>${t("bring_which")}</legend>
      ${people.map((each) => html`<label key=${each.name}><input type="radio" name=${file.id} checked=${me === each.name}
        onChange=${() => setMe(each.name)} /> ${each.name} <span class="meta">${each.messages.toLocaleString()}</span></label>`)}
      <label><input type="radio" name=${file.id} checked=${me === NOBODY} onChange=${() => setMe(NOBODY)} /> ${t("bring_nobody")}</label>
      ${contents.others > 0 && html`<p class="meta">${t("bring_others", { count: contents.others })}</p>`}</fieldset>`}
    <p><label>${t("bring_zone")} <select value=${zone} onChange=${({ target }) => setZone(target.value)}>
      ${listTimeZones(file.zone, LOCAL_ZONE).map((each) => html`<option key=${each}>${each}</option>`)}</select></label></p>
    <p class="meta">${t("bring_free", { time: formatDuration(contents.takes_s) })}
      ${likely && ` ${t("bring_model_cost", { model: likely.model, tokens: likely.tokens, cost: formatCost(likely) })}`}
      ${likely && likely.left_today_usd !== null && ` ${t("bring_left_today", { left: formatUsd(likely.left_today_usd) })}`}</p>
    <p class="parcel-choices"><button class="primary" disabled=${me === null} onClick=${() => attempt(() => startImport(file.id, me || null, zone))}>${t("bring_now")}</button>
      <button class="quiet" onClick=${() => attempt(() => deleteUpload(file.id))}>${t("bring_put_away")}</button>
      ${me === null && html` <span class="meta">${t("bring_which_first")}</span>`}</p>`;
}

/** Guesses which speaker the person is: as the file says, or the only one with the person's first name; null if the
 * person has to choose.
 * @param {{name: string, role: string}[]} people @param {boolean} isClear the file tells it, or there is nobody to choose from */
function guessSpeaker(people, isClear) {
  const marked = people.filter((each) => each.role === "person");
  if (isClear) return marked.length === 1 ? marked[0].name : NOBODY;
  const firstName = (name) => name.trim().toLowerCase().split(/\s+/)[0];
  const sameName = people.filter((each) => firstName(each.name) === firstName(store.me.value.name));
  return sameName.length === 1 ? sameName[0].name : null;
}

function ImportProgress({ file, attempt }) {
  const values = { done: file.done, total: file.total };
  const isCounted = COUNTED_STAGES.includes(file.stage) && file.total > 0;
  const phrase = file.stage === "understanding" && !isCounted ? "bring_understanding_begins" : STAGE_PHRASES[file.stage];
  return html`<p role="status">${t(phrase, values)}
      ${file.left_s !== null && html` <span class="meta">${t("bring_left", { time: formatDuration(file.left_s) })}</span>`}</p>
    <progress max=${isCounted ? file.total : null} value=${isCounted ? file.done : null} aria-label=${file.name}></progress>
    ${file.stage === "writing" && html`<p><button class="quiet" onClick=${() => attempt(() => pauseImport(file.id))}>${t("bring_pause")}</button></p>`}`;
}

function ImportResult({ result, format }) {
  const isUndone = imports.value?.some((each) => each.number === result.number && each.status === "undone");
  if (isUndone) return html`<p class="meta">${t("bring_import_undone")}</p>`;
  const records = RECORDS[format];
  const skipped = Object.keys(SKIPPED_PHRASES).filter((each) => result[each] > 0);
  return html`<p class="good">${result.added ? t(records ? "bring_done_records" : "bring_done", { added: result.added }) : t("bring_nothing_new")}
      ${skipped.map((each) => ` ${t(SKIPPED_PHRASES[each], { count: result[each] })}`)}</p>
    <p>${records ? html`<a href=${records.at} onClick=${followLink}>${t("bring_see_at", { place: t(records.place) })}</a>` : html`<a href="/memory" onClick=${openNewest}>${t("bring_see")}</a>`}</p>`;
}

/** Opens the Memory page with the newest beliefs first and without filters. @param {MouseEvent} event */
function openNewest(event) {
  beliefList.showLearned();
  followLink(event);
}

/** Formats a duration. @param {number} seconds */
function formatDuration(seconds) {
  if (seconds < 2) return t("bring_moment");
  if (seconds < 90) return t("bring_seconds", { count: Math.ceil(seconds) });
  return seconds < 5400 ? t("bring_minutes", { count: Math.ceil(seconds / 60) }) : t("bring_hours", { count: Math.ceil(seconds / 3600) });
}
