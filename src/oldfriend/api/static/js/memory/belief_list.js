// The list of beliefs: filters, the day that is looked at, and the pages loaded so far.
import { batch, computed, effect, signal } from "../../vendor/signals.js";
import { GROUPS } from "../kinds.js";
import { UPDATE_DELAY_MS } from "../live_updates.js";
import { navigate, currentPage as placeNow, subpath } from "../router.js";
import * as store from "../store.js";
import { memoryApi } from "./api.js";

const SETTLE_MS = 120;
const MOST_READ_AGAIN = 600;
const MOST_COMPARED = 100;
const UNDO_MS = 10_000;
const KEPT_MS = 30_000; // where something stood that was called wrong, the way back stays

const LISTED = GROUPS.flatMap(({ kinds }) => kinds);
const NOTHING = { kinds: [], statuses: [], subject: "", tag: "", pinned: false, ended: false, sort: "kind", q: "" };

export const filters = signal(NOTHING);
export const day = signal(null); // null: now
export const timeBasis = signal("learned"); // by what the days go: when it was learned, or when it was said
export const learnedDays = signal(null); // {items, today}: on which something was learned …
export const saidDays = signal(null); // … and said
export const tags = signal({});
export const moods = signal([]);
export const beliefs = signal(null); // {items, total, kinds, next, of}: what is shown
export const changeMarks = signal(new Map()); // by id: what reads otherwise than on the day looked at before
export const foundMessages = signal(null); // {words, items}: messages that were found
export const actionError = signal(""); // why something decided here was not done
export const loadError = signal(""); // why what is shown is not as it is now
export const decisionCount = signal(0); // how often something was decided here
export const undoOffer = signal(null); // {told, undo}
export const rejected = signal(null); // {belief, index, of, undo}: what was just called wrong keeps its place in this list

export const isFiltered = computed(() => {
  const { sort: _, ...others } = filters.value;
  const { sort: __, ...nothing } = NOTHING;
  return JSON.stringify(others) !== JSON.stringify(nothing);
});
/** What is shown of what: when it is another, one begins at the top; another day changes it in its place. */
export const listKey = computed(() => JSON.stringify(filters.value));

let asked = new AbortController();
let timer = 0;
let isReadingOn = false;
/** @type {ReturnType<typeof otherDay>} */
let before = null; // with what the rows of this day are compared

/** @param {Partial<typeof NOTHING>} some */
export function setFilters(some) {
  filters.value = { ...filters.value, ...some };
}

export function clearFilters() {
  filters.value = { ...NOTHING, sort: filters.value.sort };
}

/** All that is known now, what was learned last first. */
export function showNewest() {
  batch(() => {
    filters.value = { ...NOTHING, sort: "newest" };
    day.value = null;
    foundMessages.value = null;
  });
}

/** What is asked of the server: names are among the people, not here. */
const wanted = () => ({ ...filters.value, kinds: filters.value.kinds.length ? filters.value.kinds : LISTED });

/** As of when something is asked for. */
export const asOf = () => ({ day: day.value, by: timeBasis.value });

/** Which list is looked at, of which day. */
const view = () => JSON.stringify([filters.value, asOf()]);

/** Read it anew; what was shown stays until it is there. */
export async function load(count = 0) {
  asked.abort();
  const mine = (asked = new AbortController());
  const of = listKey.value;
  try {
    let page = await memoryApi.page(wanted(), asOf(), null, mine.signal);
    const items = [...page.items];
    while (items.length < count && page.next) {
      page = await memoryApi.page(wanted(), asOf(), page.next, mine.signal);
      items.push(...page.items);
    }
    if (mine.signal.aborted) return;
    const seen = { ...page, items, of, by: timeBasis.value, day: day.value };
    const other = isSameDay(beliefs.value, seen) ? before : otherDay(beliefs.value, seen);
    const turns = await turnsOf(items, other, mine.signal);
    if (mine.signal.aborted) return;
    batch(() => {
      before = other;
      const shown = withGone(withTakenBack(items), page.next, marksOf(items, turns));
      changeMarks.value = shown.marks;
      beliefs.value = { ...seen, items: shown.items };
      loadError.value = "";
    });
  } catch (problem) {
    if (!mine.signal.aborted) loadError.value = problem.message || "lost";
  }
}

