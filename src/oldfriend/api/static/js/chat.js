// The Chat page: a window of the messages of all channels, replies being written, and the composer.
import { useEffect, useLayoutEffect, useRef } from "../vendor/hooks.js";
import { signal } from "../vendor/signals.js";
import { Composer } from "./chat/composer.js";
import { DraftReply, PendingMessage, ChatMessage } from "./chat/message.js";
import { ChatSearch } from "./chat/search.js";
import { useFocusReturn } from "./focus.js";
import { html } from "./html.js";
import { Down, SearchIcon } from "./icons.js";
import { findAddress, navigate, currentPage, followLink } from "./router.js";
import * as store from "./store.js";
import * as outbox from "./outbox.js";
import { formatDay, t } from "./i18n.js";

const NEAR_END_PX = 120;
const DAY_HEADING_PX = 48;
const PRELOAD_PX = 900; // distance from the end of the loaded messages at which more are loaded
const OVERLAY_QUERY = "(max-width: 1080px)"; // below this width panels cover the chat
const HIGHLIGHT_MS = 1600;

export function Chat({ strip }) {
  const [searchButton, restoreFocus] = useFocusReturn(isSearching.value);
  useEffect(() => () => void (isSearching.value = false), []);
  return html`<main class="chat">
    ${isSearching.value
      ? html`<${ChatSearch} onClose=${() => (isSearching.value = false)} onLeave=${restoreFocus} onShow=${showMessage} />`
      : html`<p class="talk-bar"><span>${visibleDay.value && formatDay(visibleDay.value)}</span>
          <button class="quiet" ref=${searchButton} aria-label=${t("talk_search")} title=${t("talk_search")} onClick=${openSearch}><${SearchIcon} /></button></p>`}
    <${MessageList} />
    ${strip}
    <${Composer} />
  </main>`;
}

const isSearching = signal(false);

/** Opens the message search, from any page. */
export function openSearch() {
  const open = () => void (isSearching.value = true);
  if (currentPage.value === "chat") return open();
  navigate(findAddress("chat"));
  setTimeout(open); // after the chat is rendered, since its composer takes the focus first
}

/** The scroll state, kept while another page is open: {isAtEnd, anchor, sending}; sending is the number of pending messages. @type {any} */
const savedScroll = { isAtEnd: true, anchor: null };

function MessageList() {
  const list = useRef(null);
  const scroll = useRef(savedScroll);
  const messages = store.messages.value;
  const sentKeys = new Set(messages.map((message) => message.key));
  const pending = outbox.pending.value.filter((each) => !sentKeys.has(each.key)); // the event may arrive before the response
  const sending = pending.length;
  if (sending > (scroll.current.sending ?? 0)) scroll.current.isAtEnd = true;
  scroll.current.sending = sending;
  const drafts = store.hasLater.value ? [] : Object.entries(store.drafts.value);
  const lastMessageIds = new Map(messages.map(({ turn, id }) => [turn, id]));
  /** Renders the drafts of the matching turns in the place of their replies; later messages stand below them. */
  const renderDrafts = (matchesTurn) =>
    drafts.filter(([turn]) => matchesTurn(turn)).map(([turn, draft]) => html`<${DraftReply} key=${turn} ...${draft} />`);
  const restorePosition = () => list.current && restoreScroll(list.current, scroll.current); // null after unmounting
  useLayoutEffect(() => {
    restorePosition();
    updateTabStops(list.current);
    showTarget(list.current, scroll.current);
    preloadNearEdge(list.current);
  });
  useEffect(() => {
    const observer = new ResizeObserver(restorePosition);
    observer.observe(list.current);
    observer.observe(list.current.firstElementChild);
    return () => observer.disconnect();
  }, []);
  const onScroll = () => {
    if (!list.current) return; // unmounted in the meantime
    saveScroll(list.current, scroll.current);
    preloadNearEdge(list.current);
  };
  const scrollToNewest = async () => {
    scroll.current.isAtEnd = true;
    if (store.hasLater.value) await store.showNewest();
    restorePosition();
  };
  return html`<div class="talk-frame"><div class="talk" ref=${list} onScroll=${onScroll} onFocusIn=${() => updateTabStops(list.current)}
      onKeyDown=${moveByArrows} role="log" aria-label=${t("conversation")} tabindex="0">
      <div class="lines">
        ${store.hasEarlier.value && html`<button class="quiet earlier" onClick=${() => loadMore("earlier")}>${t("earlier")}</button>`}
        ${messages.length === 0 && !sending &&
        html`<div class="welcome"><p>${t("welcome", { name: store.state.value.companion })}</p>
          ${store.state.value.is_new && !store.isFirstRunDone() && html`<p><a class="button" href="/welcome" onClick=${followLink}>${t("welcome_offer")}</a></p>`}</div>`}
        ${messages.map((message, index) => html`<${ChatMessage} key=${message.id} message=${message} previous=${messages[index - 1]} />
          ${renderDrafts((turn) => lastMessageIds.get(turn) === message.id)}`)}
        ${renderDrafts((turn) => !lastMessageIds.has(turn))}
        ${!drafts.length && store.awaitingReply.value &&
        html`<p class="aside" role="status">${t("thinking", { name: store.state.value.companion })}</p>`}
        ${pending.map((each) => html`<${PendingMessage} key=${each.key} name=${each.key} ...${each} />`)}
      </div>
    </div>
    ${(store.hasLater.value || !isNearEnd.value) && html`<button class="to-now" onClick=${scrollToNewest}><${Down} />
      ${store.unseenCount.value ? t("talk_unseen", { count: store.unseenCount.value }) : t("talk_now")}</button>`}</div>`;
}

