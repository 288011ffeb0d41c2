// Models by use; each can be tested, and a key is never shown again.
import { useState } from "../../vendor/hooks.js";
import { LearningProgress } from "../imports/learning_progress.js";
import { html } from "../html.js";
import { translateServerText, t } from "../i18n.js";
import { SettingField, installSettings, loadSettings, findWritten } from "./install_settings.js";
import { AvailableModels } from "./available_models.js";
import { settingsApi } from "./api.js";
import { Section, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

const TALKING = [
  ["main", "settings_use_main", "settings_use_main_hint"],
  ["small", "settings_use_small", "settings_use_small_hint"],
  ["reflect", "settings_use_reflect", "settings_use_reflect_hint"],
];
const FINDING = [["embedder", "settings_use_embedder", "settings_use_embedder_hint"]];
const VOICE = [
  ["transcriber", "settings_use_transcriber", "settings_use_transcriber_hint"],
  ["speaker", "settings_use_speaker", "settings_use_speaker_hint"],
];
/** The settings that a choice may change, for its undo. */
const WRITES = {
  main: ["models.main", "models.small", "models.reflect", "context.preset", "memory.passes"], small: ["models.small"], reflect: ["models.reflect"],
  embedder: ["embedder.model", "embedder.dimension"], transcriber: ["speech.transcriber"], speaker: ["speech.speaker", "speech.voice"],
};
const ALL = [...new Set(Object.values(WRITES).flat())];
const LOCAL = "local";

/** What does something now; "" where nobody does. */
const heldBy = (models, use) => (Array.isArray(models[use]) ? models[use].join(", ") : models[use]) || "";

/** All of it; or only who replies. @param {{just?: string}} given */
export function ModelsSection({ just = "" }) {
  const [models, problem, again] = useLoaded(settingsApi.models);
  const rows = (uses) => uses.map(([use, label, hint]) => html`<${Row} key=${use} use=${use} label=${t(label)} hint=${t(hint)} models=${models} again=${again} />`);
  if (!models) return html`<${Section} id="models" title=${t("settings_models")}><${Loading} problem=${problem} again=${again} /></${Section}>`;
  const found = !models.main.length && html`<${AvailableModels} models=${models} writes=${WRITES.main} again=${again} />`;
  if (just) return html`${found}${rows(TALKING.filter(([use]) => use === just))}`;
  return html`<${Section} id="models" title=${t("settings_models")} lead=${t(models.main.length ? "settings_models_lead" : "settings_offline_lead")}>
      ${found}${rows(TALKING)}${rows(FINDING)}
      <${SettingField} name="context.preset" kind="choice" label=${t("settings_preset")} hint=${t("settings_preset_hint")}
        options=${[["small", t("settings_preset_small")], ["normal", t("settings_preset_normal")], ["large", t("settings_preset_large")]]} />
      ${models.main.length > 0 && html`<${Unread} key=${heldBy(models, "main") + heldBy(models, "small")} />`}
      <p class="choices">${models.main.length > 0 && html`<${Offline} again=${again} />`}<${Keys} providers=${models.providers} again=${again} /></p>
    </${Section}>
    <${Section} id="voice" title=${t("settings_voice")} lead=${t("settings_voice_lead")}>${rows(VOICE)}
      <${SettingField} name="speech.speaks" kind="choice" label=${t("settings_speaks")}
        options=${[["never", t("settings_speaks_never")], ["asked", t("settings_speaks_asked")], ["always", t("settings_speaks_always")]]} />
      <${SettingField} name="speech.keep_audio" kind="toggle" label=${t("settings_keep_audio")} hint=${t("settings_keep_audio_hint")} />
      <${SettingField} name="speech.overhears" kind="toggle" label=${t("settings_overhears")} hint=${t("settings_overhears_hint")} />
    </${Section}>`;
}

/** What no model has read yet is offered to the one that is connected now. */
function Unread() {
  const [old, , again] = useLoaded(settingsApi.reading);
  const [trouble, , run] = useAction();
  const attempt = (deed) => run(async () => (await deed(), await again()));
  return html`${old && html`<${LearningProgress} old=${old} attempt=${attempt} />`}<${ErrorMessage} text=${trouble} />`;
}

function Row({ use, label, hint, models, again }) {
  const [isOpen, setOpen] = useState(false);
  const held = heldBy(models, use);
  const none = { small: t("settings_as_main"), reflect: t("settings_as_main"), main: t("settings_no_model") }[use] ?? t("settings_nobody_does");
  const shown = held === LOCAL ? t("settings_in_program") : held || none;
  const change = async (deed, told) => {
    const before = findWritten(WRITES[use]);
    await deed();
    await Promise.all([again(), loadSettings()]);
    setOpen(false);
    const waits = installSettings.value[WRITES[use][0]].takes_new_start;
    showDone(waits ? t("settings_next_start") : told, async () => (await settingsApi.choose(before), await Promise.all([again(), loadSettings()])));
  };
  return html`<div class="use"><div class="use-head"><div><h4>${label}</h4><p class="hint">${hint}</p></div>
      <p class="held">${shown}</p>
      <button class="quiet" aria-expanded=${isOpen} aria-label=${`${t(isOpen ? "settings_leave" : "settings_change")}: ${label}`} onClick=${() => setOpen(!isOpen)}>${t(isOpen ? "settings_leave" : "settings_change")}</button></div>
    ${isOpen && html`<${Choosing} use=${use} label=${label} models=${models} held=${held} change=${change} />`}</div>`;
}

function Choosing({ use, label, models, held, change }) {
  const found = models.providers.find((each) => each.models.length && !held)?.name ?? models.providers.find((each) => each.key_in && !held)?.name;
  const [provider, setProvider] = useState(held.split(":")[0] || found || models.providers[0].name);
  const [typed, setTyped] = useState({});
  const [result, setResult] = useState(null);
  const [trouble, isBusy, run] = useAction();
  const known = models.providers.find(({ name }) => name === provider);
  const isLocal = provider === LOCAL;
  const isOther = !isLocal && !known;
  const usual = known ? (known.models.includes(known.usual[use]) || !known.models.length ? known.usual[use] : known.models[0]) : "";
  const name = typed.name ?? (held.startsWith(`${provider}:`) ? held.slice(provider.length + 1) : usual ?? "");
  const set = (field) => ({ target }) => (setResult(null), setTyped({ ...typed, [field]: target.value }));
  const pick = ({ target }) => (setProvider(target.value), setTyped({}), setResult(null));
  const wanted = {
    provider: isOther ? (typed.provider ?? "").trim() : provider, name, base_url: typed.base_url || null, key: typed.key || null, voice: typed.voice || null,
  };
  const test = () => run(async () => setResult(await settingsApi.tryModel(use, wanted)));
  const take = () => run(() => change(() => settingsApi.useModel(use, wanted), t("settings_saved", { what: label })));
  const clear = () => run(() => change(() => settingsApi.choose(Object.fromEntries(WRITES[use].map((each) => [each, null]))), t("settings_saved", { what: label })));
  const isNamed = !isOther || Boolean(wanted.provider && typed.base_url); // whom it is to ask
  const hasLocal = use === "embedder" || use === "transcriber";
  const field = (id, words, inside) => html`<label for=${`${use}-${id}`}>${words}</label>${inside}`;
  return html`<form class="choosing" onSubmit=${(event) => (event.preventDefault(), take())}>
    ${field("provider", t("settings_provider"), html`<select id=${`${use}-provider`} value=${provider} onChange=${pick}>
      ${hasLocal && html`<option value=${LOCAL}>${t(use === "embedder" ? "settings_in_program" : "settings_local_folder")}</option>`}
      ${models.providers.map((each) => html`<option key=${each.name} value=${each.name}>${each.name}${aboutOf(each)}</option>`)}
      <option value="">${t("settings_other_provider")}</option></select>`)}
    ${isOther && field("named", t("settings_provider_name"), html`<input id=${`${use}-named`} value=${typed.provider ?? ""} onInput=${set("provider")} placeholder="my-server" />`)}
    ${!(isLocal && use === "embedder") && field("name", isLocal ? t("settings_folder") : t("settings_model"), html`<input id=${`${use}-name`} list=${`${use}-models`} value=${name} onInput=${set("name")} autocomplete="off" spellcheck=${false} />
      <datalist id=${`${use}-models`}>${[...new Set([...(known?.models ?? []), known?.usual[use]])].filter(Boolean).map((each) => html`<option key=${each} value=${each}></option>`)}</datalist>`)}
    ${use === "speaker" && field("voice", t("settings_voice_name"), html`<input id="speaker-voice" value=${typed.voice ?? models.voice} onInput=${set("voice")} />`)}
    ${!isLocal && field("address", t("settings_address"), html`<input id=${`${use}-address`} type="url" value=${typed.base_url ?? ""} placeholder=${known?.base_url || "http://localhost:8080/v1"} onInput=${set("base_url")} />`)}
    ${!isLocal && field("key", t("settings_key"), html`<input id=${`${use}-key`} type="password" autocomplete="off" value=${typed.key ?? ""} onInput=${set("key")}
      placeholder=${known?.key_in ? t("settings_key_kept") : known?.needs_key ? t("settings_key_needed") : t("settings_key_none")} />`)}
    <p class="hint wide">${isNamed && leaves(use, isLocal || (typed.base_url ? isOnMachine(typed.base_url) : known?.is_here), wanted.provider)}</p>
    <p class="choices wide"><button type="button" disabled=${isBusy || !isNamed} onClick=${test}>${t("settings_try")}</button>
      <button class="main" disabled=${isBusy || !isNamed}>${t("settings_use")}</button>
      ${held && use !== "main" && held !== LOCAL && html`<button type="button" class="quiet" onClick=${clear}>${t("settings_take_away")}</button>`}</p>
    <p class=${`wide ${result && !result.works ? "bad" : ""}`} role="status">${isBusy ? t("settings_trying") : result && came(result)}</p>
    <div class="wide"><${ErrorMessage} text=${trouble} /></div></form>`;
}

const aboutOf = ({ is_here, models, key_in }) =>
  models.length ? ` · ${t("settings_runs_here")}` : key_in ? ` · ${t("settings_has_key")}` : is_here ? ` · ${t("settings_on_machine")}` : "";

function came({ works, told: said, took_ms }) {
  const words = translateServerText(said);
  return works ? t("settings_works", { words: words || "…", seconds: Math.round(took_ms / 100) / 10 }) : words;
}

/** Whether an address is of this machine. @param {string} address */
function isOnMachine(address) {
  return URL.canParse(address) && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(address).hostname);
}

