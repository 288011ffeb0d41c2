// What was learned, with the words it was learned from, to be kept, rejected or forgotten.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { api, PRECONDITION_FAILED } from "./api.js";
import { showMessage } from "./chat.js";
import { announce, useModalFocus } from "./focus.js";
import { html } from "./html.js";
import { ActionIcon, KindIcon } from "./icons.js";
import { followLink, navigate } from "./router.js";
import * as store from "./store.js";
import { formatShortDay, isSaidIn, t, formatWeekday } from "./i18n.js";

const DEBOUNCE_MS = 250;
const UNDO_MS = 30_000;
const QUOTE_KEY = "in_own_words"; // of beliefs that only hold the person's words

export function Learned() {
  const [search, setSearch] = useState(null); // {words, items}
  useEffect(() => setSearch(null), [store.rewriteCount.value]);
  const results = search?.items;
  const close = () => (store.isTimelineOpen.value = false);
  const panel = useModalFocus(store.isTimelineOpen.value, close, () => Boolean(store.drawer.value));
  const entries = results ?? withRejected(store.learned.value);
  const newestCount = results ? entries.length : countNewestDay(entries);
  const [worded, quoted] = results ? [entries, []] : divideQuotes(entries.slice(0, newestCount));
  return html`<aside class=${`learned ${store.isTimelineOpen.value ? "is-open" : ""}`} tabindex="-1" ref=${panel} aria-label=${t("learned")}>
    <a class="skip" href="#learned-end">${t("learned_skip")}</a><header><h2>${t("learned")}</h2>
      <button class="quiet only-phone" onClick=${close}>${t("close")}</button></header>
    <${Search} onFound=${setSearch} />
    ${!results && html`<${Unconfirmed} />`}<${LearningStatus} />
    ${!results && html`<${FailedMessages} /><${LearnNow} />`}
    ${entries.length === 0 && html`<p class="empty">${results ? t("search_none", { words: search.words }) : t("learned_empty")}</p>`}
    <ul role="list" aria-live="polite">${renderRows(worded)}</ul>
    ${quoted.length > 0 && html`<details class="learned-before" open=${!worded.length}><summary>${t("learned_quotes", { count: quoted.length })}</summary>
      <ul role="list">${renderRows(quoted)}</ul></details>`}
    ${newestCount < entries.length && html`<details class="learned-before"><summary>${t("learned_before")}</summary>
      <ul role="list">${renderRows(entries.slice(newestCount))}</ul></details>`}
    ${!results && store.earlierLearned.value &&
    html`<button class="quiet earlier" onClick=${store.loadEarlierLearned}>${t("earlier")}</button>`}
    ${!results && entries.length >= store.MAX_LEARNED && html`<a href="/memory" onClick=${followLink}>${t("learned_all")}</a>`}
    <span id="learned-end" tabindex="-1"></span>
  </aside>`;
}

/** Counts the entries of the newest day; entries are sorted newest first. @param {{at: string}[]} entries */
function countNewestDay(entries) {
  const dayOf = ({ at }) => new Date(at).toDateString();
  const firstOlder = entries.findIndex((each) => dayOf(each) !== dayOf(entries[0]));
  return firstOlder < 0 ? entries.length : firstOlder;
}

/** Divides entries into those that say something, and those that only repeat a message of the person, unless one of
 * the first was learned from all of these words. @param {any[]} entries */
function divideQuotes(entries) {
  const isQuote = ({ belief }) => belief.key === QUOTE_KEY && !belief.is_by_person;
  const worded = entries.filter((each) => !isQuote(each));
  const quotes = worded.flatMap(({ belief }) => belief.words);
  const isTold = ({ belief }) => quotes.some((quote) => belief.words.some((own) => own.message === quote.message && isSaidIn(quote.quote, own)));
  return [worded, entries.filter((each) => isQuote(each) && !isTold(each))];
}

/** Returns the entries with the just rejected one kept in its place. @param {any[]} entries */
function withRejected(entries) {
  const rejection = store.rejected.value;
  if (!rejection?.decided || entries.some((each) => each.belief.id === rejection.belief.id)) return entries;
  return entries.toSpliced(rejection.index, 0, rejection.decided);
}