/** Whether the same day of the same list was only read anew. @param {any} earlier @param {any} now */
const isSameDay = (earlier, now) => earlier && now.day === earlier.day && now.of === earlier.of && now.by === earlier.by;

/** The day that was looked at before, and what was read of it: with that all is compared that is read of another. None of today.
 * @param {any} earlier @param {any} now */
function otherDay(earlier, now) {
  if (!earlier || now.day === null || earlier.of !== now.of || earlier.by !== now.by) return null;
  const was = new Map(earlier.items.filter(({ id }) => changeMarks.value.get(id) !== "gone").map((each) => [each.id, each]));
  return { was, day: earlier.day, isWhole: !earlier.next, isForward: earlier.day !== null && earlier.day < now.day };
}

/** What became between both days of rows that were not read of the day before, by id.
 * @param {any[]} items @param {typeof before} other @param {AbortSignal} signal @returns {Promise<Map<string, any>>} */
async function turnsOf(items, other, signal) {
  const found = new Map();
  if (!other || other.isWhole || timeBasis.value !== "learned") return found;
  const { was, day: since } = other;
  const unread = items.filter(({ id }) => !was.has(id)).map(({ id }) => id);
  for (let from = 0; from < unread.length; from += MOST_COMPARED) {
    const page = await memoryApi.differenceOf(since ?? learnedDays.value?.today ?? "", day.value, unread.slice(from, from + MOST_COMPARED), signal).catch(() => null);
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
  const cameOn = (one) => ((timeBasis.value === "said" ? one.first_seen_at : one.learned_at) ?? "").slice(0, 10);
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
export async function loadMore() {
  const { next, of } = beliefs.value ?? {};
  if (!next || isReadingOn || of !== listKey.value) return;
  isReadingOn = true;
  const mine = asked;
  try {
    const page = await memoryApi.page(wanted(), asOf(), next, mine.signal);
    if (mine.signal.aborted) return;
    const known = new Set(beliefs.value.items.map((each) => each.id));
    const more = page.items.filter((each) => !known.has(each.id));
    const turns = await turnsOf(more, before, mine.signal);
    if (mine.signal.aborted) return;
    const shown = withGone([...beliefs.value.items, ...more], page.next, new Map([...changeMarks.value, ...marksOf(more, turns)]));
    batch(() => {
      changeMarks.value = shown.marks;
      beliefs.value = { ...beliefs.value, items: shown.items, next: page.next };
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
    beliefs.value = null;
    foundMessages.value = null;
    undoOffer.value = null;
    rejected.value = null;
    changeMarks.value = new Map();
    before = null;
    tags.value = {};
  });
});

/** What was decided about something here: it stands so at once, then as the server has it. */
export function replaceBelief(belief) {
  decisionCount.value += 1;
  if (!beliefs.value) return;
  beliefs.value = { ...beliefs.value, items: beliefs.value.items.map((each) => (each.id === belief.id ? belief : each)) };
}

/** Do something, and say what went wrong where it did. @param {() => Promise<any>} deed */
export async function tryAction(deed) {
  try {
    actionError.value = "";
    return await deed();
  } catch (problem) {
    actionError.value = problem.message || "lost";
    return null;
  }
}

/** Look at something beside the list. @template T @param {{value: T}} shown @param {() => Promise<T>} look */
async function show(shown, look) {
  try {
    shown.value = await look();
  } catch (problem) {
    loadError.value = problem.message || "lost";
  }
}

/** By when it was learned, unless all was learned on one day, as from an import. */
async function showDays() {
  await Promise.all([show(learnedDays, memoryApi.days), show(saidDays, memoryApi.daysSaid)]);
  const isOneDay = learnedDays.value && (!learnedDays.value.items.length || learnedDays.value.items[0].day >= learnedDays.value.today);
  if (isOneDay && !day.value && saidDays.value?.items[0]?.day < learnedDays.value.today) timeBasis.value = "said";
}
const showTags = () => show(tags, async () => (await memoryApi.tags()).items);

let forgettingUndo = 0;

/** Offer to take something back, for a while. @param {string} told @param {() => Promise<any>} undo */
export function offerUndo(told, undo) {
  clearTimeout(forgettingUndo);
  undoOffer.value = { told, undo };
  forgettingUndo = setTimeout(() => (undoOffer.value = null), UNDO_MS);
}

let forgettingTakenBack = 0;

/** Keep the place of what was just called wrong, with the way back in it; whether it stands in the list.
 * @param {any} belief @param {() => Promise<any>} undo */
export function keepRejected(belief, undo) {
  const index = (beliefs.value?.items ?? []).findIndex((each) => each.id === belief.id);
  if (index < 0) return false;
  clearTimeout(forgettingTakenBack);
  const end = () => {
    clearTimeout(forgettingTakenBack);
    rejected.value = null;
  };
  rejected.value = { belief, index, of: view(), undo: () => (end(), undo()) };
  forgettingTakenBack = setTimeout(() => {
    end();
    load(beliefs.value?.items.length ?? 0);
  }, KEPT_MS);
  return true;
}

/** A list that was read anew, with what was just called wrong where it stood. @param {any[]} items */
function withTakenBack(items) {
  const { belief, index, of } = rejected.value ?? {};
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
    timeBasis.value = valueOf("by") === "said" ? "said" : "learned";
  });
}