function leaves(use, isHere, provider) {
  if (isHere) return t("settings_stays_here");
  const what = { embedder: t("settings_sent_embedded"), transcriber: t("settings_sent_heard"), speaker: t("settings_sent_spoken") }[use] ?? t("settings_sent_said");
  return t("settings_leaves", { what, provider: provider || t("settings_provider") });
}

function Offline({ again }) {
  const off = async () => {
    const before = findWritten(ALL);
    await settingsApi.goOffline();
    await Promise.all([again(), loadSettings()]);
    showDone(t("settings_is_offline"), async () => (await settingsApi.choose(before), await Promise.all([again(), loadSettings()])));
  };
  return html`<button onClick=${off}>${t("settings_go_offline")}</button>`;
}

function Keys({ providers, again }) {
  const [trouble, , run] = useAction();
  const kept = providers.filter(({ key_in }) => key_in);
  const forget = (name) => run(async () => (await settingsApi.forgetKey(name), await again(), showDone(t("settings_key_gone", { provider: name }))));
  return html`${kept.map(({ name }) => html`<${ConfirmButton} key=${name} label=${t("settings_forget_key", { provider: name })} ask=${t("settings_forget_key_ask")} onSure=${() => forget(name)} />`)}<${ErrorMessage} text=${trouble} />`;
}
