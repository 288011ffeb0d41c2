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
const DAY_PX = 48;
const AHEAD_PX = 900; // so far before one reaches it more is read
const COVERED = "(max-width: 1080px)"; // what opens lies over the talk
const SHOWN_MS = 1600;

export function Chat({ strip }) {
  const [glass, comeBack] = useFocusReturn(isSearching.value);
  useEffect(() => () => void (isSearching.value = false), []);
  return html`<main class="chat">
    ${isSearching.value
      ? html`<${ChatSearch} onClose=${() => (isSearching.value = false)} onLeave=${comeBack} onShow=${showMessage} />`
      : html`<p class="talk-bar"><span>${dayInSight.value && formatDay(dayInSight.value)}</span>
          <button class="quiet" ref=${glass} aria-label=${t("talk_search")} title=${t("talk_search")} onClick=${openSearch}><${SearchIcon} /></button></p>`}
    <${Talk} />
    ${strip}
    <${Composer} />
  </main>`;
}

const isSearching = signal(false);

/** Search what was said, from wherever one is. */
export function openSearch() {
  const open = () => void (isSearching.value = true);
  if (currentPage.value === "chat") return open();
  navigate(findAddress("chat"));
  setTimeout(open); // once the talk is there, whose field takes the keyboard first
}

/** Where one reads, also while one is elsewhere: {isAtEnd, anchor, sending}. @type {any} */
const kept = { isAtEnd: true, anchor: null };

function Talk() {
  const list = useRef(null);
  const keeps = useRef(kept);
  const said = store.messages.value;
  const keys = new Set(said.map((message) => message.key));
  const pending = outbox.pending.value.filter((each) => !keys.has(each.key)); // its answer may still be on its way
  const sending = pending.length;
  if (sending > (keeps.current.sending ?? 0)) keeps.current.isAtEnd = true;
  keeps.current.sending = sending;
  const drafts = store.hasLater.value ? [] : Object.entries(store.drafts.value);
  const lastOf = new Map(said.map(({ turn, id }) => [turn, id]));
  /** Replies that are being written, each where it will stand: what is said meanwhile stands below it. */
  const draftsAbout = (isHere) =>
    drafts.filter(([turn]) => isHere(turn)).map(([turn, draft]) => html`<${DraftReply} key=${turn} ...${draft} />`);
  const settle = () => list.current && keepPlace(list.current, keeps.current); // not once one has gone
  useLayoutEffect(() => {
    settle();
    rove(list.current);
    showSought(list.current, keeps.current);
    readOn(list.current);
  });
  useEffect(() => {
    const watch = new ResizeObserver(settle);
    watch.observe(list.current);
    watch.observe(list.current.firstElementChild);
    return () => watch.disconnect();
  }, []);
  const onScroll = () => {
    if (!list.current) return; // one has gone in the meantime
    notePlace(list.current, keeps.current);
    readOn(list.current);
  };
  const toNow = async () => {
    keeps.current.isAtEnd = true;
    if (store.hasLater.value) await store.showNewest();
    settle();
  };
  return html`<div class="talk-frame"><div class="talk" ref=${list} onScroll=${onScroll} onFocusIn=${() => rove(list.current)}
      onKeyDown=${stepThrough} role="log" aria-label=${t("conversation")} tabindex="0">
      <div class="lines">
        ${store.hasEarlier.value && html`<button class="quiet earlier" onClick=${() => readMore("earlier")}>${t("earlier")}</button>`}
        ${said.length === 0 && !sending &&
        html`<div class="welcome"><p>${t("welcome", { name: store.state.value.companion })}</p>
          ${store.state.value.is_new && !store.isFirstRunDone() && html`<p><a class="button" href="/welcome" onClick=${followLink}>${t("welcome_offer")}</a></p>`}</div>`}
        ${said.map((message, place) => html`<${ChatMessage} key=${message.id} message=${message} before=${said[place - 1]} />
          ${draftsAbout((turn) => lastOf.get(turn) === message.id)}`)}
        ${draftsAbout((turn) => !lastOf.has(turn))}
        ${!drafts.length && store.waitingFor.value &&
        html`<p class="aside" role="status">${t("thinking", { name: store.state.value.companion })}</p>`}
        ${pending.map((each) => html`<${PendingMessage} key=${each.key} name=${each.key} ...${each} />`)}
      </div>
    </div>
    ${(store.hasLater.value || !isNear.value) && html`<button class="to-now" onClick=${toNow}><${Down} />
      ${store.unseenCount.value ? t("talk_unseen", { count: store.unseenCount.value }) : t("talk_now")}</button>`}</div>`;
}

