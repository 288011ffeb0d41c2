// Settings of the installation: loaded once, changed one by one, each with undo.
import { useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { html } from "../html.js";
import { translateServerText, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { showDone, ErrorMessage, useAction } from "./form_parts.js";

/** By name: {value, default, written, fixed_by, takes_new_start}; null until it is read. */
export const installSettings = signal(null);
export const settingsFile = signal("");

/** @param {{items: any[], file: string}} told */
function keep(told) {
  installSettings.value = Object.fromEntries(told.items.map((each) => [each.name, each]));
  settingsFile.value = told.file;
}

export const loadSettings = async () => keep(await settingsApi.choices());

/** What stands in the file for some settings, to be put back. @param {string[]} names */
export const findWritten = (names) => Object.fromEntries(names.map((name) => [name, installSettings.value[name].written]));

/** Choose, and offer to undo it. @param {Record<string, unknown>} values @param {string} told */
export async function saveSettings(values, told) {
  const before = findWritten(Object.keys(values));
  keep(await settingsApi.choose(values));
  const waits = Object.keys(values).some((name) => installSettings.value[name].takes_new_start);
  showDone(waits ? t("settings_next_start") : told, async () => keep(await settingsApi.choose(before)));
}

/** What was not taken, by the name that the page has for it. @param {string} label @param {any} problem @returns {never} */
function tellOf(label, problem) {
  if (problem.code === "setting_unfit") problem.message = translateServerText({ text: problem.message, code: problem.code, values: { ...problem.values, where: `“${label}”` } });
  throw problem;
}

/** A setting: its label, what it means, and what holds. @param {{name: string, label: string, hint?: string, unit?: string, kind: "toggle" | "number" | "choice" | "list", options?: [string, string][], step?: number, ask?: (value: any) => string}} given */
export function SettingField({ name, label, hint, unit, kind, options, step, ask }) {
  const [trouble, isBusy, run] = useAction();
  const [asked, setAsked] = useState(null); // a value that takes something away for good, until it is agreed to
  const chosen = installSettings.value[name];
  const id = `choice-${name}`;
  const take = (value) => (setAsked(null), run(() => saveSettings({ [name]: value }, t("settings_saved", { what: label })).catch((problem) => tellOf(label, problem))));
  const set = (value) => (ask?.(value) ? setAsked(value) : take(value));
  const given = { id, name, label, chosen, set, options, step, isFixed: Boolean(chosen.fixed_by), isBusy };
  const Inside = { toggle: Toggle, number: Amount, choice: OneOf, list: Several }[kind];
  const more = chosen.fixed_by ? t("settings_fixed", { where: chosen.fixed_by }) : hint;
  return html`<div class=${`choice is-${kind}`}><label for=${id}>${label}</label>
    <span class="given"><${Inside} ...${given} />${unit && html`<span class="unit">${unit}</span>`}</span>
    ${more && html`<p class="hint" id=${`${id}-hint`}>${more}</p>`}
    ${asked !== null && html`<p class="sure bad" role="alert"><span>${ask?.(asked)}</span><button onClick=${() => take(asked)}>${t("settings_go_on")}</button>
      <button class="quiet" onClick=${() => (setAsked(null), (installSettings.value = { ...installSettings.value }))}>${t("settings_leave")}</button></p>`}<${ErrorMessage} text=${trouble} /></div>`;
}

function Toggle({ id, chosen, set, isFixed, isBusy }) {
  return html`<input type="checkbox" role="switch" id=${id} checked=${chosen.value} disabled=${isFixed || isBusy}
    aria-describedby=${`${id}-hint`} onChange=${({ target }) => set(target.checked)} />`;
}

/** Empty: no limit. Where there is one without a choice, that is said as "none". */
function Amount({ id, chosen, set, step, isFixed }) {
  const shown = chosen.value ?? "";
  const take = ({ target }) => {
    const value = target.value.trim() === "" ? (chosen.default === null ? null : "none") : Number(target.value);
    if (value !== chosen.value) set(value);
  };
  return html`<input type="number" inputmode="decimal" min="0" step=${step ?? 1} id=${id} value=${shown} placeholder=${t("settings_none")}
    disabled=${isFixed} aria-describedby=${`${id}-hint`} onChange=${take} />`;
}

function OneOf({ id, chosen, set, options, isFixed }) {
  return html`<select id=${id} value=${chosen.value} disabled=${isFixed} aria-describedby=${`${id}-hint`} onChange=${({ target }) => set(target.value)}>
    ${options.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}</select>`;
}

function Several({ id, chosen, set, isFixed }) {
  const [typed, setTyped] = useState(null);
  const take = ({ target }) => {
    setTyped(null);
    set(target.value.split(/[\s,;]+/).filter(Boolean));
  };
  return html`<input id=${id} value=${typed ?? chosen.value.join(", ")} disabled=${isFixed} aria-describedby=${`${id}-hint`}
    placeholder=${t("settings_nobody")} onInput=${({ target }) => setTyped(target.value)} onChange=${take} />`;
}
