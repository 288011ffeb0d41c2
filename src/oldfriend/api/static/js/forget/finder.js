// Search for a message or a belief to forget.
import { useEffect, useState } from "../../vendor/hooks.js";
import { api } from "../api.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import * as store from "../store.js";
import { formatShortDay, t } from "../i18n.js";
import { selection, addToSelection } from "./selection.js";

const DEBOUNCE_MS = 300;
const MAX_RESULTS = 6; // messages, and as many beliefs

/** @param {{keepFocus: (loading: Promise<void>) => void}} props */
export function Finder({ keepFocus }) {
  const [query, setQuery] = useState("");
  const [results, setResults] = useState(null);
  const [error, setError] = useState("");
  useEffect(() => {
    setResults(null);
    if (!query.trim()) return undefined;
    let isCurrent = true;
    const search = async () => {
      try {
        const [messages, beliefs] = await Promise.all([api.findMessages(query), api.searchBeliefs(query)]);
        if (isCurrent) setResults([...beliefs.items.slice(0, MAX_RESULTS), ...messages.items.slice(0, MAX_RESULTS)]);
        setError("");
      } catch (failure) {
        setError(failure.message || t("lost"));
      }
    };
    const timer = setTimeout(search, DEBOUNCE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query, store.rewriteCount.value]);
  const selectable = results?.filter((each) => !selection.value.ids?.includes(each.id));
  return html`<label class="field"><span>${t("forget_find")}</span>
      <input type="search" value=${query} onInput=${({ target }) => setQuery(target.value)} /></label>
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    ${results && !results.length && html`<p class="empty">${t("search_none", { words: query.trim() })}</p>`}
    <ul role="list" class="offered" aria-live="polite">${selectable?.map((each) => html`<li key=${each.id}>
      ${each.kind ? html`<${KindIcon} kind=${each.kind} /> <span lang=${each.sentence_language}>${each.sentence}</span>` : html`<q>${each.text}</q> <span class="meta">${each.speaker}, ${formatShortDay(each.at)}</span>`}${" "}
      <button class="quiet" aria-label=${`${t("forget_this")}: ${each.text}`} onClick=${() => keepFocus(addToSelection(each.id))}>${t("forget_this")}</button></li>`)}</ul>`;
}
