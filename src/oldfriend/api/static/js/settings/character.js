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
const wordsOf = (block) => /** @type {string[]} */ (BLOCKS.find(([name]) => name === block));
const titleOf = (block) => t(wordsOf(block)[1]);

/** What a starting point is called, in the language of the page where it is one of ours. @param {{name: string}} start */
export const startName = ({ name }) => (STARTS[name] ? t(STARTS[name][0]) : name);

/** What it is like. @param {{name: string, about: string}} start */
export const startAbout = ({ name, about }) => (STARTS[name] ? t(STARTS[name][1]) : about);

export function CharacterSection() {
  const [character, problem, again] = useLoaded(settingsApi.character);
  return html`<${Section} id="character" title=${t("settings_character")} lead=${t("settings_character_lead")}>
    ${character ? html`<${Blocks} character=${character} again=${again} />` : html`<${Loading} problem=${problem} again=${again} />`}</${Section}>`;
}

function Blocks({ character, again }) {
  const { blocks, suggestions, starting, longest } = character;
  return html`${store.me.value.is_owner && html`<${Name} longest=${character.longest_name} />`}
    ${suggestions.length > 0 && html`<${Suggestions} suggestions=${suggestions} again=${again} />`}
    ${blocks.map((block) => html`<${Block} key=${block.name} block=${block} longest=${longest} again=${again} />`)}
    <${Starting} starting=${starting} blocks=${blocks} again=${again} />
    <${Soul} soul=${character.soul} file=${character.soul_file} />`;
}

/** What the companion is called, by everybody here: so the owner gives it. @param {{longest: number}} given */
function Name({ longest }) {
  const [trouble, isBusy, run] = useAction();
  const name = store.state.value.companion;
  const call = async (wanted) => store.renameCompanion((await settingsApi.nameCompanion(wanted)).name);
  const give = ({ target }) => {
    const wanted = target.value.trim();
    if (!wanted) target.value = name;
    else if (wanted !== name) run(async () => (await call(wanted), showDone(t("settings_saved", { what: t("settings_companion_name") }), () => call(name))));
  };
  return html`<div class="choice"><label for="companion-name">${t("settings_companion_name")}</label>
    <span class="given"><input id="companion-name" maxlength=${longest} value=${name} disabled=${isBusy} aria-describedby="companion-name-hint" onChange=${give} /></span>
    <p class="hint" id="companion-name-hint">${t("settings_companion_name_hint")}</p><${ErrorMessage} text=${trouble} /></div>`;
}

/** Who the companion is to everybody; the owner is told where that is written. */
function Soul({ soul, file }) {
  const how = file && html`<p class="hint">${t(soul?.text ? "settings_soul_how" : "settings_soul_none", { file })}</p>`;
  if (!soul?.text) return how;
  return html`<details class="soul"><summary>${t("settings_soul", { version: soul.version })}</summary><p class="prose">${soul.text}</p>${how}</details>`;
}

function Block({ block, longest, again }) {
  const [trouble, isBusy, run] = useAction();
  const [typed, setTyped] = useState(null);
  const text = typed ?? block.text;
  const [, label, hint] = wordsOf(block.name);
  const id = `block-${block.name}`;
  const save = () =>
    typed !== null && typed.trim() !== block.text &&
    run(async () => {
      await settingsApi.write(block.name, typed, block.version);
      await again();
      setTyped(null);
      showDone(t("settings_saved", { what: t(label) }), async () => (await settingsApi.write(block.name, block.text), again()));
    });
  return html`<div class="block"><label for=${id}>${t(label)}</label><p class="hint" id=${`${id}-hint`}>${t(hint)}</p>
    <textarea id=${id} rows=${Math.min(12, Math.max(3, Math.ceil(text.length / 68)))} maxlength=${longest} value=${text} disabled=${isBusy}
      aria-describedby=${`${id}-hint`} onInput=${({ target }) => setTyped(target.value)} onBlur=${save}></textarea>
    <p class="meta"><span>${t("settings_fits", { count: text.length, longest })}</span>
      ${block.version > 0 && html`<span>${t("settings_version", { version: block.version, when: formatShortDay(block.written_at) })}</span>`}</p>
    <${ErrorMessage} text=${trouble} />
    ${block.version > 0 && html`<${Earlier} block=${block} again=${again} />`}</div>`;
}

