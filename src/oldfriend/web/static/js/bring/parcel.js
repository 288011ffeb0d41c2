// One file that was handed over: what is in it, who is who, how far it is, what came of it.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { follow } from "../places.js";
import { shortDayOf, t } from "../words.js";
import { bring, imports, isUnderWay, pauseFile, putAway } from "./asking.js";
import { cost, money } from "./old_talk.js";

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const COUNTED = ["writing", "understanding", "reading"];
const TOLD = {
  checking: "bring_checking", waiting: "bring_waiting", writing: "bring_writing",
  understanding: "bring_understanding", reading: "bring_reading",
};
const CAME = { known: "bring_known", forgotten: "bring_forgotten", changed: "bring_changed" };

export function Parcel({ file, attempt }) {
  return html`<li class="parcel">
    <p class="parcel-name">${file.name}</p>
    ${file.contents && html`<${Contents} contents=${file.contents} />`}
    ${isUnderWay(file) && html`<${UnderWay} file=${file} attempt=${attempt} />`}
    ${file.stage === "ready" && html`<${Choices} file=${file} attempt=${attempt} />`}
    ${file.stage === "paused" && html`<p>${t("bring_paused")} <button onClick=${() => attempt(() => bring(file.id, mine(file), HERE))}>${t("bring_go_on")}</button></p>`}
    ${file.stage === "failed" && html`<p class="bad" role="alert">${file.why}</p>
      ${file.contents && html`<p><button onClick=${() => attempt(() => bring(file.id, mine(file), HERE))}>${t("bring_again")}</button></p>`}`}
    ${file.stage === "done" && html`<${Done} brought=${file.brought} />`}
    ${!isUnderWay(file) && html`<p><button class="quiet" onClick=${() => attempt(() => putAway(file.id))}>${t(file.stage === "done" ? "close" : "bring_put_away")}</button></p>`}
  </li>`;
}

const mine = (file) => file.contents?.me[0] ?? null;

function Contents({ contents }) {
  const first = shortDayOf(contents.first);
  return html`<p>${contents.format}: ${t("bring_ready", {
    messages: contents.messages.toLocaleString(), talks: contents.talks.toLocaleString(), first, last: shortDayOf(contents.last),
  })}</p>
    ${contents.notices.map((each) => html`<p class="meta" key=${each}>${each}</p>`)}`;
}

function Choices({ file, attempt }) {
  const { contents } = file;
  const [me, setMe] = useState(contents.me[0] ?? "");
  const [zone, setZone] = useState(HERE);
  const people = contents.speakers.filter((each) => each.role !== "companion");
  const likely = contents.likely_cost;
  return html`<fieldset class="who-is-me"><legend>${t("bring_which")}</legend>
      ${people.map((each) => html`<label key=${each.name}><input type="radio" name=${file.id} checked=${me === each.name}
        onChange=${() => setMe(each.name)} /> ${each.name} <span class="meta">${each.messages.toLocaleString()}</span></label>`)}
      <label><input type="radio" name=${file.id} checked=${me === ""} onChange=${() => setMe("")} /> ${t("bring_nobody")}</label>
      ${contents.others > 0 && html`<p class="meta">${t("bring_others", { count: contents.others })}</p>`}</fieldset>
    <p><label>${t("bring_zone")} <select value=${zone} onChange=${({ target }) => setZone(target.value)}>
      ${[...new Set([HERE, "UTC", ...Intl.supportedValuesOf("timeZone")])].map((each) => html`<option key=${each}>${each}</option>`)}</select></label></p>
    <p class="meta">${t("bring_free", { time: lasting(contents.takes_s) })}
      ${likely && ` ${t("bring_model_cost", { model: likely.model, tokens: likely.tokens.toLocaleString(), cost: cost(likely) })}`}
      ${likely && likely.left_today_usd !== null && ` ${t("bring_left_today", { left: money(likely.left_today_usd) })}`}</p>
    <p><button class="primary" onClick=${() => attempt(() => bring(file.id, me || null, zone))}>${t("bring_now")}</button></p>`;
}

function UnderWay({ file, attempt }) {
  const values = { done: file.done.toLocaleString(), total: file.total.toLocaleString() };
  const known = COUNTED.includes(file.stage) && file.total > 0;
  return html`<p role="status">${t(TOLD[file.stage], values)}
      ${file.left_s !== null && html` <span class="meta">${t("bring_left", { time: lasting(file.left_s) })}</span>`}</p>
    <progress max=${known ? file.total : null} value=${known ? file.done : null} aria-label=${file.name}></progress>
    ${file.stage === "writing" && html`<p><button class="quiet" onClick=${() => attempt(() => pauseFile(file.id))}>${t("bring_pause")}</button></p>`}`;
}

function Done({ brought }) {
  const isTakenOut = imports.value?.some((each) => each.number === brought.number && each.status === "undone");
  if (isTakenOut) return html`<p class="meta">${t("bring_import_undone")}</p>`;
  const more = Object.keys(CAME).filter((each) => brought[each] > 0);
  return html`<p class="good">${brought.added ? t("bring_done", { added: brought.added.toLocaleString() }) : t("bring_nothing_new")}
      ${more.map((each) => ` ${t(CAME[each], { count: brought[each].toLocaleString() })}`)}</p>
    <p><a href="/memory" onClick=${follow}>${t("bring_see")}</a></p>`;
}

/** So many seconds, to read. @param {number} seconds */
function lasting(seconds) {
  if (seconds < 2) return t("bring_moment");
  if (seconds < 90) return t("bring_seconds", { count: Math.ceil(seconds) });
  return seconds < 5400 ? t("bring_minutes", { count: Math.ceil(seconds / 60) }) : t("bring_hours", { count: Math.ceil(seconds / 3600) });
}
