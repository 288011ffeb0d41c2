// What I thought of saying unasked: what became of it, by which reason, and how it is not done again.
import { useState } from "../../vendor/hooks.js";
import { showWords } from "../chat.js";
import { html } from "../html.js";
import { shortDayOf, t } from "../words.js";
import { house } from "./house.js";
import { tell, Trouble, useAnswer, useDeed, Waiting } from "./parts.js";

const STATUSES = [["said", "unasked_said"], ["waiting", "unasked_waiting"], ["dropped", "unasked_dropped"]];
const FEW = 10;
const MOST = 200;

/** @param {string} kind */
const nameOf = (kind) => t(`impulse_${kind}`, {}, kind.replaceAll("_", " "));

/** @param {{told: any, save: (changes: any) => Promise<void>}} given what is chosen about speaking first, and how it is changed */
export function Unasked({ told, save }) {
  const [status, setStatus] = useState("said");
  return html`<h4 id="unasked">${t("unasked_title")}</h4><p class="hint">${t("unasked_lead")}</p>
    <div class="tabs" role="group" aria-labelledby="unasked">${STATUSES.map(([value, words]) =>
      html`<button key=${value} aria-pressed=${status === value} onClick=${() => setStatus(value)}>${t(words)}</button>`)}</div>
    <${Impulses} key=${status} status=${status} told=${told} save=${save} />`;
}

function Impulses({ status, told, save }) {
  const [limit, setLimit] = useState(FEW);
  const [page, problem, again] = useAnswer(() => house.impulses(status, MOST));
  const [trouble, isBusy, run] = useDeed();
  if (!page) return html`<${Waiting} problem=${problem} again=${again} />`;
  if (!page.items.length) return html`<p class="empty">${t(`unasked_none_${status}`)}</p>`;
  const mute = (kind, isMuted) => run(async () => {
    const before = { muted: told.muted };
    await save({ muted: isMuted ? told.muted.filter((each) => each !== kind) : [...told.muted, kind] });
    tell(t(isMuted ? "unasked_allowed" : "unasked_muted", { what: nameOf(kind) }), () => save(before));
  });
  return html`<ul role="list" class="list deeds-list">${page.items.slice(0, limit).map((each) => html`<${Impulse} key=${each.id} impulse=${each} isMuted=${told.muted.includes(each.kind)} isBusy=${isBusy} mute=${mute} />`)}</ul>
    ${page.items.length > limit && html`<button class="quiet" onClick=${() => setLimit(limit + FEW * 2)}>${t("settings_more")}</button>`}
    <${Trouble} text=${trouble} />`;
}

/** What it was, why that became of it, and the steps before. */
function Impulse({ impulse, isMuted, isBusy, mute }) {
  const { kind, decisions, message } = impulse;
  const last = decisions.at(-1);
  const reason = (each) => t(`decision_${each.reason}`, {}, each.text);
  const earlier = decisions.slice(0, -1).reverse();
  return html`<li><div class="deed"><strong>${nameOf(kind)}</strong>
      <p class="hint">${[last ? shortDayOf(last.at) : shortDayOf(impulse.not_before), last && reason(last), last?.until && t("unasked_until", { when: shortDayOf(last.until) })].filter(Boolean).join(" · ")}</p>
      ${earlier.length > 0 && html`<details><summary>${t("unasked_before", { count: earlier.length })}</summary>
        <ul role="list">${earlier.map((each, at) => html`<li key=${at} class="hint">${shortDayOf(each.at)} · ${reason(each)}</li>`)}</ul></details>`}</div>
    <span class="choices">${message && html`<button class="quiet" onClick=${() => showWords(message)}>${t("unasked_show")}</button>`}
      <button class="quiet" disabled=${isBusy} aria-label=${`${t(isMuted ? "unasked_allow" : "unasked_mute")}: ${nameOf(kind)}`} onClick=${() => mute(kind, isMuted)}>${t(isMuted ? "unasked_allow" : "unasked_mute")}</button></span></li>`;
}
