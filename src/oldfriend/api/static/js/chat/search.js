// Search in the messages of all channels, while typing.
import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/hooks.js";
import { api } from "../api.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { signal } from "../../vendor/signals.js";
import { channelName, formatShortDay, t } from "../i18n.js";

const DEBOUNCE_MS = 250;
const MAX_RESULTS = 60;
const CONTEXT_CHARS = 60; // before the first match

const query = signal(""); // the search text, kept while a result is shown

export function ChatSearch({ onClose, onLeave, onShow }) {
  const field = useRef(null);
  const [results, setResults] = useState(null);
  const [error, setError] = useState("");
  useLayoutEffect(() => {
    field.current.focus(); // synchronously, so that the next key already goes here
    field.current.select();
  }, []);
  const search = async (words, cursor) => {
    const deletionCount = store.rewriteCount.value;
    try {
      const page = words.trim() ? await api.searchMessages(words, cursor) : null;
      if (words !== query.value || deletionCount !== store.rewriteCount.value) return;
      setResults((previous) => page && { words, items: [...(cursor ? previous.items : []), ...page.items].slice(0, MAX_RESULTS), next: page.next });
      setError("");
    } catch (failure) {
      setError(failure.status ? failure.message : t("lost"));
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => search(query.value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [query.value, store.rewriteCount.value]);
  useLayoutEffect(() => setResults(null), [store.rewriteCount.value]);
  const leave = () => {
    onLeave();
    onClose();
  };
  const openFirstOnEnter = (event) => {
    if (event.key === "Enter" && !event.isComposing && results?.words === query.value && results.items.length) show(results.items[0].id);
  };
  const show = (id) => {
    onClose();
    onShow(id);
  };
  return html`<section class="talk-search" role="search" onKeyDown=${({ key }) => key === "Escape" && leave()}>
    <p class="choices"><input ref=${field} class="search" type="search" value=${query.value} placeholder=${t("talk_search")} aria-label=${t("talk_search")}
      onInput=${({ target }) => (query.value = target.value)} onKeyDown=${openFirstOnEnter} /><button class="quiet" onClick=${leave}>${t("close")}</button></p>
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    <p class="visually-hidden" role="status">${results && t("talk_found", { count: results.items.length })}</p>
    ${results && !results.items.length && html`<p class="empty">${t("search_none", { words: results.words })}</p>`}
    ${results?.items.length > 0 && html`<ul role="list" class="found">${results.items.map((each) => html`<li key=${each.id}><button class="words" onClick=${() => show(each.id)}>
      <span class="meta">${each.role === "person" ? t("you") : each.speaker}, ${formatShortDay(each.at)}
        ${each.channel !== "web" && html` <span class="pill channel">${channelName(each.channel)}</span>`}</span>
      <${Excerpt} text=${each.text} words=${query.value} /></button></li>`)}</ul>`}
    ${results?.next && results.items.length < MAX_RESULTS && html`<button class="quiet earlier" onClick=${() => search(query.value, results.next)}>${t("earlier")}</button>`}
  </section>`;
}

/** An excerpt of a text around the first match, with all matches marked. */
function Excerpt({ text, words }) {
  const terms = words.trim().split(/\s+/).map((each) => each.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(${terms.join("|")})`, "iu");
  const matchIndex = text.search(pattern);
  const start = Math.max(matchIndex - CONTEXT_CHARS, 0);
  const parts = `${start ? "…" : ""}${text.slice(start, start + 4 * CONTEXT_CHARS)}`.split(new RegExp(pattern, "giu"));
  return html`<span class="excerpt">${parts.map((part, index) => (index % 2 ? html`<mark>${part}</mark>` : part))}</span>`;
}
