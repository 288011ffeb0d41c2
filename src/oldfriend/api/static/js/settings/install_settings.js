// Settings of the installation: loaded once, changed one by one, each with undo.
import { useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { html } from "../html.js";
import { translateServerText, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { showDone, ErrorMessage, useAction } from "./form_parts.js";

/** Settings by name: {value, default, written, fixed_by, takes_new_start}; null until loaded. */
export const installSettings = signal(null);
export const settingsFile = signal("");

/** @param {{items: any[], file: string}} page */
function apply(page) {
  installSettings.value = Object.fromEntries(page.items.map((each) => [each.name, each]));
  settingsFile.value = page.file;
}

export const loadSettings = async () => apply(await settingsApi.settings());

/** The values of some settings as written in the file, to restore them. @param {string[]} names */
export const findWritten = (names) => Object.fromEntries(names.map((name) => [name, installSettings.value[name].written]));

/** Save settings and show a message with undo. @param {Record<string, unknown>} values @param {string} message */
export async function saveSettings(values, message) {
  const previous = findWritten(Object.keys(values));
  apply(await settingsApi.saveSettings(values));
  const needsRestart = Object.keys(values).some((name) => installSettings.value[name].takes_new_start);
  showDone(needsRestart ? t("settings_next_start") : message, async () => apply(await settingsApi.saveSettings(previous)));
}

/** Throw the error of a setting, naming it by its label if its value was refused. @param {string} label @param {any} error @returns {never} */
function throwWithLabel(label, error) {
  if (error.code === "setting_unfit") error.message = translateServerText({ text: error.message, code: error.code, values: { ...error.values, where: `“${label}”` } });
  throw error;
}

/** The label, hint and field of a setting; `confirmation` returns a question that has to be confirmed before a value is saved, or "". @param {{name: string, label: string, hint?: string, unit?: string, kind: "toggle" | "number" | "choice" | "list" | "text", options?: [string, string][], step?: number, confirmation?: (value: any) => string}} props */
export function SettingField({ name, label, hint, unit, kind, options, step, confirmation }) {
  const [actionError, isBusy, run] = useAction();
  const [unconfirmed, setUnconfirmed] = useState(null); // a value that waits for confirmation; null: none
  const setting = installSettings.value[name];
  const id = `choice-${name}`;
  const save = (value) => (setUnconfirmed(null), run(() => saveSettings({ [name]: value }, t("settings_saved", { what: label })).catch((error) => throwWithLabel(label, error))));
  const set = (value) => (confirmation?.(value) ? setUnconfirmed(value) : save(value));
  const fieldProps = { id, name, label, setting, set, options, step, isFixed: Boolean(setting.fixed_by), isBusy };
  const Field = { toggle: Toggle, number: NumberField, choice: Select, list: ListField, text: TextField }[kind];
  const description = setting.fixed_by ? t("settings_fixed", { where: setting.fixed_by }) : hint;
  return html`<div class=${`choice is-${kind}`}><label for=${id}>${label}</label>
    <span class="given"><${Field} ...${fieldProps} />${unit && html`<span class="unit">${unit}</span>`}</span>
    ${description && html`<p class="hint" id=${`${id}-hint`}>${description}</p>`}
    ${unconfirmed !== null && html`<p class="sure bad" role="alert"><span>${confirmation?.(unconfirmed)}</span><button onClick=${() => save(unconfirmed)}>${t("settings_go_on")}</button>
      <button class="quiet" onClick=${() => (setUnconfirmed(null), (installSettings.value = { ...installSettings.value }))}>${t("settings_leave")}</button></p>`}<${ErrorMessage} text=${actionError} /></div>`;
}

function Toggle({ id, setting, set, isFixed, isBusy }) {
  return html`<input type="checkbox" role="switch" id=${id} checked=${setting.value} disabled=${isFixed || isBusy}
    aria-describedby=${`${id}-hint`} onChange=${({ target }) => set(target.checked)} />`;
}

/** A number; empty means no limit, saved as "none" if the default is a limit. */
function NumberField({ id, setting, set, step, isFixed }) {
  const content = setting.value ?? "";
  const onChange = ({ target }) => {
    const value = target.value.trim() === "" ? (setting.default === null ? null : "none") : Number(target.value);
    if (value !== setting.value) set(value);
  };
  return html`<input type="number" inputmode="decimal" min="0" step=${step ?? 1} id=${id} value=${content} placeholder=${t("settings_none")}
    disabled=${isFixed} aria-describedby=${`${id}-hint`} onChange=${onChange} />`;
}

function Select({ id, setting, set, options, isFixed }) {
  return html`<select id=${id} value=${setting.value} disabled=${isFixed} aria-describedby=${`${id}-hint`} onChange=${({ target }) => set(target.value)}>
    ${options.map(([value, label]) => html`<option key=${value} value=${value}>${label}</option>`)}</select>`;
}

/** A text; empty means that there is none. */
function TextField({ id, setting, set, isFixed }) {
  return html`<input id=${id} autocomplete="off" value=${setting.value ?? ""} disabled=${isFixed} aria-describedby=${`${id}-hint`}
    onChange=${({ target }) => set(target.value.trim() || null)} />`;
}

function ListField({ id, setting, set, isFixed }) {
  const [draft, setDraft] = useState(null);
  const onChange = ({ target }) => {
    setDraft(null);
    set(target.value.split(/[\s,;]+/).filter(Boolean));
  };
  return html`<input id=${id} value=${draft ?? setting.value.join(", ")} disabled=${isFixed} aria-describedby=${`${id}-hint`}
    placeholder=${t("settings_nobody")} onInput=${({ target }) => setDraft(target.value)} onChange=${onChange} />`;
}