/** Renders entries; the just rejected one is replaced by an undo row. @param {any[]} entries */
function renderRows(entries) {
  const rejection = store.rejected.value;
  return entries.map((each) => each.belief.id === rejection?.belief.id
    ? html`<${RejectedRow} key="taken-back" text=${rejection.belief.sentence} onUndo=${() => undoReject(rejection)} />`
    : html`<${LearnedRow} key=${each.belief.id} entry=${each} />`);
}

/** On a phone, a strip above the composer: the first unconfirmed belief, else the latest learned one. */
export function LearnedStrip() {
  const entry = store.latestLearned.value ?? store.learned.value[0];
  const { items, total } = store.unconfirmed.value;
  const belief = items[0] ?? entry?.belief;
  const text = items.length ? t("doubts_open", { count: total }) : entry && t("learned_open", { text: entry.belief.sentence });
  return belief && html`<button class="strip only-phone" onClick=${() => (store.isTimelineOpen.value = true)}>
    <${KindIcon} kind=${belief.kind} /><span>${text}</span></button>`;
}

/** The progress of learning in the background; null while nothing runs. */
function LearningStatus() {
  const progress = store.progress.value;
  if (!progress) return null;
  const days = progress.since && [...new Set([formatWeekday(progress.since), formatWeekday(progress.until)])].join(" – ");
  const cost = progress.cost_usd ? t("thinking_cost", { cents: Math.round(progress.cost_usd * 1000) / 10 }) : "";
  const text = !progress.of
    ? t("thinking_over")
    : progress.waits_until
      ? t("thinking_waits", { when: formatShortDay(progress.waits_until), left: progress.of - progress.read })
      : t("thinking_about", { days, read: progress.read, of: progress.of, cost });
  return html`<p class="behind" role="status">${progress.of > 0 && html`<progress max=${progress.of} value=${progress.read} aria-hidden="true"></progress>`}<span>${text}</span></p>`;
}

/** How many messages could not be learned from, with a button to retry. */
function FailedMessages() {
  const [error, setError] = useState("");
  const count = store.state.value.unread_failed;
  const retry = async () => {
    setError("");
    try {
      await api.learnNow();
      await store.loadState();
    } catch (failure) {
      setError(failure.message || t("lost"));
    }
  };
  if (!count) return null;
  return html`<p class="behind failed" role="status"><span>${t(count === 1 ? "learned_failed_one" : "learned_failed", { count })}</span>
    <button onClick=${retry}>${t("try_again")}</button>${error && html`<span class="bad" role="alert">${error}</span>`}</p>`;
}

/** Messages that are not learned from yet, with a button to learn now instead of after a pause in the chat. */
function LearnNow() {
  const [status, setStatus] = useState("");
  useEffect(() => void (store.hasUnlearned.value && setStatus("")), [store.hasUnlearned.value]);
  useEffect(() => setStatus((current) => (current === t("learned_waits") ? "" : current)), [store.learned.value.length]);
  const learnNow = async () => {
    setStatus(t("learned_reading"));
    try {
      const { waiting } = await api.learnNow();
      await store.load(); // the event of what was learned may arrive later
      setStatus(waiting ? t("learned_waits") : store.learned.value.length ? "" : t("learned_nothing"));
    } catch (failure) {
      setStatus(failure.message || t("lost"));
    }
  };
  if (!status && !store.hasUnlearned.value) return null;
  return html`<p class="empty" role="status">${status || t("learned_later")} ${!status && html`<button class="quiet" onClick=${learnNow}>${t("learned_now")}</button>`}</p>`;
}

