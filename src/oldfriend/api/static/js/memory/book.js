// What is believed, as it is asked for just now: filters, the day that is looked at, pages as far as they were read.
import { batch, computed, effect, signal } from "../../vendor/signals.js";
import { GROUPS } from "../kinds.js";
import { NEWS_MS } from "../news.js";
import { go, place as placeNow, within } from "../places.js";
import * as store from "../store.js";
import { house } from "./house.js";

const SETTLE_MS = 120;
const MOST_READ_AGAIN = 600;
const MOST_COMPARED = 100;
const UNDO_MS = 10_000;
const KEPT_MS = 30_000; // where something stood that was called wrong, the way back stays

const LISTED = GROUPS.flatMap(({ kinds }) => kinds);
const NOTHING = { kinds: [], statuses: [], subject: "", tag: "", pinned: false, ended: false, sort: "kind", q: "" };

export const filters = signal(NOTHING);
export const day = signal(null); // null: now
export const by = signal("learned"); // by what the days go: when it was learned, or when it was said
export const days = signal(null); // {items, today}: on which something was learned …
export const daysSaid = signal(null); // … and said
export const tags = signal({});
export const moods = signal([]);
export const book = signal(null); // {items, total, kinds, next, of}: what is shown
export const turned = signal(new Map()); // by id: what reads otherwise than on the day looked at before
export const said = signal(null); // {words, items}: messages that were found
export const trouble = signal(""); // why something decided here was not done
export const unread = signal(""); // why what is shown is not as it is now
export const decided = signal(0); // how often something was decided here
export const undoable = signal(null); // {told, undo}
export const takenBack = signal(null); // {belief, index, of, undo}: what was just called wrong keeps its place in this list

export const isFiltered = computed(() => {
  const { sort: _, ...others } = filters.value;
  const { sort: __, ...nothing } = NOTHING;
  return JSON.stringify(others) !== JSON.stringify(nothing);
});
/** What is shown of what: when it is another, one begins at the top; another day changes it in its place. */
export const about = computed(() => JSON.stringify(filters.value));

let asked = new AbortController();
let timer = 0;
let isReadingOn = false;
/** @type {ReturnType<typeof otherDay>} */
let before = null; // with what the rows of this day are compared

/** @param {Partial<typeof NOTHING>} some */
export function choose(some) {
  filters.value = { ...filters.value, ...some };
}

export function chooseAll() {
  filters.value = { ...NOTHING, sort: filters.value.sort };
}

/** All that is known now, what was learned last first. */
export function chooseNewest() {
  batch(() => {
    filters.value = { ...NOTHING, sort: "newest" };
    day.value = null;
    said.value = null;
  });
}

/** What is asked of the house: names are among the people, not here. */
const wanted = () => ({ ...filters.value, kinds: filters.value.kinds.length ? filters.value.kinds : LISTED });

/** As of when something is asked for. */
export const when = () => ({ day: day.value, by: by.value });

/** Which list is looked at, of which day. */
const view = () => JSON.stringify([filters.value, when()]);

/** Read it anew; what was shown stays until it is there. */
export async function read(count = 0) {
  asked.abort();
  const mine = (asked = new AbortController());
  const of = about.value;
  try {
    let page = await house.page(wanted(), when(), null, mine.signal);
    const items = [...page.items];
    while (items.length < count && page.next) {
      page = await house.page(wanted(), when(), page.next, mine.signal);
      items.push(...page.items);
    }
    if (mine.signal.aborted) return;
    const seen = { ...page, items, of, by: by.value, day: day.value };
    const other = isSameDay(book.value, seen) ? before : otherDay(book.value, seen);
    const turns = await turnsOf(items, other, mine.signal);
    if (mine.signal.aborted) return;
    batch(() => {
      before = other;
      const shown = withGone(withTakenBack(items), page.next, marksOf(items, turns));
      turned.value = shown.marks;
      book.value = { ...seen, items: shown.items };
      unread.value = "";
    });
  } catch (problem) {
    if (!mine.signal.aborted) unread.value = problem.message || "lost";
  }
}

/** Whether the same day of the same list was only read anew. @param {any} earlier @param {any} now */
const isSameDay = (earlier, now) => earlier && now.day === earlier.day && now.of === earlier.of && now.by === earlier.by;

/** The day that was looked at before, and what was read of it: with that all is compared that is read of another. None of today.
 * @param {any} earlier @param {any} now */
function otherDay(earlier, now) {
  if (!earlier || now.day === null || earlier.of !== now.of || earlier.by !== now.by) return null;
  const was = new Map(earlier.items.filter(({ id }) => turned.value.get(id) !== "gone").map((each) => [each.id, each]));
  return { was, day: earlier.day, isWhole: !earlier.next, isForward: earlier.day !== null && earlier.day < now.day };
}

