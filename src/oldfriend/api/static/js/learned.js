// What was learned, from which words: as it happens, each to be kept, called wrong, or forgotten.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { api, CHANGED } from "./api.js";
import { showWords } from "./chat.js";
import { useCover } from "./focus.js";
import { html } from "./html.js";
import { KindIcon } from "./icons.js";
import { follow, go } from "./places.js";
import * as store from "./store.js";
import { shortDayOf, t } from "./words.js";

const TYPING_MS = 250;
const UNDO_MS = 30_000;

export function Learned() {
  const [found, setFound] = useState(null);
  useEffect(() => setFound(null), [store.rewritten.value]);
  const close = () => (store.isTimelineOpen.value = false);
  const cover = useCover(store.isTimelineOpen.value, close, () => Boolean(store.drawer.value));
  const shown = found ?? store.learned.value;
  return html`<aside class=${`learned ${store.isTimelineOpen.value ? "is-open" : ""}`} tabindex="-1" ref=${cover} aria-label=${t("learned")}>
    <header><h2>${t("learned")}</h2>
      <button class="quiet only-phone" onClick=${close}>${t("close")}</button></header>
    <${Search} onFound=${setFound} />
    <${Thinking} />
    ${shown.length === 0 && html`<p class="empty">${t(found ? "search_none" : "learned_empty")}</p>`}
    ${!found && html`<${ReadNow} />`}
    <ul role="list" aria-live="polite">${rowsOf(shown)}</ul>
    ${!found && store.earlierLearned.value &&
    html`<button class="quiet earlier" onClick=${store.loadEarlierLearned}>${t("earlier")}</button>`}
    ${!found && shown.length >= store.MOST_LEARNED && html`<a href="/memory" onClick=${follow}>${t("learned_all")}</a>`}
  </aside>`;
}

/** What was learned; where something was just called wrong, the way back stands in its place. */
function rowsOf(shown) {
  const taken = store.takenBack.value;
  const rows = shown
    .map((each, place) => each.belief.id !== taken?.belief.id && html`<${Line} key=${each.belief.id} decided=${each} place=${place} />`)
    .filter(Boolean);
  return taken ? rows.toSpliced(taken.place, 0, html`<${TakenBack} key="taken-back" belief=${taken.belief} />`) : rows;
}

/** On a phone: the last thing that was learned, above where one writes. */
export function Strip() {
  const decided = store.latest.value ?? store.learned.value[0];
  return decided && html`<button class="strip only-phone" onClick=${() => (store.isTimelineOpen.value = true)}>
    <${KindIcon} kind=${decided.belief.kind} /><span>${t("learned_open", { text: decided.belief.text })}</span></button>`;
}

/** What goes on behind the talk, while it does. */
function Thinking() {
  const now = store.progress.value;
  if (!now) return null;
  const days = now.since && (shortDayOf(now.since) === shortDayOf(now.until) ? shortDayOf(now.since) : `${shortDayOf(now.since)} – ${shortDayOf(now.until)}`);
  const cost = now.cost_usd ? t("thinking_cost", { cents: (now.cost_usd * 100).toFixed(1) }) : "";
  const told = !now.of
    ? t("thinking_over")
    : now.waits_until
      ? t("thinking_waits", { when: shortDayOf(now.waits_until), left: now.of - now.read })
      : t("thinking_about", { days, read: now.read, of: now.of, cost });
  return html`<p class="behind" role="status">${now.of > 0 && html`<progress max=${now.of} value=${now.read} aria-hidden="true"></progress>`}<span>${told}</span></p>`;
}

/** Something was said that is not read yet: it is when the talk pauses, or now. */
function ReadNow() {
  const [told, setTold] = useState("");
  useEffect(() => void (store.hasUnread.value && setTold("")), [store.hasUnread.value]);
  useEffect(() => setTold((now) => (now === t("learned_waits") ? "" : now)), [store.learned.value.length]);
  const read = async () => {
    setTold(t("learned_reading"));
    try {
      const { waiting } = await api.readNow();
      await store.load(); // what was learned may come by event only later
      setTold(waiting ? t("learned_waits") : store.learned.value.length ? "" : t("learned_nothing"));
    } catch (problem) {
      setTold(problem.message || t("lost"));
    }
  };
  if (!told && !store.hasUnread.value) return null;
  return html`<p class="empty" role="status">${told || t("learned_later")} ${!told && html`<button class="quiet" onClick=${read}>${t("learned_now")}</button>`}</p>`;
}

