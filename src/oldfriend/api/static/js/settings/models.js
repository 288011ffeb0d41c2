// The sections Models and Voice: a model for each use, which can be tested; a saved key is never shown.
import { useState } from "../../vendor/hooks.js";
import { LearningProgress } from "../imports/learning_progress.js";
import { html } from "../html.js";
import { translateServerText, t } from "../i18n.js";
import { SettingField, installSettings, loadSettings, findWritten } from "./install_settings.js";
import { AvailableModels } from "./available_models.js";
import { settingsApi } from "./api.js";
import { Section, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

const CHAT_USES = [
  ["main", "settings_use_main", "settings_use_main_hint"],
  ["small", "settings_use_small", "settings_use_small_hint"],
  ["reflect", "settings_use_reflect", "settings_use_reflect_hint"],
];
const SEARCH_USES = [["embedder", "settings_use_embedder", "settings_use_embedder_hint"]];
const VOICE_USES = [
  ["transcriber", "settings_use_transcriber", "settings_use_transcriber_hint"],
  ["speaker", "settings_use_speaker", "settings_use_speaker_hint"],
];
/** By use, the settings that choosing a model may change; its undo restores them. */
const WRITTEN_SETTINGS = {
  main: ["models.main", "models.small", "models.reflect", "context.preset", "memory.passes"], small: ["models.small"], reflect: ["models.reflect"],
  embedder: ["embedder.model", "embedder.dimension"], transcriber: ["speech.transcriber"], speaker: ["speech.speaker", "speech.voice"],
};
const ALL_SETTINGS = [...new Set(Object.values(WRITTEN_SETTINGS).flat())];
const LOCAL = "local";

/** The model of a use as "provider:name", several joined by ", "; "" if there is none. */
const modelOf = (models, use) => (Array.isArray(models[use]) ? models[use].join(", ") : models[use]) || "";

/** Models of all uses, or only of the one named. @param {{singleUse?: string}} props */
export function ModelsSection({ singleUse = "" }) {
  const [models, loadError, reload] = useLoaded(settingsApi.models);
  const rows = (uses) => uses.map(([use, label, hint]) => html`<${Row} key=${use} use=${use} label=${t(label)} hint=${t(hint)} models=${models} reload=${reload} />`);
  if (!models) return html`<${Section} id="models" title=${t("settings_models")}><${Loading} error=${loadError} reload=${reload} /></${Section}>`;
  const available = !models.main.length && html`<${AvailableModels} models=${models} writes=${WRITTEN_SETTINGS.main} reload=${reload} />`;
  if (singleUse) return html`${available}${rows(CHAT_USES.filter(([use]) => use === singleUse))}`;
  return html`<${Section} id="models" title=${t("settings_models")} lead=${t(models.main.length ? "settings_models_lead" : "settings_offline_lead")}>
      ${available}${rows(CHAT_USES)}${rows(SEARCH_USES)}
      <${SettingField} name="context.preset" kind="choice" label=${t("settings_preset")} hint=${t("settings_preset_hint")}
        options=${[["small", t("settings_preset_small")], ["normal", t("settings_preset_normal")], ["large", t("settings_preset_large")]]} />
      ${models.main.length > 0 && html`<${Unread} key=${modelOf(models, "main") + modelOf(models, "small")} />`}
      <p class="choices">${models.main.length > 0 && html`<${OfflineButton} reload=${reload} />`}<${StoredKeys} providers=${models.providers} reload=${reload} /></p>
    </${Section}>
    <${Section} id="voice" title=${t("settings_voice")} lead=${t("settings_voice_lead")}>${rows(VOICE_USES)}
      <${SettingField} name="speech.speaks" kind="choice" label=${t("settings_speaks")}
        options=${[["never", t("settings_speaks_never")], ["asked", t("settings_speaks_asked")], ["always", t("settings_speaks_always")]]} />
      <${SettingField} name="speech.keep_audio" kind="toggle" label=${t("settings_keep_audio")} hint=${t("settings_keep_audio_hint")} />
      <${SettingField} name="speech.overhears" kind="toggle" label=${t("settings_overhears")} hint=${t("settings_overhears_hint")} />
    </${Section}>`;
}

/** Offers to have the connected model read messages that none has read yet. */
function Unread() {
  const [learning, , reload] = useLoaded(settingsApi.learning);
  const [actionError, , run] = useAction();
  const attempt = (action) => run(async () => (await action(), await reload()));
  return html`${learning && html`<${LearningProgress} old=${learning} attempt=${attempt} />`}<${ErrorMessage} text=${actionError} />`;
}

function Row({ use, label, hint, models, reload }) {
  const [isOpen, setOpen] = useState(false);
  const current = modelOf(models, use);
  const placeholder = { small: t("settings_as_main"), reflect: t("settings_as_main"), main: t("settings_no_model") }[use] ?? t("settings_nobody_does");
  const currentLabel = current === LOCAL ? t("settings_in_program") : current || placeholder;
  const change = async (action, message) => {
    const previous = findWritten(WRITTEN_SETTINGS[use]);
    await action();
    await Promise.all([reload(), loadSettings()]);
    setOpen(false);
    const needsRestart = installSettings.value[WRITTEN_SETTINGS[use][0]].takes_new_start;
    showDone(needsRestart ? t("settings_next_start") : message, async () => (await settingsApi.saveSettings(previous), await Promise.all([reload(), loadSettings()])));
  };
  return html`<div class="use"><div class="use-head"><div><h4>${label}</h4><p class="hint">${hint}</p></div>
      <p class="held">${currentLabel}</p>
      <button class="quiet" aria-expanded=${isOpen} aria-label=${`${t(isOpen ? "settings_leave" : "settings_change")}: ${label}`} onClick=${() => setOpen(!isOpen)}>${t(isOpen ? "settings_leave" : "settings_change")}</button></div>
    ${isOpen && html`<${ModelForm} use=${use} label=${label} models=${models} current=${current} change=${change} />`}</div>`;
}

function ModelForm({ use, label, models, current, change }) {
  const suggested = models.providers.find((each) => each.models.length && !current)?.name ?? models.providers.find((each) => each.key_in && !current)?.name;
  const [provider, setProvider] = useState(current.split(":")[0] || suggested || models.providers[0].name);
  const [draft, setDraft] = useState({});
  const [result, setResult] = useState(null);
  const [actionError, isBusy, run] = useAction();
  const knownProvider = models.providers.find(({ name }) => name === provider);
  const isLocal = provider === LOCAL;
  const isOther = !isLocal && !knownProvider;
  const defaultModel = knownProvider ? (knownProvider.models.includes(knownProvider.usual[use]) || !knownProvider.models.length ? knownProvider.usual[use] : knownProvider.models[0]) : "";
  const name = draft.name ?? (current.startsWith(`${provider}:`) ? current.slice(provider.length + 1) : defaultModel ?? "");
  const set = (field) => ({ target }) => (setResult(null), setDraft({ ...draft, [field]: target.value }));
  const selectProvider = ({ target }) => (setProvider(target.value), setDraft({}), setResult(null));
  const choice = {
    provider: isOther ? (draft.provider ?? "").trim() : provider, name, base_url: draft.base_url || null, key: draft.key || null, voice: draft.voice || null,
  };
  const test = () => run(async () => setResult(await settingsApi.testModel(use, choice)));
  const save = () => run(() => change(() => settingsApi.useModel(use, choice), t("settings_saved", { what: label })));
  const clear = () => run(() => change(() => settingsApi.saveSettings(Object.fromEntries(WRITTEN_SETTINGS[use].map((each) => [each, null]))), t("settings_saved", { what: label })));
  const isComplete = !isOther || Boolean(choice.provider && draft.base_url); // another provider needs a name and an address
  const hasLocal = use === "embedder" || use === "transcriber";
  const field = (id, label, input) => html`<label for=${`${use}-${id}`}>${label}</label>${input}`;
  return html`<form class="choosing" onSubmit=${(event) => (event.preventDefault(), save())}>
    ${field("provider", t("settings_provider"), html`<select id=${`${use}-provider`} value=${provider} onChange=${selectProvider}>
      ${hasLocal && html`<option value=${LOCAL}>${t(use === "embedder" ? "settings_in_program" : "settings_local_folder")}</option>`}
      ${models.providers.map((each) => html`<option key=${each.name} value=${each.name}>${each.name}${describeProvider(each)}</option>`)}
      <option value="">${t("settings_other_provider")}</option></select>`)}
    ${isOther && field("named", t("settings_provider_name"), html`<input id=${`${use}-named`} value=${draft.provider ?? ""} onInput=${set("provider")} placeholder="my-server" />`)}
    ${!(isLocal && use === "embedder") && field("name", isLocal ? t("settings_folder") : t("settings_model"), html`<input id=${`${use}-name`} list=${`${use}-models`} value=${name} onInput=${set("name")} autocomplete="off" spellcheck=${false} />
      <datalist id=${`${use}-models`}>${[...new Set([...(knownProvider?.models ?? []), knownProvider?.usual[use]])].filter(Boolean).map((each) => html`<option key=${each} value=${each}></option>`)}</datalist>`)}
    ${use === "speaker" && field("voice", t("settings_voice_name"), html`<input id="speaker-voice" value=${draft.voice ?? models.voice} onInput=${set("voice")} />`)}
    ${!isLocal && field("address", t("settings_address"), html`<input id=${`${use}-address`} type="url" value=${draft.base_url ?? ""} placeholder=${knownProvider?.base_url || "http://localhost:8080/v1"} onInput=${set("base_url")} />`)}
    ${!isLocal && field("key", t("settings_key"), html`<input id=${`${use}-key`} type="password" autocomplete="off" value=${draft.key ?? ""} onInput=${set("key")}
      placeholder=${knownProvider?.key_in ? t("settings_key_kept") : knownProvider?.needs_key ? t("settings_key_needed") : t("settings_key_none")} />`)}
    <p class="hint wide">${isComplete && describePrivacy(use, isLocal || (draft.base_url ? isOnMachine(draft.base_url) : knownProvider?.is_here), choice.provider)}</p>
    <p class="choices wide"><button type="button" disabled=${isBusy || !isComplete} onClick=${test}>${t("settings_try")}</button>
      <button class="main" disabled=${isBusy || !isComplete}>${t("settings_use")}</button>
      ${current && use !== "main" && current !== LOCAL && html`<button type="button" class="quiet" onClick=${clear}>${t("settings_take_away")}</button>`}</p>
    <p class=${`wide ${result && !result.works ? "bad" : ""}`} role="status">${isBusy ? t("settings_trying") : result && formatTestResult(result)}</p>
    <div class="wide"><${ErrorMessage} text=${actionError} /></div></form>`;
}

const describeProvider = ({ is_here, models, key_in }) =>
  models.length ? ` · ${t("settings_runs_here")}` : key_in ? ` · ${t("settings_has_key")}` : is_here ? ` · ${t("settings_on_machine")}` : "";

function formatTestResult({ works, message, took_ms }) {
  const text = translateServerText(message);
  return works ? t("settings_works", { words: text || "…", seconds: Math.round(took_ms / 100) / 10 }) : text;
}

/** Whether a URL is on this machine. @param {string} address */
function isOnMachine(address) {
  return URL.canParse(address) && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(address).hostname);
}

