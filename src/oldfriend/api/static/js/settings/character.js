// The character: companion, person and style in plain text, each version kept.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { formatShortDay, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { Section, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

const BLOCKS = [
  ["persona", "settings_persona", "settings_persona_hint"],
  ["user", "settings_user", "settings_user_hint"],
  ["style", "settings_style", "settings_style_hint"],
];
/** @type {Record<string, [string, string]>} */
const STARTS = {
  blank: ["start_blank", "start_blank_about"], calm: ["start_calm", "start_calm_about"], "old-friend": ["start_old_friend", "start_old_friend_about"],
  practical: ["start_practical", "start_practical_about"], witty: ["start_witty", "start_witty_about"],
};
const findPhrases = (block) => /** @type {string[]} */ (BLOCKS.find(([name]) => name === block));
const formatBlockTitle = (block) => t(findPhrases(block)[1]);

/** The name of a starting point, translated if it is a built-in one. @param {{name: string}} start */
export const startName = ({ name }) => (STARTS[name] ? t(STARTS[name][0]) : name);

/** The description of a starting point, translated if it is a built-in one. @param {{name: string, about: string}} start */
export const startAbout = ({ name, about }) => (STARTS[name] ? t(STARTS[name][1]) : about);

export function CharacterSection() {
  const [character, loadError, reload] = useLoaded(settingsApi.character);
  return html`<${Section} id="character" title=${t("settings_character")} lead=${t("settings_character_lead")}>
    ${character ? html`<${Blocks} character=${character} reload=${reload} />` : html`<${Loading} error=${loadError} reload=${reload} />`}</${Section}>`;
}

function Blocks({ character, reload }) {
  const { blocks, suggestions, starting, longest } = character;
  return html`${store.me.value.is_owner && html`<${Name} longest=${character.longest_name} />`}
    ${suggestions.length > 0 && html`<${Suggestions} suggestions=${suggestions} reload=${reload} />`}
    ${blocks.map((block) => html`<${Block} key=${block.name} block=${block} longest=${longest} reload=${reload} />`)}
    <${StartingPoints} starting=${starting} blocks=${blocks} reload=${reload} />
    <${Soul} soul=${character.soul} file=${character.soul_file} />`;
}

/** The companion's name, which is the same for everybody and set by the owner. @param {{longest: number}} props */
function Name({ longest }) {
  const [actionError, isBusy, run] = useAction();
  const name = store.state.value.companion;
  const rename = async (newName) => store.renameCompanion((await settingsApi.renameCompanion(newName)).name);
  const onChange = ({ target }) => {
    const newName = target.value.trim();
    if (!newName) target.value = name;
    else if (newName !== name) run(async () => (await rename(newName), showDone(t("settings_saved", { what: t("settings_companion_name") }), () => rename(name))));
  };
  return html`<div class="choice"><label for="companion-name">${t("settings_companion_name")}</label>
    <span class="given"><input id="companion-name" maxlength=${longest} value=${name} disabled=${isBusy} aria-describedby="companion-name-hint" onChange=${onChange} /></span>
    <p class="hint" id="companion-name-hint">${t("settings_companion_name_hint")}</p><${ErrorMessage} text=${actionError} /></div>`;
}

/** The companion's character that is shared by all people; the owner is shown the file it comes from. */
function Soul({ soul, file }) {
  const hint = file && html`<p class="hint">${t(soul?.text ? "settings_soul_how" : "settings_soul_none", { file })}</p>`;
  if (!soul?.text) return hint;
  return html`<details class="soul"><summary>${t("settings_soul", { version: soul.version })}</summary><p class="prose">${soul.text}</p>${hint}</details>`;
}

function Block({ block, longest, reload }) {
  const [actionError, isBusy, run] = useAction();
  const [draft, setDraft] = useState(null);
  const text = draft ?? block.text;
  const [, label, hint] = findPhrases(block.name);
  const id = `block-${block.name}`;
  const save = () =>
    draft !== null && draft.trim() !== block.text &&
    run(async () => {
      await settingsApi.saveCharacter(block.name, draft, block.version);
      await reload();
      setDraft(null);
      showDone(t("settings_saved", { what: t(label) }), async () => (await settingsApi.saveCharacter(block.name, block.text), reload()));
    });
  return html`<div class="block"><label for=${id}>${t(label)}</label><p class="hint" id=${`${id}-hint`}>${t(hint)}</p>
    <textarea id=${id} rows=${Math.min(12, Math.max(3, Math.ceil(text.length / 68)))} maxlength=${longest} value=${text} disabled=${isBusy}
      aria-describedby=${`${id}-hint`} onInput=${({ target }) => setDraft(target.value)} onBlur=${save}></textarea>
    <p class="meta"><span>${t("settings_fits", { count: text.length, longest })}</span>
      ${block.version > 0 && html`<span>${t("settings_version", { version: block.version, when: formatShortDay(block.written_at) })}</span>`}</p>
    <${ErrorMessage} text=${actionError} />
    ${block.version > 0 && html`<${Versions} block=${block} reload=${reload} />`}</div>`;
}

