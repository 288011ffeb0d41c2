// Search for a message or a belief to forget.
import { useEffect, useState } from "../../vendor/hooks.js";
import { api } from "../api.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import * as store from "../store.js";
import { formatShortDay, t } from "../i18n.js";
import { selection, addToSelection } from "./selection.js";

const TYPING_MS = 300;
const MOST_SHOWN = 6; // of each

/** @param {{goOn: (seeing: Promise<void>) => void}} given */
export function Finder({ goOn }) {
  const [words, setWords] = useState("");
  const [found, setFound] = useState(null);
  const [why, setWhy] = useState("");
  useEffect(() => {
    setFound(null);
    if (!words.trim()) return undefined;
    let isWanted = true;
    const look = async () => {
      try {
        const [said, believed] = await Promise.all([api.searchTalk(words), api.search(words)]);
        if (isWanted) setFound([...believed.items.slice(0, MOST_SHOWN), ...said.items.slice(0, MOST_SHOWN)]);
        setWhy("");
      } catch (problem) {
        setWhy(problem.message || t("lost"));
      }
    };
    const timer = setTimeout(look, TYPING_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [words, store.rewritten.value]);
  const left = found?.filter((each) => !selection.value.ids?.includes(each.id));
  return html`<label class="field"><span>${t("forget_find")}</span>
      <input type="search" value=${words} onInput=${({ target }) => setWords(target.value)} /></label>
    ${why && html`<p class="bad" role="alert">${why}</p>`}
    ${found && !found.length && html`<p class="empty">${t("search_none", { words: words.trim() })}</p>`}
    <ul role="list" class="offered" aria-live="polite">${left?.map((each) => html`<li key=${each.id}>
      ${each.kind ? html`<${KindIcon} kind=${each.kind} /> ${each.sentence}` : html`<q>${each.text}</q> <span class="meta">${each.speaker}, ${formatShortDay(each.at)}</span>`}${" "}
      <button class="quiet" aria-label=${`${t("forget_this")}: ${each.text}`} onClick=${() => goOn(addToSelection(each.id))}>${t("forget_this")}</button></li>`)}</ul>`;
}
