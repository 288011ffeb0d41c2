// Unprompted messages: what became of each, by which reason, and how to stop its kind.
import { useState } from "../../vendor/hooks.js";
import { showMessage } from "../chat.js";
import { html } from "../html.js";
import { formatShortDay, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

const STATUSES = [["said", "unasked_said"], ["waiting", "unasked_waiting"], ["dropped", "unasked_dropped"]];
const FEW = 10;
const MOST = 200;

/** @param {string} kind */
const nameOf = (kind) => t(`impulse_${kind}`, {}, kind.replaceAll("_", " "));

/** @param {{told: any, save: (changes: any) => Promise<void>}} given what is chosen about speaking first, and how it is changed */
export function UnpromptedMessages({ told, save }) {
  const [status, setStatus] = useState("said");
  return html`<h4 id="unasked">${t("unasked_title")}</h4><p class="hint">${t("unasked_lead")}</p>
    <div class="tabs" role="group" aria-labelledby="unasked">${STATUSES.map(([value, words]) =>
      html`<button key=${value} aria-pressed=${status === value} onClick=${() => setStatus(value)}>${t(words)}</button>`)}</div>
    <${Impulses} key=${status} status=${status} told=${told} save=${save} />`;
}

function Impulses({ status, told, save }) {
  const [limit, setLimit] = useState(FEW);
  const [page, problem, again] = useLoaded(() => settingsApi.impulses(status, MOST));
  const [trouble, isBusy, run] = useAction();
  if (!page) return html`<${Loading} problem=${problem} again=${again} />`;
  if (!page.items.length) return html`<p class="empty">${t(`unasked_none_${status}`)}</p>`;
  const mute = (kind, isMuted) => run(async () => {
    const before = { muted: told.muted };
    await save({ muted: isMuted ? told.muted.filter((each) => each !== kind) : [...told.muted, kind] });
    showDone(t(isMuted ? "unasked_allowed" : "unasked_muted", { what: nameOf(kind) }), () => save(before));
  });
  return html`<ul role="list" class="list deeds-list">${page.items.slice(0, limit).map((each) => html`<${Impulse} key=${each.id} impulse=${each} isMuted=${told.muted.includes(each.kind)} isBusy=${isBusy} mute=${mute} />`)}</ul>
    ${page.items.length > limit && html`<button class="quiet" onClick=${() => setLimit(limit + FEW * 2)}>${t("settings_more")}</button>`}
    <${ErrorMessage} text=${trouble} />`;
}

/** What it was, why that became of it, and the steps before. */
function Impulse({ impulse, isMuted, isBusy, mute }) {
  const { kind, decisions, message } = impulse;
  const last = decisions.at(-1);
  const reason = (each) => t(`decision_${each.reason}`, {}, each.text);
  const earlier = decisions.slice(0, -1).reverse();
  return html`<li><div class="deed"><strong>${nameOf(kind)}</strong>
      <p class="hint">${[last ? formatShortDay(last.at) : formatShortDay(impulse.not_before), last && reason(last), last?.until && t("unasked_until", { when: formatShortDay(last.until) })].filter(Boolean).join(" · ")}</p>
      ${earlier.length > 0 && html`<details><summary>${t("unasked_before", { count: earlier.length })}</summary>
        <ul role="list">${earlier.map((each, at) => html`<li key=${at} class="hint">${formatShortDay(each.at)} · ${reason(each)}</li>`)}</ul></details>`}</div>
    <span class="choices">${message && html`<button class="quiet" onClick=${() => showMessage(message)}>${t("unasked_show")}</button>`}
      <button class="quiet" disabled=${isBusy} aria-label=${`${t(isMuted ? "unasked_allow" : "unasked_mute")}: ${nameOf(kind)}`} onClick=${() => mute(kind, isMuted)}>${t(isMuted ? "unasked_allow" : "unasked_mute")}</button></span></li>`;
}
