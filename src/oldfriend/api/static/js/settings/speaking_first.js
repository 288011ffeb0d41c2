// Speaking first: how readily, quiet hours, digests, the checklist, and unprompted messages.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { NotificationsIfPossible } from "./notifications.js";
import { Section, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";
import { UnpromptedMessages } from "./unprompted.js";

const LEVELS = [["off", "settings_first_off"], ["shy", "settings_first_shy"], ["normal", "settings_first_normal"], ["lively", "settings_first_lively"]];
const DIGESTS = [["off", "settings_digest_off"], ["daily", "settings_digest_daily"], ["weekly", "settings_digest_weekly"]];
const INTERVALS = [30, 60, 120, 240, 1440]; // minutes
const MAX_LINES = 20, MAX_LINE_CHARS = 200; // of the checklist, as the server keeps it
const RECAPS = [["off", "settings_recap_off"], ["weekly", "settings_recap_weekly"]];

export function SpeakingFirstSection() {
  const [preferences, loadError, reload, setPreferences] = useLoaded(settingsApi.speakingFirst);
  return html`<${Section} id="first" title=${t("settings_first")} lead=${t("settings_first_lead")}><${NotificationsIfPossible} />
    ${preferences ? html`<${SpeakingFirstForm} preferences=${preferences} setPreferences=${setPreferences} />` : html`<${Loading} error=${loadError} reload=${reload} />`}</${Section}>`;
}

/** The preferences; each is saved when it is changed, with undo. @param {{preferences: any, setPreferences: (preferences: any) => void}} props */
function SpeakingFirstForm({ preferences, setPreferences }) {
  const [actionError, isBusy, run] = useAction();
  const save = async (changes) => setPreferences(await settingsApi.saveSpeakingFirst(changes));
  const choose = (name, label) => ({ target }) => {
    const previous = { [name]: preferences[name] };
    if (target.value && target.value !== preferences[name]) run(async () => (await save({ [name]: target.value }), showDone(t("settings_saved", { what: label }), () => save(previous))));
  };
  const select = (name, phrase, options) => html`<div class="choice is-choice"><label for=${`first-${name}`}>${t(phrase)}</label><span class="given">
    <select id=${`first-${name}`} value=${preferences[name]} disabled=${isBusy} onChange=${choose(name, t(phrase))}>
      ${options.map(([value, text]) => html`<option key=${value} value=${value}>${t(text)}</option>`)}</select></span></div>`;
  const timeField = (name, phrase) => html`<div class="choice is-choice"><label for=${`first-${name}`}>${t(phrase)}</label><span class="given">
    <input id=${`first-${name}`} type="time" value=${preferences[name]} disabled=${isBusy} onChange=${choose(name, t(phrase))} /></span></div>`;
  const previous = { muted: preferences.muted };
  const allowAll = () => run(async () => (await save({ muted: [] }), showDone(t("settings_saved", { what: t("settings_first") }), () => save(previous))));
  return html`${select("level", "settings_first_level", LEVELS)}
    ${timeField("quiet_begins", "settings_quiet_begins")}${timeField("quiet_ends", "settings_quiet_ends")}
    ${select("digest", "settings_digest", DIGESTS)}
    ${select("recap", "settings_recap", RECAPS)}
    ${preferences.muted.length > 0 && html`<p class="hint">${t("settings_first_muted", { count: preferences.muted.length })} <button class="quiet" disabled=${isBusy} onClick=${allowAll}>${t("settings_first_allow")}</button></p>`}
    <${ErrorMessage} text=${actionError} /><${Checklist} /><${UnpromptedMessages} preferences=${preferences} save=${save} />`;
}

/** An interval in words. @param {number} minutes */
const formatInterval = (minutes) => (minutes % 60 ? t("settings_every_minutes", { count: minutes }) : t("settings_every_hours", { count: minutes / 60 }));

/** The list of things to check regularly, one a line, saved on blur, and the interval. */
function Checklist() {
  const [checklist, loadError, reload, setChecklist] = useLoaded(settingsApi.checklist);
  const [actionError, isBusy, run] = useAction();
  const [draft, setDraft] = useState(null);
  if (!checklist) return html`<${Loading} error=${loadError} reload=${reload} />`;
  const saved = checklist.lines.join("\n");
  const text = draft ?? saved;
  const save = async (lines, minutes) => setChecklist(await settingsApi.saveChecklist({ lines: lines.split("\n"), minutes }));
  const given = text.split("\n").filter((each) => each.trim());
  const limit = given.length > MAX_LINES ? t("settings_checklist_full", { count: MAX_LINES }) : given.some((each) => each.trim().length > MAX_LINE_CHARS) ? t("settings_checklist_long", { count: MAX_LINE_CHARS }) : "";
  const change = (lines, minutes) => limit || run(async () => {
    await save(lines, minutes);
    setDraft(null);
    showDone(t("settings_saved", { what: t("settings_checklist") }), () => save(saved, checklist.minutes));
  });
  const intervals = [...new Set([...INTERVALS, checklist.minutes])].sort((a, b) => a - b);
  return html`<div class="block"><label for="checklist">${t("settings_checklist")}</label><p class="hint" id="checklist-hint">${t("settings_checklist_hint")}</p>
    <textarea id="checklist" rows=${Math.min(8, Math.max(2, text.split("\n").length))} maxlength="4000" value=${text} disabled=${isBusy} aria-describedby="checklist-hint" aria-invalid=${Boolean(limit)}
      placeholder=${t("settings_checklist_example")} onInput=${({ target }) => setDraft(target.value)} onBlur=${() => draft !== null && draft.trim() !== saved && change(draft, checklist.minutes)}></textarea></div>
    ${checklist.lines.length > 0 && html`<div class="choice is-choice"><label for="checklist-pace">${t("settings_checklist_pace")}</label><span class="given">
      <select id="checklist-pace" value=${checklist.minutes} disabled=${isBusy} onChange=${({ target }) => change(text, Number(target.value))}>
        ${intervals.map((minutes) => html`<option key=${minutes} value=${minutes}>${formatInterval(minutes)}</option>`)}</select></span></div>`}
    <${ErrorMessage} text=${limit || actionError} />`;
}