const PRESSED = "article :is(button, a, summary, audio)";

/** Of all messages one has its buttons in the order of Tab: the one that has the keyboard, else the last. */
function rove(list) {
  const all = [...list.querySelectorAll("article")];
  const current = document.activeElement?.closest("article") ?? all.at(-1);
  for (const each of list.querySelectorAll(PRESSED)) {
    if (each.closest("article") === current) each.removeAttribute("tabindex");
    else each.tabIndex = -1;
  }
}

/** From message to message by arrows. @param {any} event of a key */
function stepThrough(event) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const { target, currentTarget } = event;
  if (!step || target.matches("input, textarea, audio") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const all = [...currentTarget.querySelectorAll("article[id]")];
  const at = all.indexOf(target.closest("article"));
  const next = at < 0 ? all.at(-1) : all[at + step];
  if (!next) return;
  event.preventDefault();
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

const isNear = signal(true); // the end of the talk is in sight
const dayInSight = signal("");

/** Stay where one is: at the end, or with the same words before the eyes. */
function keepPlace(list, keeps) {
  if (keeps.isAtEnd && !store.hasLater.value) {
    list.scrollTop = list.scrollHeight;
  } else if (keeps.anchor) {
    const there = document.getElementById(keeps.anchor.id);
    if (there) list.scrollTop += there.getBoundingClientRect().top - keeps.anchor.top;
  }
  notePlace(list, keeps);
}

/** Note which words stand first in sight, and where. */
function notePlace(list, keeps) {
  const left = list.scrollHeight - list.scrollTop - list.clientHeight;
  keeps.isAtEnd = left < NEAR_END_PX && !store.hasLater.value;
  if (isNear.value !== keeps.isAtEnd) isNear.value = keeps.isAtEnd;
  const { top } = list.getBoundingClientRect();
  const first = [...list.querySelectorAll("article[id]")].find((each) => each.getBoundingClientRect().bottom > top);
  const isTop = !store.hasEarlier.value && list.scrollTop < DAY_PX; // there the day stands in the talk itself
  const day = isTop ? "" : (first?.querySelector("time")?.dateTime ?? "");
  if (dayInSight.value.slice(0, 10) !== day.slice(0, 10)) dayInSight.value = day;
  keeps.anchor = first ? { id: first.id, top: first.getBoundingClientRect().top } : null;
}

let isReading = false;

/** Read more where one comes near the end of what was read. */
function readOn(list) {
  const below = list.scrollHeight - list.scrollTop - list.clientHeight;
  if (store.hasEarlier.value && list.scrollTop < AHEAD_PX) readMore("earlier");
  else if (store.hasLater.value && below < AHEAD_PX) readMore("later");
}

async function readMore(side) {
  if (isReading) return;
  isReading = true;
  try {
    await store.loadMoreMessages(side);
  } catch {
    // The connection is told of above; scrolling on tries again.
  } finally {
    isReading = false;
  }
}

let sought = null;

/** Bring words before the eyes, however far back they are. @param {string} id */
export async function showMessage(id) {
  if (matchMedia(COVERED).matches) store.drawer.value = null;
  store.isTimelineOpen.value = false;
  sought = id;
  if (currentPage.value !== "chat") navigate(findAddress("chat"));
  if (!store.messages.value.some((each) => each.id === id)) {
    try {
      await store.showAround(id);
    } catch (problem) {
      sought = null;
      store.drawer.value = { kind: "problem", opener: document.activeElement, text: problem.message };
    }
  } else {
    store.messages.value = [...store.messages.value];
  }
}

/** What is sought is scrolled to once it is there, and lights up. */
function showSought(list, keeps) {
  const found = sought && document.getElementById(`m-${sought}`);
  if (!found) return;
  store.foundMessage.value = sought;
  sought = null;
  keeps.isAtEnd = false;
  found.scrollIntoView({ block: "center" });
  found.focus({ preventScroll: true });
  found.animate([{ background: "var(--accent-soft)" }, { background: "transparent" }], SHOWN_MS);
  notePlace(list, keeps);
}