function Earlier({ block, again }) {
  const [page, setPage] = useState(null);
  const [isOpen, setIsOpen] = useState(false);
  const [trouble, , run] = useAction();
  const read = (cursor) => run(async () => {
    const told = await settingsApi.versions(block.name, cursor);
    setPage({ next: told.next, version: block.version, items: cursor ? [...page.items, ...told.items] : told.items });
  });
  useEffect(() => void (isOpen && page?.version !== block.version && read()), [isOpen, block.version]);
  const takeBack = (version) => run(async () => {
    await settingsApi.write(block.name, version.text);
    await again();
    showDone(t("settings_version_back", { version: version.version }), async () => (await settingsApi.write(block.name, block.text), again()));
  });
  return html`<details onToggle=${({ currentTarget }) => setIsOpen(currentTarget.open)}><summary>${t("settings_versions")}</summary><${ErrorMessage} text=${trouble} />
    ${page && html`<ol class="versions" role="list">${page.items.map((each) => html`<li key=${each.version}>
      <p class="meta"><span>${t("settings_version", { version: each.version, when: formatShortDay(each.written_at) })}</span>
        ${each.text !== block.text && html`<button class="quiet" onClick=${() => takeBack(each)}>${t("settings_take_again")}</button>`}</p>
      <${Difference} lines=${each.lines} /></li>`)}</ol>
      ${page.next && html`<button class="quiet" onClick=${() => read(page.next)}>${t("settings_more")}</button>`}`}</details>`;
}

/** @param {{lines: string[]}} given */
function Difference({ lines }) {
  return html`<div class="difference">${lines.map((line, place) =>
    line.startsWith("- ") ? html`<del key=${place}>${line.slice(2)}</del>` : html`<ins key=${place}>${line.slice(2)}</ins>`)}</div>`;
}

function Suggestions({ suggestions, again }) {
  return html`<div class="suggestions"><h4>${t("settings_suggestions")}</h4><p class="hint">${t("settings_suggestions_hint")}</p>
    <ul role="list">${suggestions.map((each) => html`<${Suggestion} key=${each.id} suggestion=${each} again=${again} />`)}</ul></div>`;
}

function Suggestion({ suggestion, again }) {
  const [trouble, isBusy, run] = useAction();
  const [words, setWords] = useState(null);
  const accept = () => run(async () => {
    const before = (await settingsApi.character()).blocks.find(({ name }) => name === suggestion.block).text;
    await settingsApi.decide(suggestion.id, { verdict: "accept", words });
    await again();
    showDone(t("settings_accepted", { block: titleOf(suggestion.block) }), async () => (await settingsApi.write(suggestion.block, before), again()));
  });
  const decline = () => run(async () => {
    await settingsApi.decide(suggestion.id, { verdict: "decline" });
    await again();
    showDone(t("settings_declined"));
  });
  return html`<li class="suggestion"><p class="meta">${titleOf(suggestion.block)}</p>
    <${Difference} lines=${[...suggestion.replaces.split("\n").filter(Boolean).map((line) => `- ${line}`), `+ ${words ?? suggestion.text}`]} />
    ${suggestion.reason && html`<p class="hint">${suggestion.reason}</p>`}
    ${words !== null && html`<textarea rows="3" aria-label=${t("settings_other_words")} value=${words} onInput=${({ target }) => setWords(target.value)}></textarea>`}
    <p class="choices"><button disabled=${isBusy} onClick=${accept}>${t("settings_accept")}</button>
      ${words === null && html`<button class="quiet" onClick=${() => setWords(suggestion.text)}>${t("settings_other_words")}</button>`}
      <${ConfirmButton} label=${t("settings_decline")} ask=${t("settings_decline_ask")} onSure=${decline} /></p><${ErrorMessage} text=${trouble} /></li>`;
}

function Starting({ starting, blocks, again }) {
  const [trouble, , run] = useAction();
  const begin = ({ target }) => {
    const point = starting.find(({ name }) => name === target.value);
    target.value = "";
    if (!point) return;
    const before = Object.fromEntries(blocks.map(({ name, text }) => [name, text]));
    const write = async (/** @type {Record<string, string>} */ { persona, style }) => (await settingsApi.write("persona", persona), await settingsApi.write("style", style), again());
    run(async () => (await write(point), showDone(t("settings_started", { name: startName(point) }), () => write(before))));
  };
  return html`<div class="choice is-choice"><label for="starting">${t("settings_starting")}</label>
    <span class="given"><select id="starting" onChange=${begin} aria-describedby="starting-hint"><option value="">${t("settings_starting_none")}</option>
      ${starting.map((each) => html`<option key=${each.name} value=${each.name}>${startName(each)}: ${startAbout(each)}</option>`)}</select></span>
    <p class="hint" id="starting-hint">${t("settings_starting_hint")}</p><${ErrorMessage} text=${trouble} /></div>`;
}