/** What became between both days of rows that were not read of the day before, by id.
 * @param {any[]} items @param {typeof before} other @param {AbortSignal} signal @returns {Promise<Map<string, any>>} */
async function turnsOf(items, other, signal) {
  const found = new Map();
  if (!other || other.isWhole || by.value !== "learned") return found;
  const { was, day: since } = other;
  const unread = items.filter(({ id }) => !was.has(id)).map(({ id }) => id);
  for (let from = 0; from < unread.length; from += MOST_COMPARED) {
    const page = await house.differenceOf(since ?? days.value?.today ?? "", day.value, unread.slice(from, from + MOST_COMPARED), signal).catch(() => null);
    for (const each of page?.items ?? []) found.set(each.belief.id, each); // without it they stand there unmarked
  }
  return found;
}

/** What reads otherwise than on the day before, seen from the earlier of both: what is new or changed by now where one goes
 * forward, what will be changed or gone where one goes back. @param {any[]} items @param {Map<string, any>} turns */
function marksOf(items, turns) {
  /** @type {Map<string, string>} */
  const marks = new Map();
  if (!before) return marks;
  const cameOn = (one) => ((by.value === "said" ? one.first_seen_at : one.learned_at) ?? "").slice(0, 10);
  for (const one of items) {
    const other = before.was.get(one.id);
    const turn = turns.get(one.id);
    if (other && other.sentence !== one.sentence) marks.set(one.id, before.isForward ? "changed" : "changed_later");
    else if (turn?.turn === "changed" && turn.before && turn.before !== turn.belief.text) marks.set(one.id, before.isForward ? "changed" : "changed_later");
    else if (turn?.turn === "ended" && !before.isForward) marks.set(one.id, "gone_later");
    else if (before.isForward && !other && cameOn(one) > before.day) marks.set(one.id, "new");
    else if (!before.isForward && !other && before.isWhole) marks.set(one.id, "gone_later");
  }
  return marks;
}

/** Everything that was read of a day, with its marks; what is gone by then stands where it stood, once all is read.
 * @param {any[]} items @param {string | null} next @param {Map<string, string>} marks */
function withGone(items, next, marks) {
  if (!before?.isForward || next) return { items, marks };
  const is = new Set(items.map(({ id }) => id));
  const all = [...items];
  for (const [index, one] of [...before.was.values()].entries()) {
    if (is.has(one.id)) continue;
    marks.set(one.id, "gone");
    all.splice(Math.min(index, all.length), 0, one);
  }
  return { items: all, marks };
}

/** The next page, where there is one. */
export async function readOn() {
  const { next, of } = book.value ?? {};
  if (!next || isReadingOn || of !== about.value) return;
  isReadingOn = true;
  const mine = asked;
  try {
    const page = await house.page(wanted(), when(), next, mine.signal);
    if (mine.signal.aborted) return;
    const known = new Set(book.value.items.map((each) => each.id));
    const more = page.items.filter((each) => !known.has(each.id));
    const turns = await turnsOf(more, before, mine.signal);
    if (mine.signal.aborted) return;
    const shown = withGone([...book.value.items, ...more], page.next, new Map([...turned.value, ...marksOf(more, turns)]));
    batch(() => {
      turned.value = shown.marks;
      book.value = { ...book.value, items: shown.items, next: page.next };
    });
  } catch {
    // what is there stays; whoever scrolls on asks again
  } finally {
    isReadingOn = false;
  }
}

effect(() => {
  if (!store.rewritten.value) return;
  asked.abort(); // what is on its way may hold what was forgotten
  batch(() => {
    book.value = null;
    said.value = null;
    undoable.value = null;
    takenBack.value = null;
    turned.value = new Map();
    before = null;
    tags.value = {};
  });
});

/** What was decided about something here: it stands so at once, then as the house has it. */
export function place(belief) {
  decided.value += 1;
  if (!book.value) return;
  book.value = { ...book.value, items: book.value.items.map((each) => (each.id === belief.id ? belief : each)) };
}

/** Do something, and say what went wrong where it did. @param {() => Promise<any>} deed */
export async function attempt(deed) {
  try {
    trouble.value = "";
    return await deed();
  } catch (problem) {
    trouble.value = problem.message || "lost";
    return null;
  }
}

/** Look at something beside the list. @template T @param {{value: T}} shown @param {() => Promise<T>} look */
async function show(shown, look) {
  try {
    shown.value = await look();
  } catch (problem) {
    unread.value = problem.message || "lost";
  }
}

/** By when it was learned, unless all was learned on one day, as from an import. */
async function showDays() {
  await Promise.all([show(days, house.days), show(daysSaid, house.daysSaid)]);
  const isOneDay = days.value && (!days.value.items.length || days.value.items[0].day >= days.value.today);
  if (isOneDay && !day.value && daysSaid.value?.items[0]?.day < days.value.today) by.value = "said";
}
const showTags = () => show(tags, async () => (await house.tags()).items);