const MESSAGE_CONTROLS = "article :is(button, a, summary, audio)";

/** Makes the buttons of one message reachable by Tab: the focused message, else the last one. */
function updateTabStops(list) {
  const articles = [...list.querySelectorAll("article")];
  const current = document.activeElement?.closest("article") ?? articles.at(-1);
  for (const each of list.querySelectorAll(MESSAGE_CONTROLS)) {
    if (each.closest("article") === current) each.removeAttribute("tabindex");
    else each.tabIndex = -1;
  }
}

/** Moves the focus from message to message by arrow keys. @param {any} event of a key */
function moveByArrows(event) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const { target, currentTarget } = event;
  if (!step || target.matches("input, textarea, audio") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const articles = [...currentTarget.querySelectorAll("article[id]")];
  const index = articles.indexOf(target.closest("article"));
  const next = index < 0 ? articles.at(-1) : articles[index + step];
  if (!next) return;
  event.preventDefault();
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

const isNearEnd = signal(true); // whether the newest messages are in view
const visibleDay = signal("");

/** Restores the scroll position: at the end, or with the anchor message where it was. */
function restoreScroll(list, scroll) {
  if (scroll.isAtEnd && !store.hasLater.value) {
    list.scrollTop = list.scrollHeight;
  } else if (scroll.anchor) {
    const anchorElement = document.getElementById(scroll.anchor.id);
    if (anchorElement) list.scrollTop += anchorElement.getBoundingClientRect().top - scroll.anchor.top;
  }
  saveScroll(list, scroll);
}

/** Saves the scroll position: the first visible message and its offset. */
function saveScroll(list, scroll) {
  const remaining = list.scrollHeight - list.scrollTop - list.clientHeight;
  scroll.isAtEnd = remaining < NEAR_END_PX && !store.hasLater.value;
  if (isNearEnd.value !== scroll.isAtEnd) isNearEnd.value = scroll.isAtEnd;
  const { top } = list.getBoundingClientRect();
  const first = [...list.querySelectorAll("article[id]")].find((each) => each.getBoundingClientRect().bottom > top);
  const isTop = !store.hasEarlier.value && list.scrollTop < DAY_HEADING_PX; // at the top, the heading of the day is visible itself
  const day = isTop ? "" : (first?.querySelector("time")?.dateTime ?? "");
  if (visibleDay.value.slice(0, 10) !== day.slice(0, 10)) visibleDay.value = day;
  scroll.anchor = first ? { id: first.id, top: first.getBoundingClientRect().top } : null;
}

let isLoading = false;

/** Loads more messages when the scroll position is near either end of the loaded ones. */
function preloadNearEdge(list) {
  const below = list.scrollHeight - list.scrollTop - list.clientHeight;
  if (store.hasEarlier.value && list.scrollTop < PRELOAD_PX) loadMore("earlier");
  else if (store.hasLater.value && below < PRELOAD_PX) loadMore("later");
}

async function loadMore(side) {
  if (isLoading) return;
  isLoading = true;
  try {
    await store.loadMoreMessages(side);
  } catch {
    // The header shows the lost connection; scrolling retries.
  } finally {
    isLoading = false;
  }
}

let targetId = null;

/** Shows a message in the chat, loading the messages around it if needed. @param {string} id */
export async function showMessage(id) {
  if (matchMedia(OVERLAY_QUERY).matches) store.drawer.value = null;
  store.isTimelineOpen.value = false;
  targetId = id;
  if (currentPage.value !== "chat") navigate(findAddress("chat"));
  if (!store.messages.value.some((each) => each.id === id)) {
    try {
      await store.showAround(id);
    } catch (failure) {
      targetId = null;
      store.drawer.value = { kind: "problem", opener: document.activeElement, text: failure.message };
    }
  } else {
    store.messages.value = [...store.messages.value];
  }
}

/** Scrolls to the requested message once it is rendered, focuses it and highlights it. */
function showTarget(list, scroll) {
  const element = targetId && document.getElementById(`m-${targetId}`);
  if (!element) return;
  store.foundMessage.value = targetId;
  targetId = null;
  scroll.isAtEnd = false;
  element.scrollIntoView({ block: "center" });
  element.focus({ preventScroll: true });
  element.animate([{ background: "var(--accent-soft)" }, { background: "transparent" }], HIGHLIGHT_MS);
  saveScroll(list, scroll);
}
