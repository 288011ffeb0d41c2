// Search in the messages of all channels, while typing.
import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/hooks.js";
import { api } from "../api.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { signal } from "../../vendor/signals.js";
import { channelName, formatShortDay, t } from "../i18n.js";

const TYPING_MS = 250;
const MOST_SHOWN = 60;
const AROUND = 60; // characters before what was found

const sought = signal(""); // kept while one looks at what was found

export function ChatSearch({ onClose, onLeave, onShow }) {
  const field = useRef(null);
  const [found, setFound] = useState(null);
  const [why, setWhy] = useState("");
  useLayoutEffect(() => {
    field.current.focus(); // before the next key is pressed
    field.current.select();
  }, []);
  const look = async (words, cursor) => {
    const forgotten = store.rewritten.value;
    try {
      const page = words.trim() ? await api.searchTalk(words, cursor) : null;
      if (words !== sought.value || forgotten !== store.rewritten.value) return;
      setFound((before) => page && { words, items: [...(cursor ? before.items : []), ...page.items].slice(0, MOST_SHOWN), next: page.next });
      setWhy("");
    } catch (problem) {
      setWhy(problem.status ? problem.message : t("lost"));
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => look(sought.value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [sought.value, store.rewritten.value]);
  useLayoutEffect(() => setFound(null), [store.rewritten.value]);
  const leave = () => {
    onLeave();
    onClose();
  };
  const toFirst = (event) => {
    if (event.key === "Enter" && !event.isComposing && found?.words === sought.value && found.items.length) show(found.items[0].id);
  };
  const show = (id) => {
    onClose();
    onShow(id);
  };
  return html`<section class="talk-search" role="search" onKeyDown=${({ key }) => key === "Escape" && leave()}>
    <p class="choices"><input ref=${field} class="search" type="search" value=${sought.value} placeholder=${t("talk_search")} aria-label=${t("talk_search")}
      onInput=${({ target }) => (sought.value = target.value)} onKeyDown=${toFirst} /><button class="quiet" onClick=${leave}>${t("close")}</button></p>
    ${why && html`<p class="bad" role="alert">${why}</p>`}
    <p class="visually-hidden" role="status">${found && t("talk_found", { count: found.items.length })}</p>
    ${found && !found.items.length && html`<p class="empty">${t("search_none", { words: found.words })}</p>`}
    ${found?.items.length > 0 && html`<ul role="list" class="found">${found.items.map((each) => html`<li key=${each.id}><button class="words" onClick=${() => show(each.id)}>
      <span class="meta">${each.role === "person" ? t("you") : each.speaker}, ${formatShortDay(each.at)}
        ${each.channel !== "web" && html` <span class="pill channel">${channelName(each.channel)}</span>`}</span>
      <${Excerpt} text=${each.text} words=${sought.value} /></button></li>`)}</ul>`}
    ${found?.next && found.items.length < MOST_SHOWN && html`<button class="quiet earlier" onClick=${() => look(sought.value, found.next)}>${t("earlier")}</button>`}
  </section>`;
}

/** A piece of a text with what was sought in it marked. */
function Excerpt({ text, words }) {
  const sought = words.trim().split(/\s+/).map((each) => each.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(${sought.join("|")})`, "iu");
  const at = text.search(pattern);
  const start = Math.max(at - AROUND, 0);
  const parts = `${start ? "…" : ""}${text.slice(start, start + 4 * AROUND)}`.split(new RegExp(pattern, "giu"));
  return html`<span class="excerpt">${parts.map((part, place) => (place % 2 ? html`<mark>${part}</mark>` : part))}</span>`;
}
