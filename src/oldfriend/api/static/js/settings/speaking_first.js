// Speaking first: how readily, quiet hours, overviews, and what was said unprompted.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { NotificationsIfPossible } from "./notifications.js";
import { Section, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";
import { UnpromptedMessages } from "./unprompted.js";

const LEVELS = [["off", "settings_first_off"], ["shy", "settings_first_shy"], ["normal", "settings_first_normal"], ["lively", "settings_first_lively"]];
const DIGESTS = [["off", "settings_digest_off"], ["daily", "settings_digest_daily"], ["weekly", "settings_digest_weekly"]];
const PACES = [30, 60, 120, 240, 1440]; // minutes
const RECAPS = [["off", "settings_recap_off"], ["weekly", "settings_recap_weekly"]];

export function SpeakingFirstSection() {
  const [told, problem, again, setTold] = useLoaded(settingsApi.first);
  return html`<${Section} id="first" title=${t("settings_first")} lead=${t("settings_first_lead")}><${NotificationsIfPossible} />
    ${told ? html`<${Choices} told=${told} setTold=${setTold} />` : html`<${Loading} problem=${problem} again=${again} />`}</${Section}>`;
}

/** Each choice is saved as it is made, and can be undone. @param {{told: any, setTold: (told: any) => void}} given */
function Choices({ told, setTold }) {
  const [trouble, isBusy, run] = useAction();
  const save = async (changes) => setTold(await settingsApi.chooseFirst(changes));
  const choose = (name, what) => ({ target }) => {
    const before = { [name]: told[name] };
    if (target.value && target.value !== told[name]) run(async () => (await save({ [name]: target.value }), showDone(t("settings_saved", { what }), () => save(before))));
  };
  const select = (name, words, options) => html`<div class="choice is-choice"><label for=${`first-${name}`}>${t(words)}</label><span class="given">
    <select id=${`first-${name}`} value=${told[name]} disabled=${isBusy} onChange=${choose(name, t(words))}>
      ${options.map(([value, text]) => html`<option key=${value} value=${value}>${t(text)}</option>`)}</select></span></div>`;
  const hour = (name, words) => html`<div class="choice is-choice"><label for=${`first-${name}`}>${t(words)}</label><span class="given">
    <input id=${`first-${name}`} type="time" value=${told[name]} disabled=${isBusy} onChange=${choose(name, t(words))} /></span></div>`;
  const before = { muted: told.muted };
  const allowAll = () => run(async () => (await save({ muted: [] }), showDone(t("settings_saved", { what: t("settings_first") }), () => save(before))));
  return html`${select("level", "settings_first_level", LEVELS)}
    ${hour("quiet_begins", "settings_quiet_begins")}${hour("quiet_ends", "settings_quiet_ends")}
    ${select("digest", "settings_digest", DIGESTS)}
    ${select("recap", "settings_recap", RECAPS)}
    ${told.muted.length > 0 && html`<p class="hint">${t("settings_first_muted", { count: told.muted.length })} <button class="quiet" disabled=${isBusy} onClick=${allowAll}>${t("settings_first_allow")}</button></p>`}
    <${ErrorMessage} text=${trouble} /><${Checklist} /><${UnpromptedMessages} told=${told} save=${save} />`;
}

/** How often, in words. @param {number} minutes */
const paceOf = (minutes) => (minutes % 60 ? t("settings_every_minutes", { count: minutes }) : t("settings_every_hours", { count: minutes / 60 }));

/** What it looks at by itself: one thing on each line, saved as one leaves the field. */
function Checklist() {
  const [told, problem, again, setTold] = useLoaded(settingsApi.checklist);
  const [trouble, isBusy, run] = useAction();
  const [typed, setTyped] = useState(null);
  if (!told) return html`<${Loading} problem=${problem} again=${again} />`;
  const kept = told.lines.join("\n");
  const text = typed ?? kept;
  const keep = async (words, minutes) => setTold(await settingsApi.writeChecklist({ lines: words.split("\n"), minutes }));
  const change = (words, minutes) => run(async () => {
    await keep(words, minutes);
    setTyped(null);
    showDone(t("settings_saved", { what: t("settings_checklist") }), () => keep(kept, told.minutes));
  });
  const paces = [...new Set([...PACES, told.minutes])].sort((one, other) => one - other);
  return html`<div class="block"><label for="checklist">${t("settings_checklist")}</label><p class="hint" id="checklist-hint">${t("settings_checklist_hint")}</p>
    <textarea id="checklist" rows=${Math.min(8, Math.max(2, text.split("\n").length))} maxlength="4000" value=${text} disabled=${isBusy} aria-describedby="checklist-hint"
      placeholder=${t("settings_checklist_example")} onInput=${({ target }) => setTyped(target.value)} onBlur=${() => typed !== null && typed.trim() !== kept && change(typed, told.minutes)}></textarea></div>
    ${told.lines.length > 0 && html`<div class="choice is-choice"><label for="checklist-pace">${t("settings_checklist_pace")}</label><span class="given">
      <select id="checklist-pace" value=${told.minutes} disabled=${isBusy} onChange=${({ target }) => change(text, Number(target.value))}>
        ${paces.map((minutes) => html`<option key=${minutes} value=${minutes}>${paceOf(minutes)}</option>`)}</select></span></div>`}
    <${ErrorMessage} text=${trouble} />`;
}