function Versions({ block, reload }) {
  const [page, setPage] = useState(null);
  const [isOpen, setIsOpen] = useState(false);
  const [actionError, , run] = useAction();
  const load = (cursor) => run(async () => {
    const loaded = await settingsApi.versions(block.name, cursor);
    setPage({ next: loaded.next, version: block.version, items: cursor ? [...page.items, ...loaded.items] : loaded.items });
  });
  useEffect(() => void (isOpen && page?.version !== block.version && load()), [isOpen, block.version]);
  const restore = (version) => run(async () => {
    await settingsApi.saveCharacter(block.name, version.text);
    await reload();
    showDone(t("settings_version_back", { version: version.version }), async () => (await settingsApi.saveCharacter(block.name, block.text), reload()));
  });
  return html`<details onToggle=${({ currentTarget }) => setIsOpen(currentTarget.open)}><summary>${t("settings_versions")}</summary><${ErrorMessage} text=${actionError} />
    ${page && html`<ol class="versions" role="list">${page.items.map((each) => html`<li key=${each.version}>
      <p class="meta"><span>${t("settings_version", { version: each.version, when: formatShortDay(each.written_at) })}</span>
        ${each.text !== block.text && html`<button class="quiet" onClick=${() => restore(each)}>${t("settings_take_again")}</button>`}</p>
      <${Difference} lines=${each.lines} /></li>`)}</ol>
      ${page.next && html`<button class="quiet" onClick=${() => load(page.next)}>${t("settings_more")}</button>`}`}</details>`;
}

/** @param {{lines: string[]}} props */
function Difference({ lines }) {
  return html`<div class="difference">${lines.map((line, index) =>
    line.startsWith("- ") ? html`<del key=${index}>${line.slice(2)}</del>` : html`<ins key=${index}>${line.slice(2)}</ins>`)}</div>`;
}

function Suggestions({ suggestions, reload }) {
  return html`<div class="suggestions"><h4>${t("settings_suggestions")}</h4><p class="hint">${t("settings_suggestions_hint")}</p>
    <ul role="list">${suggestions.map((each) => html`<${Suggestion} key=${each.id} suggestion=${each} reload=${reload} />`)}</ul></div>`;
}

function Suggestion({ suggestion, reload }) {
  const [actionError, isBusy, run] = useAction();
  const [edited, setEdited] = useState(null);
  const accept = () => run(async () => {
    const previous = (await settingsApi.character()).blocks.find(({ name }) => name === suggestion.block).text;
    await settingsApi.decideSuggestion(suggestion.id, { verdict: "accept", words: edited });
    await reload();
    showDone(t("settings_accepted", { block: formatBlockTitle(suggestion.block) }), async () => (await settingsApi.saveCharacter(suggestion.block, previous), reload()));
  });
  const decline = () => run(async () => {
    await settingsApi.decideSuggestion(suggestion.id, { verdict: "decline" });
    await reload();
    showDone(t("settings_declined"));
  });
  return html`<li class="suggestion"><p class="meta">${formatBlockTitle(suggestion.block)}</p>
    <${Difference} lines=${[...suggestion.replaces.split("\n").filter(Boolean).map((line) => `- ${line}`), `+ ${edited ?? suggestion.text}`]} />
    ${suggestion.reason && html`<p class="hint">${suggestion.reason}</p>`}
    ${edited !== null && html`<textarea rows="3" aria-label=${t("settings_other_words")} value=${edited} onInput=${({ target }) => setEdited(target.value)}></textarea>`}
    <p class="choices"><button disabled=${isBusy} onClick=${accept}>${t("settings_accept")}</button>
      ${edited === null && html`<button class="quiet" onClick=${() => setEdited(suggestion.text)}>${t("settings_other_words")}</button>`}
      <${ConfirmButton} label=${t("settings_decline")} question=${t("settings_decline_ask")} onConfirm=${decline} /></p><${ErrorMessage} text=${actionError} /></li>`;
}

function StartingPoints({ starting, blocks, reload }) {
  const [actionError, , run] = useAction();
  const onChange = ({ target }) => {
    const start = starting.find(({ name }) => name === target.value);
    target.value = "";
    if (!start) return;
    const previous = Object.fromEntries(blocks.map(({ name, text }) => [name, text]));
    const save = async (/** @type {Record<string, string>} */ { persona, style }) => (await settingsApi.saveCharacter("persona", persona), await settingsApi.saveCharacter("style", style), reload());
    run(async () => (await save(start), showDone(t("settings_started", { name: startName(start) }), () => save(previous))));
  };
  return html`<div class="choice is-choice"><label for="starting">${t("settings_starting")}</label>
    <span class="given"><select id="starting" onChange=${onChange} aria-describedby="starting-hint"><option value="">${t("settings_starting_none")}</option>
      ${starting.map((each) => html`<option key=${each.name} value=${each.name}>${startName(each)}: ${startAbout(each)}</option>`)}</select></span>
    <p class="hint" id="starting-hint">${t("settings_starting_hint")}</p><${ErrorMessage} text=${actionError} /></div>`;
}
