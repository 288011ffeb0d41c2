// What was learned, with the words it was learned from, to be kept, rejected or forgotten.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { api, PRECONDITION_FAILED } from "./api.js";
import { showMessage } from "./chat.js";
import { useModalFocus } from "./focus.js";
import { html } from "./html.js";
import { ActionIcon, KindIcon } from "./icons.js";
import { followLink, navigate } from "./router.js";
import * as store from "./store.js";
import { formatShortDay, t, formatWeekday } from "./i18n.js";

const TYPING_MS = 250;
const UNDO_MS = 30_000;

export function Learned() {
  const [sought, setSought] = useState(null); // {words, items}
  useEffect(() => setSought(null), [store.rewritten.value]);
  const found = sought?.items;
  const close = () => (store.isTimelineOpen.value = false);
  const cover = useModalFocus(store.isTimelineOpen.value, close, () => Boolean(store.drawer.value));
  const shown = found ?? withTakenBack(store.learned.value);
  const before = found ? shown.length : countOfLastDay(shown);
  return html`<aside class=${`learned ${store.isTimelineOpen.value ? "is-open" : ""}`} tabindex="-1" ref=${cover} aria-label=${t("learned")}>
    <header><h2>${t("learned")}</h2>
      <button class="quiet only-phone" onClick=${close}>${t("close")}</button></header>
    <${Search} onFound=${setSought} />
    ${!found && html`<${Unconfirmed} />`}<${Thinking} />
    ${!found && html`<${Failed} /><${ReadNow} />`}
    ${shown.length === 0 && html`<p class="empty">${found ? t("search_none", { words: sought.words }) : t("learned_empty")}</p>`}
    <ul role="list" aria-live="polite">${rowsOf(shown.slice(0, before))}</ul>
    ${before < shown.length && html`<details class="learned-before"><summary>${t("learned_before")}</summary>
      <ul role="list">${rowsOf(shown.slice(before))}</ul></details>`}
    ${!found && store.earlierLearned.value &&
    html`<button class="quiet earlier" onClick=${store.loadEarlierLearned}>${t("earlier")}</button>`}
    ${!found && shown.length >= store.MOST_LEARNED && html`<a href="/memory" onClick=${followLink}>${t("learned_all")}</a>`}
  </aside>`;
}

/** How much was learned on the last day on which anything was; the latest stands first. @param {{at: string}[]} shown */
function countOfLastDay(shown) {
  const dayOf = ({ at }) => new Date(at).toDateString();
  const other = shown.findIndex((each) => dayOf(each) !== dayOf(shown[0]));
  return other < 0 ? shown.length : other;
}

/** What was just called wrong keeps its place among what was learned, and with it the day that is the last.
 * @param {any[]} shown */
function withTakenBack(shown) {
  const taken = store.rejected.value;
  if (!taken?.decided || shown.some((each) => each.belief.id === taken.belief.id)) return shown;
  return shown.toSpliced(taken.index, 0, taken.decided);
}

/** Some of what was learned; where something was just called wrong, the way back stands in its place. @param {any[]} shown */
function rowsOf(shown) {
  const taken = store.rejected.value;
  return shown.map((each) => each.belief.id === taken?.belief.id
    ? html`<${TakenBack} key="taken-back" text=${taken.belief.sentence} onUndo=${() => bringBack(taken)} />`
    : html`<${Line} key=${each.belief.id} decided=${each} />`);
}

/** On a phone: what waits for a yes or no, or the last thing that was learned, above where one writes. */
export function LearnedStrip() {
  const decided = store.latest.value ?? store.learned.value[0];
  const { items, total } = store.unconfirmed.value;
  const belief = items[0] ?? decided?.belief;
  const told = items.length ? t("doubts_open", { count: total }) : decided && t("learned_open", { text: decided.belief.sentence });
  return belief && html`<button class="strip only-phone" onClick=${() => (store.isTimelineOpen.value = true)}>
    <${KindIcon} kind=${belief.kind} /><span>${told}</span></button>`;
}

/** What goes on behind the talk, while it does. */
function Thinking() {
  const now = store.progress.value;
  if (!now) return null;
  const days = now.since && [...new Set([formatWeekday(now.since), formatWeekday(now.until)])].join(" – ");
  const cost = now.cost_usd ? t("thinking_cost", { cents: Math.round(now.cost_usd * 1000) / 10 }) : "";
  const told = !now.of
    ? t("thinking_over")
    : now.waits_until
      ? t("thinking_waits", { when: formatShortDay(now.waits_until), left: now.of - now.read })
      : t("thinking_about", { days, read: now.read, of: now.of, cost });
  return html`<p class="behind" role="status">${now.of > 0 && html`<progress max=${now.of} value=${now.read} aria-hidden="true"></progress>`}<span>${told}</span></p>`;
}