/** Keep in the address what is looked at, so that it can be opened anew and passed on. */
function writeAddress() {
  const { kinds, statuses, pinned, ended, ...others } = filters.value;
  const now = { ...others, kind: kinds.join(","), status: statuses.join(","), pinned: pinned ? "yes" : "", ended: ended ? "yes" : "",
    day: day.value ?? "", by: day.value ? timeBasis.value : "learned" };
  const query = new URLSearchParams(Object.entries(now).filter(([name, value]) => value !== DEFAULTS[name])).toString();
  if (placeNow.value === "memory") history.replaceState(null, "", location.pathname + (query && `?${query}`));
}

/** Look on for as long as the place is open. */
export function watchList() {
  let first = true;
  readAddress();
  const stopWriting = effect(() => {
    void subpath.value;
    writeAddress();
  });
  showDays();
  showTags();
  show(moods, async () => (await memoryApi.moods()).items);
  const stopReading = effect(() => {
    void filters.value;
    void day.value;
    void timeBasis.value;
    actionError.value = "";
    clearTimeout(timer);
    timer = setTimeout(() => load(), first && !beliefs.value ? 0 : SETTLE_MS);
    first = false;
  });
  let [known, names] = [store.learned.value, store.entitiesChanged.value];
  let news = 0;
  const stopHearing = effect(() => {
    const now = [store.learned.value, store.entitiesChanged.value];
    if (now[0] === known && now[1] === names) return;
    [known, names] = now;
    clearTimeout(news);
    news = setTimeout(() => {
      showDays();
      const count = beliefs.value?.items.length ?? 0;
      if (!day.value && count <= MOST_READ_AGAIN) load(count);
    }, UPDATE_DELAY_MS);
  });
  let forgotten = store.rewritten.value;
  const stopForgetting = effect(() => {
    if (store.rewritten.value === forgotten) return;
    forgotten = store.rewritten.value;
    load();
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
export const loadWithHistory = (id) => Promise.all([memoryApi.one(id), memoryApi.history(id)]);

/** Show one thing beside the list. @param {string} id */
export const openBelief = (id) => navigate(`/memory/${id}`);