function describePrivacy(use, isHere, provider) {
  if (isHere) return t("settings_stays_here");
  const what = { embedder: t("settings_sent_embedded"), transcriber: t("settings_sent_heard"), speaker: t("settings_sent_spoken") }[use] ?? t("settings_sent_said");
  return t("settings_leaves", { what, provider: provider || t("settings_provider") });
}

function OfflineButton({ reload }) {
  const goOffline = async () => {
    const previous = findWritten(ALL_SETTINGS);
    await settingsApi.goOffline();
    await Promise.all([reload(), loadSettings()]);
    showDone(t("settings_is_offline"), async () => (await settingsApi.saveSettings(previous), await Promise.all([reload(), loadSettings()])));
  };
  return html`<button onClick=${goOffline}>${t("settings_go_offline")}</button>`;
}

function StoredKeys({ providers, reload }) {
  const [actionError, , run] = useAction();
  const withKey = providers.filter(({ key_in }) => key_in);
  const remove = (name) => run(async () => (await settingsApi.deleteKey(name), await reload(), showDone(t("settings_key_gone", { provider: name }))));
  return html`${withKey.map(({ name }) => html`<${ConfirmButton} key=${name} label=${t("settings_forget_key", { provider: name })} question=${t("settings_forget_key_ask")} onConfirm=${() => remove(name)} />`)}<${ErrorMessage} text=${actionError} />`;
}