function Search({ onFound }) {
  const timer = useRef(0);
  const look = ({ target }) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(async () => {
      const words = target.value.trim();
      const answer = words && (await api.search(words).catch(() => null));
      if (words === target.value.trim()) onFound(answer ? answer.items.map((belief) => ({ belief, at: belief.learned_at })) : null);
    }, TYPING_MS);
  };
  return html`<input class="search" type="search" placeholder=${t("search")} aria-label=${t("search")} onInput=${look} />`;
}

function Line({ decided, place }) {
  const { belief, isNew, source } = decided;
  const status = ["tentative", "disputed"].includes(belief.status) && t(`status_${belief.status}`);
  return html`<li class=${`belief ${isNew ? "is-new" : ""}`}>
    <${KindIcon} kind=${belief.kind} />
    <div><p class="text">${belief.text} ${status && html`<span class="pill">${status}</span>`}</p>
      ${belief.words.slice(0, 2).map((words) => html`<${Words} key=${words.message + words.quote} words=${words} />`)}
      ${source && html`<p class="meta">${t(source === "reflection" ? "thought_reflection" : "thought_tick")}</p>`}
      ${!belief.words.length && belief.is_by_person && html`<p class="meta">${t("learned_you")}</p>`}
      <${Choices} belief=${belief} place=${place} /></div>
  </li>`;
}

function Words({ words }) {
  return html`<button class="words" onClick=${() => showWords(words.message)}>
    <q>${words.quote}</q> <time datetime=${words.at}>${shortDayOf(words.at)}</time></button>`;
}

function Choices({ belief, place }) {
  return html`<p class="choices">
    ${belief.is_by_person
      ? html`<span class="good">${t("kept")}</span>`
      : html`<button class="quiet" onClick=${() => judge(belief, "confirm")}>${t("keep")}</button>`}
    <button class="quiet" onClick=${() => reject(belief, place)}>${t("wrong")}</button>
    <button class="quiet" onClick=${() => go(`/forget/${belief.id}`)}>${t("forget")}</button></p>`;
}

function TakenBack({ belief }) {
  const button = useRef(null);
  useLayoutEffect(() => document.activeElement === document.body && button.current.focus({ preventScroll: true }), []); // what one has pressed is gone
  return html`<li class="taken-back"><span role="status">${t("wrong_done", { text: belief.text })}</span>
    <button ref=${button} onClick=${() => judge(belief, "unreject")}>${t("undo")}</button></li>`;
}

let forgetting = 0;

/** Have it decided; how it is then, or null where it could not be. */
async function judge(belief, verdict) {
  clearTimeout(forgetting);
  store.takenBack.value = null;
  const opener = document.activeElement;
  try {
    return await api.judge(belief, verdict);
  } catch (problem) {
    store.drawer.value = { kind: "problem", opener, text: await whyNot(belief, problem) };
    return null;
  }
}

/** It is not so; for a while that can be taken back where it stood. @param {any} belief @param {number} place */
async function reject(belief, place) {
  const after = await judge(belief, "reject");
  if (!after) return;
  store.takenBack.value = { belief: after, place };
  forgetting = setTimeout(() => (store.takenBack.value = null), UNDO_MS);
}

/** Why it was not done, in words; where somebody else was quicker, how it reads now is shown. */
async function whyNot(belief, problem) {
  if (problem.status !== CHANGED) return problem.status ? problem.message : t("lost");
  const now = await api.belief(belief.id).catch(() => null);
  if (now) store.learn({ ...store.learned.value.find((each) => each.belief.id === now.id), belief: now }, false);
  return t("memory_changed_by_other");
}