/** Unconfirmed beliefs with their quotes, to be confirmed or rejected. They stand above lists that change by themselves. */
function Unconfirmed() {
  const [answered, setAnswered] = useState([]); // {belief, verdict, height in px}: answered rows keep their place and height, so that no button moves under a finger
  const order = useRef([]);
  useEffect(() => setAnswered([]), [store.rewriteCount.value]);
  useEffect(() => {
    const timer = answered.length && setTimeout(() => setAnswered([]), UNDO_MS);
    return () => clearTimeout(timer);
  }, [answered]);
  const { items, total } = store.unconfirmed.value;
  const decide = async (belief, verdict, height) => {
    const updated = await sendVerdict(belief, verdict);
    const others = (current) => current.filter((each) => each.belief.id !== belief.id);
    if (updated) setAnswered((current) => (verdict === "unreject" ? others(current) : [...others(current), { belief: updated, verdict, height }]));
    await store.loadUnconfirmed();
  };
  if (!items.length && !answered.length) return null;
  const answersById = new Map(answered.map((each) => [each.belief.id, each]));
  const itemsById = new Map(items.map((each) => [each.id, each]));
  order.current = [...new Set([...order.current, ...itemsById.keys()])].filter((id) => itemsById.has(id) || answersById.has(id));
  return html`<section class="doubts" aria-label=${t("doubts")}>
    <h3>${t("doubts")}</h3><p class="meta">${t("doubts_hint")}</p>
    <ul role="list">${order.current.map((id) =>
      answersById.has(id)
        ? html`<${AnsweredRow} key=${`answered-${id}`} answer=${answersById.get(id)} onUndo=${() => decide(answersById.get(id).belief, "unreject", 0)} />`
        : html`<${UnconfirmedRow} key=${id} belief=${itemsById.get(id)} decide=${(verdict, height) => decide(itemsById.get(id), verdict, height)} />`)}</ul>
    ${items.length < total &&
    html`<button class="quiet" onClick=${() => store.loadUnconfirmed(true)}>${t("doubts_all", { count: total })}</button>`}
  </section>`;
}

function UnconfirmedRow({ belief, decide }) {
  const row = useRef(null);
  const answer = (verdict) => decide(verdict, row.current.offsetHeight);
  return html`<li class="belief" ref=${row}>
    <${KindIcon} kind=${belief.kind} />
    <div><p class="text" lang=${belief.sentence_language}>${belief.sentence}</p>
      ${belief.words.slice(0, 2).map((quote) => html`<${Quote} key=${quote.message + quote.quote} quote=${quote} sentence=${belief.sentence} />`)}
      <p class="choices"><button class="quiet" onClick=${() => answer("confirm")}>${t("doubt_yes")}</button>
        <button class="quiet" onClick=${() => answer("reject")}>${t("doubt_no")}</button>
        <button class="quiet" onClick=${() => navigate(`/forget/${belief.id}`)}>${t("forget")}</button></p></div>
  </li>`;
}

/** A row that was just answered, as high as it was before. */
function AnsweredRow({ answer, onUndo }) {
  const style = { minHeight: `${answer.height}px` };
  if (answer.verdict === "reject") return html`<${RejectedRow} text=${answer.belief.sentence} onUndo=${onUndo} style=${style} />`;
  return html`<li class="taken-back" style=${style}><span role="status">${t("doubt_confirmed", { text: answer.belief.sentence })}</span></li>`;
}

function Search({ onFound }) {
  const timer = useRef(0);
  const search = ({ target }) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(async () => {
      const words = target.value.trim();
      const answer = words && (await api.searchBeliefs(words).catch(() => null));
      if (words === target.value.trim()) onFound(answer ? { words, items: answer.items.map((belief) => ({ belief, at: belief.learned_at })) } : null);
    }, DEBOUNCE_MS);
  };
  return html`<input class="search" type="search" placeholder=${t("search")} aria-label=${t("search")} onInput=${search} />`;
}

function LearnedRow({ entry }) {
  const { belief, isNew, source } = entry;
  const status = ["tentative", "disputed"].includes(belief.status) && belief.sentence === belief.text && t(`status_${belief.status}`);
  return html`<li class=${`belief ${isNew ? "is-new" : ""}`}>
    <${KindIcon} kind=${belief.kind} />
    <div><p class="text"><span lang=${belief.sentence_language}>${belief.sentence}</span> ${status && html`<span class="pill">${status}</span>`}</p>
      ${belief.words.slice(0, 2).map((quote) => html`<${Quote} key=${quote.message + quote.quote} quote=${quote} sentence=${belief.sentence} />`)}
      ${source && html`<p class="meta">${t(source === "reflection" ? "thought_reflection" : "thought_tick")}</p>`}
      ${!belief.words.length && belief.is_by_person && html`<p class="meta">${t("learned_you")}</p>`}
      <${Actions} belief=${belief} /></div>
  </li>`;
}