/** What could not be read is told where it is missed, and can be tried again. */
function Failed() {
  const [why, setWhy] = useState("");
  const count = store.state.value.unread_failed;
  const again = async () => {
    setWhy("");
    try {
      await api.readNow();
      await store.readState();
    } catch (problem) {
      setWhy(problem.message || t("lost"));
    }
  };
  if (!count) return null;
  return html`<p class="behind failed" role="status"><span>${t(count === 1 ? "learned_failed_one" : "learned_failed", { count })}</span>
    <button onClick=${again}>${t("try_again")}</button>${why && html`<span class="bad" role="alert">${why}</span>`}</p>`;
}

/** Something was said that is not read yet: it is when the talk pauses, or now. */
function ReadNow() {
  const [told, setTold] = useState("");
  useEffect(() => void (store.hasUnlearned.value && setTold("")), [store.hasUnlearned.value]);
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
  if (!told && !store.hasUnlearned.value) return null;
  return html`<p class="empty" role="status">${told || t("learned_later")} ${!told && html`<button class="quiet" onClick=${read}>${t("learned_now")}</button>`}</p>`;
}

/** What is not believed before one says yes: each with the words it was read in. It stands above what comes and goes by itself. */
function Unconfirmed() {
  const [answered, setAnswered] = useState([]); // {belief, verdict, height}: they keep their place, so that nothing moves under a finger
  const order = useRef([]);
  useEffect(() => setAnswered([]), [store.rewritten.value]);
  useEffect(() => {
    const timer = answered.length && setTimeout(() => setAnswered([]), UNDO_MS);
    return () => clearTimeout(timer);
  }, [answered]);
  const { items, total } = store.unconfirmed.value;
  const decide = async (belief, verdict, height) => {
    const after = await judge(belief, verdict);
    const others = (now) => now.filter((each) => each.belief.id !== belief.id);
    if (after) setAnswered((now) => (verdict === "unreject" ? others(now) : [...others(now), { belief: after, verdict, height }]));
    await store.loadUnconfirmed();
  };
  if (!items.length && !answered.length) return null;
  const answers = new Map(answered.map((each) => [each.belief.id, each]));
  const asked = new Map(items.map((each) => [each.id, each]));
  order.current = [...new Set([...order.current, ...asked.keys()])].filter((id) => asked.has(id) || answers.has(id));
  return html`<section class="doubts" aria-label=${t("doubts")}>
    <h3>${t("doubts")}</h3><p class="meta">${t("doubts_hint")}</p>
    <ul role="list">${order.current.map((id) =>
      answers.has(id)
        ? html`<${Answered} key=${`answered-${id}`} answer=${answers.get(id)} onUndo=${() => decide(answers.get(id).belief, "unreject", 0)} />`
        : html`<${Doubt} key=${id} belief=${asked.get(id)} decide=${(verdict, height) => decide(asked.get(id), verdict, height)} />`)}</ul>
    ${items.length < total &&
    html`<button class="quiet" onClick=${() => store.loadUnconfirmed(true)}>${t("doubts_all", { count: total })}</button>`}
  </section>`;
}

function Doubt({ belief, decide }) {
  const row = useRef(null);
  const answer = (verdict) => decide(verdict, row.current.offsetHeight);
  return html`<li class="belief" ref=${row}>
    <${KindIcon} kind=${belief.kind} />
    <div><p class="text">${belief.sentence}</p>
      ${belief.words.slice(0, 2).map((words) => html`<${Words} key=${words.message + words.quote} words=${words} />`)}
      <p class="choices"><button class="quiet" onClick=${() => answer("confirm")}>${t("doubt_yes")}</button>
        <button class="quiet" onClick=${() => answer("reject")}>${t("doubt_no")}</button>
        <button class="quiet" onClick=${() => navigate(`/forget/${belief.id}`)}>${t("forget")}</button></p></div>
  </li>`;
}

/** What one has just said of a question, as high as it was. */
function Answered({ answer, onUndo }) {
  const style = { minHeight: `${answer.height}px` };
  if (answer.verdict === "reject") return html`<${TakenBack} text=${answer.belief.sentence} onUndo=${onUndo} style=${style} />`;
  return html`<li class="taken-back" style=${style}><span role="status">${t("doubt_confirmed", { text: answer.belief.sentence })}</span></li>`;
}

