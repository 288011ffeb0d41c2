// The companion of the first run: a friend, a starting point, or a draft from words.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { formatCost } from "../imports/learning_progress.js";
import { html } from "../html.js";
import { startAbout, startName } from "../settings/character.js";
import { settingsApi as settings } from "../settings/api.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import { draftsApi } from "./api.js";

const MAX_FILE_CHARS = 1_000_000;
const DEBOUNCE_MS = 500;
const EMPTY_INPUT = { name: null, chosen: "blank", persona: "", style: "", material: "", isDecided: false };
const BLOCK_PHRASES = { persona: "welcome_for_persona", user: "welcome_for_user", style: "welcome_for_style" };

/** The input of this step, kept when the step is left and opened again. */
const input = signal(EMPTY_INPUT);
const updateInput = (changes) => (input.value = { ...input.value, ...changes });

export function Companion({ saveRef, clearError, character, runSynced }) {
  const { name, chosen, persona, style, material, isDecided } = input.value;
  const currentName = store.state.value.companion;
  saveRef.current = async () => {
    if (chosen === "material" && material.trim() && !persona.trim() && !isDecided) throw new Error(t("welcome_undecided"));
    const newName = name?.trim() || currentName;
    if (newName !== currentName) store.renameCompanion((await settings.renameCompanion(newName)).name);
    for (const [block, text] of Object.entries({ persona, style })) if (text.trim()) await settings.saveCharacter(block, text);
  };
  const usePersona = (text) => {
    updateInput({ persona: text });
    clearError();
  };
  const choose = (name) => {
    const start = character?.starting.find((each) => each.name === name);
    updateInput({ chosen: name, persona: start?.persona ?? "", style: start?.style ?? "" });
  };
  const startingPoints = (character?.starting ?? []).filter((each) => each.persona);
  const startOption = (start, label, about) => html`<label key=${start} class="start"><input type="radio" name="start" checked=${chosen === start} onChange=${() => choose(start)} />
    <span><strong>${label}</strong>${about && html` <span class="meta">${about}</span>`}</span></label>`;
  return html`<h2>${t("welcome_companion")}</h2><p class="lead">${t("welcome_companion_lead")}</p>
    ${store.me.value.is_owner && html`<label>${t("welcome_companion_name")}<input value=${name ?? currentName} maxlength=${character?.longest_name} autocomplete="off" onInput=${({ target }) => updateInput({ name: target.value })} /></label>`}
    <fieldset class="starts"><legend class="visually-hidden">${t("welcome_companion")}</legend>
      ${startOption("blank", t("welcome_blank"))}
      ${startingPoints.map((each) => startOption(each.name, startName(each), startAbout(each)))}
      ${startOption("material", t("welcome_material"))}</fieldset>
    ${chosen === "material" && html`<${Draft} longest=${character?.longest ?? 0} onTake=${usePersona} runSynced=${runSynced} />`}
    ${persona && html`<label>${t("welcome_persona")}<textarea rows="6" value=${persona} onInput=${({ target }) => updateInput({ persona: target.value })}></textarea></label>
      <label>${t("welcome_style")}<textarea rows="3" value=${style} onInput=${({ target }) => updateInput({ style: target.value })}></textarea></label>`}`;
}

/** Drafts the companion from a text; the person accepts or declines each suggestion. */
function Draft({ longest, onTake, runSynced }) {
  const text = input.value.material;
  const setText = (material) => updateInput({ material, isDecided: false });
  const [estimate, setEstimate] = useState(null);
  const [draft, setDraft] = useState(null);
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const resultsElement = useRef(null);
  useEffect(() => void (draft && resultsElement.current.scrollIntoView({ block: "start" })), [draft]);
  useEffect(() => {
    setEstimate(null);
    if (!text.trim()) return undefined;
    const timer = setTimeout(() => draftsApi.estimateCost(text).then(setEstimate, () => setEstimate(null)), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const createDraft = async (withModel) => {
    setBusy(true);
    setError("");
    try {
      setDraft(await draftsApi.create(text, withModel));
    } catch (failure) {
      setError(failure.message || t("lost"));
    }
    setBusy(false);
  };
  const readFile = async ({ target }) => target.files[0] && setText((await target.files[0].text()).slice(0, MAX_FILE_CHARS));
  const costEstimate = estimate?.likely_cost;
  return html`<div class="draft"><label>${t("welcome_paste")}<textarea rows="6" value=${text} onInput=${({ target }) => setText(target.value)}></textarea></label>
    <p class="choices"><label class="choose"><input class="visually-hidden" type="file" accept=".txt,.md,text/*" onChange=${readFile} /><span>${t("welcome_choose_file")}</span></label>
      <button disabled=${!text.trim() || text.length > longest || isBusy} onClick=${() => onTake(text.trim())}>${t("welcome_take_all")}</button>
      <button disabled=${!text.trim() || isBusy} onClick=${() => createDraft(false)}>${t("welcome_draft_rules")}</button>
      ${costEstimate && html`<button disabled=${isBusy} onClick=${() => createDraft(true)}>${t("welcome_draft_model", { model: costEstimate.model, cost: formatCost(costEstimate) })}</button>`}</p>
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    <div role="status" ref=${resultsElement}>${draft && html`${draft.is_rough && html`<p class="meta">${t("welcome_rough")}</p>`}
      ${!draft.suggestions.length && html`<p>${t("welcome_nothing_found")}</p>`}
      <ul role="list">${draft.suggestions.map((each) => html`<${Suggestion} key=${each.id} suggestion=${each} runSynced=${runSynced} />`)}</ul>`}</div></div>`;
}

function Suggestion({ suggestion, runSynced }) {
  const [words, setWords] = useState(suggestion.text);
  const [verdict, setVerdict] = useState("");
  const decide = async (name) => {
    const decision = name === "accept" && words !== suggestion.text ? { verdict: name, words } : { verdict: name };
    await runSynced(() => settings.decideSuggestion(suggestion.id, decision));
    setVerdict(name);
    updateInput({ isDecided: true });
  };
  if (verdict === "decline") return null;
  return html`<li class="parcel"><p class="meta">${t(BLOCK_PHRASES[suggestion.block])}</p>
    ${verdict ? html`<p class="good">${words}</p>` : html`<textarea rows="2" aria-label=${t(BLOCK_PHRASES[suggestion.block])} value=${words} onInput=${({ target }) => setWords(target.value)}></textarea>
      <p class="choices"><button onClick=${() => decide("accept")}>${t("welcome_accept")}</button>
        <button class="quiet" onClick=${() => decide("decline")}>${t("welcome_decline")}</button></p>`}</li>`;
}