function Quote({ quote, sentence }) {
  const message = store.messages.value.find(({ id }) => id === quote.message);
  const isReworded = message?.version > 1 && !message.text.includes(quote.quote); // and not read again yet
  return html`<button class="words" onClick=${() => showMessage(quote.message)}>
    ${!isSaidIn(sentence, quote) && html`<q>${quote.quote}</q> `}<time datetime=${quote.at}>${formatShortDay(quote.at)}</time>${isReworded && html` <span class="meta">${t("learned_reworded")}</span>`}${quote.diary_day && html` <span class="meta">${t("learned_diary", { day: formatShortDay(`${quote.diary_day}T12:00`) })}</span>`}</button>`;
}

function Actions({ belief }) {
  const actionButton = (name, onClick) => html`<button class="deed-icon" aria-label=${t(name)} onClick=${onClick}><${ActionIcon} name=${name} /><span class="deed-name" aria-hidden="true">${t(name)}</span></button>`;
  return html`<p class="choices">
    ${belief.is_by_person ? html`<span class="good">${t("kept")}</span>` : actionButton("keep", () => sendVerdict(belief, "confirm"))}
    ${actionButton("wrong", () => reject(belief))}${actionButton("forget", () => navigate(`/forget/${belief.id}`))}</p>`;
}

function RejectedRow({ text, onUndo, style = {} }) {
  const button = useRef(null);
  useLayoutEffect(() => document.activeElement === document.body && button.current.focus({ preventScroll: true }), []); // the pressed button is gone
  return html`<li class="taken-back" style=${style}><span role="status">${t("wrong_done", { text })}</span>
    <button ref=${button} onClick=${onUndo}>${t("undo")}</button></li>`;
}

let undoTimer = 0;

/** Sends a verdict on a belief; returns the updated belief, or null if it failed. */
async function sendVerdict(belief, verdict) {
  clearTimeout(undoTimer);
  store.rejected.value = null;
  const opener = document.activeElement;
  try {
    const updated = await api.sendVerdict(belief, verdict);
    if (verdict === "confirm") announce(t("doubt_confirmed", { text: belief.sentence }));
    return updated;
  } catch (failure) {
    store.drawer.value = { kind: "problem", opener, text: await explainFailure(belief, failure) };
    return null;
  }
}

/** Rejects a belief; for UNDO_MS an undo row stands in its place. @param {any} belief */
async function reject(belief) {
  const index = store.learned.value.findIndex((each) => each.belief.id === belief.id);
  const done = sendVerdict(belief, "reject");
  store.rejected.value = { belief, decided: store.learned.value[index], index, done }; // set before the response, since the event may arrive first
  if (await done) undoTimer = setTimeout(() => (store.rejected.value = null), UNDO_MS);
  else store.rejected.value = null;
}

/** Takes a rejection back and puts the belief in its old place. @param {{decided: any, index: number, done: Promise<any>}} rejection */
async function undoReject({ decided, index, done }) {
  const updated = await done;
  if (!updated) return;
  const isThere = store.learned.value.some((each) => each.belief.id === decided?.belief.id); // the event of the rejection may not have come
  if (decided && !isThere) store.learned.value = store.learned.value.toSpliced(index, 0, decided);
  if (!(await sendVerdict(updated, "unreject"))) store.learned.value = store.learned.value.filter((each) => each !== decided);
}

/** Returns the error text of a verdict; if somebody else has changed the belief, also shows its current text. */
async function explainFailure(belief, failure) {
  if (failure.status !== PRECONDITION_FAILED) return failure.status ? failure.message : t("lost");
  const current = await api.getBelief(belief.id).catch(() => null);
  if (current) store.addLearned({ ...store.learned.value.find((each) => each.belief.id === current.id), belief: current }, false);
  return t("memory_changed_by_other");
}