function Search({ onFound }) {
  const timer = useRef(0);
  const look = ({ target }) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(async () => {
      const words = target.value.trim();
      const answer = words && (await api.search(words).catch(() => null));
      if (words === target.value.trim()) onFound(answer ? { words, items: answer.items.map((belief) => ({ belief, at: belief.learned_at })) } : null);
    }, TYPING_MS);
  };
  return html`<input class="search" type="search" placeholder=${t("search")} aria-label=${t("search")} onInput=${look} />`;
}

function Line({ decided }) {
  const { belief, isNew, source } = decided;
  const status = ["tentative", "disputed"].includes(belief.status) && belief.sentence === belief.text && t(`status_${belief.status}`);
  return html`<li class=${`belief ${isNew ? "is-new" : ""}`}>
    <${KindIcon} kind=${belief.kind} />
    <div><p class="text">${belief.sentence} ${status && html`<span class="pill">${status}</span>`}</p>
      ${belief.words.slice(0, 2).map((words) => html`<${Words} key=${words.message + words.quote} words=${words} />`)}
      ${source && html`<p class="meta">${t(source === "reflection" ? "thought_reflection" : "thought_tick")}</p>`}
      ${!belief.words.length && belief.is_by_person && html`<p class="meta">${t("learned_you")}</p>`}
      <${Choices} belief=${belief} /></div>
  </li>`;
}

function Words({ words }) {
  return html`<button class="words" onClick=${() => showMessage(words.message)}>
    <q>${words.quote}</q> <time datetime=${words.at}>${formatShortDay(words.at)}</time>${words.diary_day && html` <span class="meta">${t("learned_diary", { day: formatShortDay(`${words.diary_day}T12:00`) })}</span>`}</button>`;
}

function Choices({ belief }) {
  const deed = (name, act) => html`<button class="deed-icon" aria-label=${t(name)} title=${t(name)} onClick=${act}><${ActionIcon} name=${name} /></button>`;
  return html`<p class="choices">
    ${belief.is_by_person ? html`<span class="good">${t("kept")}</span>` : deed("keep", () => judge(belief, "confirm"))}
    ${deed("wrong", () => reject(belief))}${deed("forget", () => navigate(`/forget/${belief.id}`))}</p>`;
}

function TakenBack({ text, onUndo, style = {} }) {
  const button = useRef(null);
  useLayoutEffect(() => document.activeElement === document.body && button.current.focus({ preventScroll: true }), []); // what one has pressed is gone
  return html`<li class="taken-back" style=${style}><span role="status">${t("wrong_done", { text })}</span>
    <button ref=${button} onClick=${onUndo}>${t("undo")}</button></li>`;
}

let forgetting = 0;

/** Have it decided; how it is then, or null where it could not be. */
async function judge(belief, verdict) {
  clearTimeout(forgetting);
  store.rejected.value = null;
  const opener = document.activeElement;
  try {
    return await api.judge(belief, verdict);
  } catch (problem) {
    store.drawer.value = { kind: "problem", opener, text: await whyNot(belief, problem) };
    return null;
  }
}

/** It is not so; for a while that can be taken back where it stood. @param {any} belief */
async function reject(belief) {
  const index = store.learned.value.findIndex((each) => each.belief.id === belief.id);
  const done = judge(belief, "reject");
  store.rejected.value = { belief, decided: store.learned.value[index], index, done }; // at once: the event may come before the answer
  if (await done) forgetting = setTimeout(() => (store.rejected.value = null), UNDO_MS);
  else store.rejected.value = null;
}

/** It is so after all, and stands where it stood. @param {{decided: any, index: number, done: Promise<any>}} taken */
async function bringBack({ decided, index, done }) {
  const after = await done;
  if (!after) return;
  if (decided) store.learned.value = store.learned.value.toSpliced(index, 0, decided);
  if (!(await judge(after, "unreject"))) store.learned.value = store.learned.value.filter((each) => each !== decided);
}

/** Why it was not done, in words; where somebody else was quicker, how it reads now is shown. */
async function whyNot(belief, problem) {
  if (problem.status !== PRECONDITION_FAILED) return problem.status ? problem.message : t("lost");
  const now = await api.belief(belief.id).catch(() => null);
  if (now) store.addLearned({ ...store.learned.value.find((each) => each.belief.id === now.id), belief: now }, false);
  return t("memory_changed_by_other");
}