let forgettingUndo = 0;

/** Offer to take something back, for a while. @param {string} told @param {() => Promise<any>} undo */
export function offerUndo(told, undo) {
  clearTimeout(forgettingUndo);
  undoable.value = { told, undo };
  forgettingUndo = setTimeout(() => (undoable.value = null), UNDO_MS);
}

let forgettingTakenBack = 0;

/** Keep the place of what was just called wrong, with the way back in it; whether it stands in the list.
 * @param {any} belief @param {() => Promise<any>} undo */
export function keepTakenBack(belief, undo) {
  const index = (book.value?.items ?? []).findIndex((each) => each.id === belief.id);
  if (index < 0) return false;
  clearTimeout(forgettingTakenBack);
  const end = () => {
    clearTimeout(forgettingTakenBack);
    takenBack.value = null;
  };
  takenBack.value = { belief, index, of: view(), undo: () => (end(), undo()) };
  forgettingTakenBack = setTimeout(() => {
    end();
    read(book.value?.items.length ?? 0);
  }, KEPT_MS);
  return true;
}

/** A list that was read anew, with what was just called wrong where it stood. @param {any[]} items */
function withTakenBack(items) {
  const { belief, index, of } = takenBack.value ?? {};
  if (!belief || of !== view() || items.some((each) => each.id === belief.id)) return items;
  return items.toSpliced(index, 0, belief);
}

const DEFAULTS = { day: "", by: "learned", kind: "", status: "", subject: "", tag: "", pinned: "", ended: "", sort: "kind", q: "" };

/** What the address says of what is looked at, where it says anything. */
function readAddress() {
  const said = new URLSearchParams(location.search);
  if (![...said.keys()].some((each) => each in DEFAULTS)) return;
  const valueOf = (name) => said.get(name) ?? DEFAULTS[name];
  const listOf = (name) => valueOf(name).split(",").filter(Boolean);
  batch(() => {
    filters.value = { kinds: listOf("kind").filter((each) => LISTED.includes(each)), statuses: listOf("status"), subject: valueOf("subject"),
      tag: valueOf("tag"), pinned: Boolean(valueOf("pinned")), ended: Boolean(valueOf("ended")), sort: valueOf("sort"), q: valueOf("q") };
    day.value = /^\d{4}-\d{2}-\d{2}$/.test(valueOf("day")) ? valueOf("day") : null;
    by.value = valueOf("by") === "said" ? "said" : "learned";
  });
}

/** Keep in the address what is looked at, so that it can be opened anew and passed on. */
function writeAddress() {
  const { kinds, statuses, pinned, ended, ...others } = filters.value;
  const now = { ...others, kind: kinds.join(","), status: statuses.join(","), pinned: pinned ? "yes" : "", ended: ended ? "yes" : "",
    day: day.value ?? "", by: day.value ? by.value : "learned" };
  const query = new URLSearchParams(Object.entries(now).filter(([name, value]) => value !== DEFAULTS[name])).toString();
  if (placeNow.value === "memory") history.replaceState(null, "", location.pathname + (query && `?${query}`));
}

/** Look on for as long as the place is open. */
export function open() {
  let first = true;
  readAddress();
  const stopWriting = effect(() => {
    void within.value;
    writeAddress();
  });
  showDays();
  showTags();
  show(moods, async () => (await house.moods()).items);
  const stopReading = effect(() => {
    void filters.value;
    void day.value;
    void by.value;
    trouble.value = "";
    clearTimeout(timer);
    timer = setTimeout(() => read(), first && !book.value ? 0 : SETTLE_MS);
    first = false;
  });
  let [known, names] = [store.learned.value, store.acquainted.value];
  let news = 0;
  const stopHearing = effect(() => {
    const now = [store.learned.value, store.acquainted.value];
    if (now[0] === known && now[1] === names) return;
    [known, names] = now;
    clearTimeout(news);
    news = setTimeout(() => {
      showDays();
      const count = book.value?.items.length ?? 0;
      if (!day.value && count <= MOST_READ_AGAIN) read(count);
    }, NEWS_MS);
  });
  let forgotten = store.rewritten.value;
  const stopForgetting = effect(() => {
    if (store.rewritten.value === forgotten) return;
    forgotten = store.rewritten.value;
    read();
    showTags();
  });
  return () => {
    clearTimeout(timer);
    clearTimeout(news);
    asked.abort();
    stopReading();
    stopWriting();
    stopHearing();
    stopForgetting();
  };
}

/** One thing, and every decision about it. @param {string} id */
export const oneWithHistory = (id) => Promise.all([house.one(id), house.history(id)]);

/** Show one thing beside the list. @param {string} id */
export const openOne = (id) => go(`/memory/${id}`);
