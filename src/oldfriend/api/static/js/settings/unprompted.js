// Unprompted messages: whether each was sent and why, and a button to mute its kind.
import { useState } from "../../vendor/hooks.js";
import { showMessage } from "../chat.js";
import { html } from "../html.js";
import { formatShortDay, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

const STATUSES = [["said", "unasked_said"], ["waiting", "unasked_waiting"], ["dropped", "unasked_dropped"]];
const PAGE_SIZE = 10;
const MAX_LOADED = 200;

/** @param {string} kind */
const formatKind = (kind) => t(`impulse_${kind}`, {}, kind.replaceAll("_", " "));

/** @param {{preferences: any, save: (changes: any) => Promise<void>}} props the preferences of speaking first, and the function that changes them */
export function UnpromptedMessages({ preferences, save }) {
  const [status, setStatus] = useState("said");
  return html`<h4 id="unasked">${t("unasked_title")}</h4><p class="hint">${t("unasked_lead")}</p>
    <div class="tabs" role="group" aria-labelledby="unasked">${STATUSES.map(([value, phrase]) =>
      html`<button key=${value} aria-pressed=${status === value} onClick=${() => setStatus(value)}>${t(phrase)}</button>`)}</div>
    <${Impulses} key=${status} status=${status} preferences=${preferences} save=${save} />`;
}

function Impulses({ status, preferences, save }) {
  const [limit, setLimit] = useState(PAGE_SIZE);
  const [page, loadError, reload] = useLoaded(() => settingsApi.impulses(status, MAX_LOADED));
  const [actionError, isBusy, run] = useAction();
  if (!page) return html`<${Loading} error=${loadError} reload=${reload} />`;
  if (!page.items.length) return html`<p class="empty">${t(`unasked_none_${status}`)}</p>`;
  const mute = (kind, isMuted) => run(async () => {
    const previous = { muted: preferences.muted };
    await save({ muted: isMuted ? preferences.muted.filter((each) => each !== kind) : [...preferences.muted, kind] });
    showDone(t(isMuted ? "unasked_allowed" : "unasked_muted", { what: formatKind(kind) }), () => save(previous));
  });
  return html`<ul role="list" class="list deeds-list">${page.items.slice(0, limit).map((each) => html`<${Impulse} key=${each.id} impulse=${each} isMuted=${preferences.muted.includes(each.kind)} isBusy=${isBusy} mute=${mute} />`)}</ul>
    ${page.items.length > limit && html`<button class="quiet" onClick=${() => setLimit(limit + PAGE_SIZE * 2)}>${t("settings_more")}</button>`}
    <${ErrorMessage} text=${actionError} />`;
}

/** One unprompted message: its kind, the last decision about it, and those before. */
function Impulse({ impulse, isMuted, isBusy, mute }) {
  const { kind, decisions, message } = impulse;
  const last = decisions.at(-1);
  const formatDecision = (each) => t(`decision_${each.reason}`, {}, each.text);
  const earlier = decisions.slice(0, -1).reverse();
  return html`<li><div class="deed"><strong>${formatKind(kind)}</strong>
      <p class="hint">${[last ? formatShortDay(last.at) : formatShortDay(impulse.not_before), last && formatDecision(last), last?.until && t("unasked_until", { when: formatShortDay(last.until) })].filter(Boolean).join(" · ")}</p>
      ${earlier.length > 0 && html`<details><summary>${t("unasked_before", { count: earlier.length })}</summary>
        <ul role="list">${earlier.map((each, index) => html`<li key=${index} class="hint">${formatShortDay(each.at)} · ${formatDecision(each)}</li>`)}</ul></details>`}</div>
    <span class="choices">${message && html`<button class="quiet" onClick=${() => showMessage(message)}>${t("unasked_show")}</button>`}
      <button class="quiet" disabled=${isBusy} aria-label=${`${t(isMuted ? "unasked_allow" : "unasked_mute")}: ${formatKind(kind)}`} onClick=${() => mute(kind, isMuted)}>${t(isMuted ? "unasked_allow" : "unasked_mute")}</button></span></li>`;
}
