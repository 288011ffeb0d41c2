// The drawer beside the chat: a receipt, or what went wrong.
import { effect } from "../vendor/signals.js";
import { showMessage } from "./chat.js";
import { useEscape, useFocus } from "./focus.js";
import { Help } from "./help.js";
import { html } from "./html.js";
import { KindIcon } from "./icons.js";
import { currentPage } from "./router.js";
import * as store from "./store.js";
import { channelName, formatShortDay, t } from "./i18n.js";

const MOST_SHOWN = 8;

effect(() => {
  void currentPage.value;
  store.drawer.value = null; // it was about what one has left
  store.isTimelineOpen.value = false;
});

export function Drawer() {
  const open = store.drawer.value;
  const panel = useFocus(open);
  useEscape(open, close);
  if (!open) return null;
  const inside = { receipt: Receipt, problem: Trouble, help: Help }[open.kind];
  return html`<section class="drawer" role="dialog" aria-labelledby="drawer-title" tabindex="-1" ref=${panel}>
    <button class="quiet close" onClick=${close}>${t("close")}</button><${inside} ...${open} /></section>`;
}

function close() {
  const { opener } = store.drawer.value;
  store.drawer.value = null;
  opener?.focus?.();
}

function Receipt({ receipt }) {
  const stood = receipt.stood_on.slice(0, MOST_SHOWN);
  const more = receipt.stood_on.slice(MOST_SHOWN);
  return html`<h2 id="drawer-title">${t("why_title")}</h2>
    <blockquote>${receipt.reply.text}</blockquote>
    ${receipt.unprompted && html`<p>${receipt.unprompted.reason}</p>`}
    ${receipt.missing.map((each) => html`<p class="missing" key=${each}>${each}</p>`)}
    ${stood.length
      ? html`<h3>${t("stood_on")}</h3><ul role="list">${stood.map((each) => html`<${Ground} key=${each.id} ground=${each} />`)}</ul>`
      : html`<p>${receipt.unprompted ? "" : t(receipt.is_written ? "written_by_you" : receipt.also_shown.length ? "nothing_traced" : "nothing_needed")}</p>`}
    ${more.length > 0 && html`<details><summary>${t("stood_on_more", { count: more.length })}</summary>
      <ul role="list">${more.map((each) => html`<${Ground} key=${each.id} ground=${each} />`)}</ul></details>`}
    ${receipt.also_shown.length > 0 && html`<details open=${!stood.length}><summary>${t("also_shown", { count: receipt.also_shown.length })}</summary>
      <ul role="list">${receipt.also_shown.map((each) => html`<${Ground} key=${each.id} ground=${each} />`)}</ul></details>`}
    ${receipt.left_out.length > 0 && html`<details><summary>${t("left_out", { count: receipt.left_out.length })}</summary>
      <ul role="list">${receipt.left_out.map((each) => html`<${Ground} key=${each.id} ground=${each} hasReasons />`)}</ul></details>`}
    ${receipt.sections.length > 0 && html`<details><summary>${t("sections")}</summary><${Sections} sections=${receipt.sections} /></details>`}
    <details><summary>${t("details")}</summary><p>${writtenBy(receipt)}</p><pre lang="en">${receipt.as_text}</pre></details>`;
}

/** What the model was told, part by part, and what of it did not fit in. */
function Sections({ sections }) {
  return html`<table class="sections"><thead><tr><th scope="col">${t("section_name")}</th><th scope="col">${t("section_tokens")}</th>
      <th scope="col">${t("section_dropped")}</th></tr></thead>
    <tbody>${sections.map((each) => html`<tr key=${each.name}><th scope="row">${nameOf(each)}</th><td>${each.tokens}</td><td>${each.dropped || ""}</td></tr>`)}</tbody></table>`;
}

/** A part of what a model is told, by what it holds. @param {{name: string}} section */
const nameOf = ({ name }) => t(`section_${name.replaceAll(" ", "_")}`, {}, name);

function Ground({ ground, hasReasons }) {
  if (ground.text === null) return html`<li>${t("gone")}</li>`;
  const isMessage = ground.kind === "message";
  const said = isMessage ? [{ message: ground.id, quote: ground.text, role: ground.role, speaker: ground.speaker, at: ground.at, channel: ground.channel }] : ground.words;
  return html`<li class="ground">
    ${!isMessage && html`<p><${KindIcon} kind=${ground.kind} /> ${ground.text} <span class="meta">${t("i_believe")}</span></p>`}
    ${said.slice(0, 3).map((words) => html`<button class="words" key=${words.message + words.quote} onClick=${() => showMessage(words.message)}>
      <q>${words.quote}</q><span class="meta">${whoSaid(words)}</span></button>`)}
    ${hasReasons && ground.why.length > 0 && html`<p class="meta">${ground.why.map(reasonOf).join(", ")}</p>`}
  </li>`;
}

/** @type {Record<string, string>} */
const REASONS = {
  words: "reason_words", words_near: "reason_words_near", words_like: "reason_words_like", meaning: "reason_meaning", said_by: "reason_said_by", own_words: "reason_own_words",
  mentions: "reason_mentions", date: "reason_date", session: "reason_session", answers: "reason_answers", asked_for: "reason_asked_for", reached: "reason_reached",
};

/** Why something came to mind, in the language of the page. @param {{cause: string, words: string[], name: string}} reason */
function reasonOf({ cause, words, name }) {
  const held = words.map((each) => `“${each}”`).join(", ");
  return t(REASONS[cause], { words: held || t("reason_such_words"), name: name || t("reason_somebody") });
}

function whoSaid({ role, speaker, at, channel }) {
  const when = formatShortDay(at);
  return t(role === "person" ? "you_said" : "other_said", { who: speaker, when, channel: channel ? channelName(channel) : "" }).replace(/ · $/, "");
}

function writtenBy(receipt) {
  const took = receipt.seconds === null ? "" : t("took", { seconds: receipt.seconds });
  if (!receipt.model) return `${t("by_itself")} ${took}`;
  const cost = receipt.cost_usd === null ? t("cost_unknown") : `$${receipt.cost_usd.toFixed(4)}`;
  return `${t("by_model", { model: receipt.model, prompt: receipt.prompt, in: receipt.tokens_in, out: receipt.tokens_out, cost })} ${took}`;
}

function Trouble({ text }) {
  return html`<h2 id="drawer-title">${t("title")}</h2><p>${text}</p>`;
}
