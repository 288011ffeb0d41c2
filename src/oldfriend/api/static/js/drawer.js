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

const MAX_SOURCES = 8;

effect(() => {
  void currentPage.value;
  store.drawer.value = null; // its content belongs to the page that was left
  store.isTimelineOpen.value = false;
});

export function Drawer() {
  const open = store.drawer.value;
  const panel = useFocus(open);
  useEscape(open, close);
  if (!open) return null;
  const Content = { receipt: Receipt, problem: ErrorMessage, help: Help }[open.kind];
  return html`<section class="drawer" role="dialog" aria-labelledby="drawer-title" tabindex="-1" ref=${panel}>
    <button class="quiet close" onClick=${close}>${t("close")}</button><${Content} ...${open} /></section>`;
}

function close() {
  const { opener } = store.drawer.value;
  store.drawer.value = null;
  opener?.focus?.();
}

function Receipt({ receipt }) {
  const sources = receipt.sources.slice(0, MAX_SOURCES);
  const moreSources = receipt.sources.slice(MAX_SOURCES);
  return html`<h2 id="drawer-title">${t("why_title")}</h2>
    <blockquote>${receipt.reply.text}</blockquote>
    ${receipt.unprompted && html`<p>${receipt.unprompted.reason}</p>`}
    ${receipt.missing.map((each) => html`<p class="missing" key=${each}>${each}</p>`)}
    ${sources.length
      ? html`<h3>${t("stood_on")}</h3><ul role="list">${sources.map((each) => html`<${Source} key=${each.id} source=${each} />`)}</ul>`
      : html`<p>${receipt.unprompted ? "" : t(receipt.is_written ? "written_by_you" : receipt.also_shown.length ? "nothing_traced" : "nothing_needed")}</p>`}
    ${moreSources.length > 0 && html`<details><summary>${t("stood_on_more", { count: moreSources.length })}</summary>
      <ul role="list">${moreSources.map((each) => html`<${Source} key=${each.id} source=${each} />`)}</ul></details>`}
    ${receipt.also_shown.length > 0 && html`<details open=${!sources.length}><summary>${t("also_shown", { count: receipt.also_shown.length })}</summary>
      <ul role="list">${receipt.also_shown.map((each) => html`<${Source} key=${each.id} source=${each} />`)}</ul></details>`}
    ${receipt.left_out.length > 0 && html`<details><summary>${t("left_out", { count: receipt.left_out.length })}</summary>
      <ul role="list">${receipt.left_out.map((each) => html`<${Source} key=${each.id} source=${each} hasReasons />`)}</ul></details>`}
    ${receipt.sections.length > 0 && html`<details><summary>${t("sections")}</summary><${Sections} sections=${receipt.sections} /></details>`}
    <details><summary>${t("details")}</summary><p>${formatGeneration(receipt)}</p><pre lang="en">${receipt.as_text}</pre></details>`;
}

/** The sections of the prompt, with the tokens of each and how many items did not fit. */
function Sections({ sections }) {
  return html`<table class="sections"><thead><tr><th scope="col">${t("section_name")}</th><th scope="col">${t("section_tokens")}</th>
      <th scope="col">${t("section_dropped")}</th></tr></thead>
    <tbody>${sections.map((each) => html`<tr key=${each.name}><th scope="row">${translateSection(each)}</th><td>${each.tokens}</td><td>${each.dropped || ""}</td></tr>`)}</tbody></table>`;
}

/** Translates the name of a prompt section. @param {{name: string}} section */
const translateSection = ({ name }) => t(`section_${name.replaceAll(" ", "_")}`, {}, name);

function Source({ source, hasReasons }) {
  if (source.text === null) return html`<li>${t("gone")}</li>`;
  const isMessage = source.kind === "message";
  const quotes = isMessage ? [{ message: source.id, quote: source.text, role: source.role, speaker: source.speaker, at: source.at, channel: source.channel }] : source.words;
  return html`<li class="ground">
    ${!isMessage && html`<p><${KindIcon} kind=${source.kind} /> <span lang=${source.text_language}>${source.text}</span> <span class="meta">${t("i_believe")}</span></p>`}
    ${quotes.slice(0, 3).map((quote) => html`<button class="words" key=${quote.message + quote.quote} onClick=${() => showMessage(quote.message)}>
      <q>${quote.quote}</q><span class="meta">${formatSpeaker(quote)}</span></button>`)}
    ${hasReasons && source.why.length > 0 && html`<p class="meta">${source.why.map(formatReason).join(", ")}</p>`}
  </li>`;
}

/** @type {Record<string, string>} */
const REASONS = {
  words: "reason_words", words_near: "reason_words_near", words_like: "reason_words_like", meaning: "reason_meaning", said_by: "reason_said_by", own_words: "reason_own_words",
  mentions: "reason_mentions", date: "reason_date", session: "reason_session", answers: "reason_answers", asked_for: "reason_asked_for", reached: "reason_reached",
};

/** Formats the reason why something was recalled. @param {{cause: string, words: string[], name: string}} reason */
function formatReason({ cause, words, name }) {
  const quotedWords = words.map((each) => `“${each}”`).join(", ");
  return t(REASONS[cause], { words: quotedWords || t("reason_such_words"), name: name || t("reason_somebody") });
}

function formatSpeaker({ role, speaker, at, channel }) {
  const when = formatShortDay(at);
  return t(role === "person" ? "you_said" : "other_said", { who: speaker, when, channel: channel ? channelName(channel) : "" }).replace(/ · $/, "");
}

function formatGeneration(receipt) {
  const duration = receipt.seconds === null ? "" : t("took", { seconds: receipt.seconds });
  if (!receipt.model) return `${t("by_itself")} ${duration}`;
  const cost = receipt.cost_usd === null ? t("cost_unknown") : `$${receipt.cost_usd.toFixed(4)}`;
  return `${t("by_model", { model: receipt.model, prompt: receipt.prompt, in: receipt.tokens_in, out: receipt.tokens_out, cost })} ${duration}`;
}

function ErrorMessage({ text }) {
  return html`<h2 id="drawer-title">${t("title")}</h2><p>${text}</p>`;
}
