// What is believed, as it is asked for just now: filters, the day that is looked at, pages as far as they were read.
import { batch, computed, effect, signal } from "../../vendor/signals.js";
import { GROUPS } from "../kinds.js";
import { NEWS_MS } from "../news.js";
import { go } from "../places.js";
import * as store from "../store.js";
import { house } from "./house.js";

const SETTLE_MS = 120;
const MOST_READ_AGAIN = 600;
const UNDO_MS = 10_000;

const LISTED = GROUPS.flatMap(({ kinds }) => kinds);
const NOTHING = { kinds: [], statuses: [], subject: "", tag: "", pinned: false, ended: false, sort: "kind", q: "" };

export const filters = signal(NOTHING);
export const day = signal(null); // null: now
export const days = signal(null); // {items, today}
export const tags = signal({});
export const moods = signal([]);
export const book = signal(null); // {items, total, kinds, next, of}: what is shown
export const said = signal(null); // {words, items}: messages that were found
export const trouble = signal(""); // why something decided here was not done
export const unread = signal(""); // why what is shown is not as it is now
export const decided = signal(0); // how often something was decided here
export const undoable = signal(null); // {told, undo}

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

/** Read it anew; what was shown stays until it is there. */
export async function read(count = 0) {
  asked.abort();
  const mine = (asked = new AbortController());
  const of = about.value;
  try {
    let page = await house.page(wanted(), day.value, null, mine.signal);
    const items = [...page.items];
    while (items.length < count && page.next) {
      page = await house.page(wanted(), day.value, page.next, mine.signal);
      items.push(...page.items);
    }
    if (mine.signal.aborted) return;
    batch(() => {
      book.value = { ...page, items, of };
      unread.value = "";
    });
  } catch (problem) {
    if (!mine.signal.aborted) unread.value = problem.message || "lost";
  }
}

/** The next page, where there is one. */
export async function readOn() {
  const { next, of } = book.value ?? {};
  if (!next || isReadingOn || of !== about.value) return;
  isReadingOn = true;
  const mine = asked;
  try {
    const page = await house.page(wanted(), day.value, next, mine.signal);
    if (mine.signal.aborted) return;
    const known = new Set(book.value.items.map((each) => each.id));
    const items = [...book.value.items, ...page.items.filter((each) => !known.has(each.id))];
    book.value = { ...book.value, items, next: page.next };
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

const showDays = () => show(days, house.days);
const showTags = () => show(tags, async () => (await house.tags()).items);

let forgettingUndo = 0;

/** Offer to take something back, for a while. @param {string} told @param {() => Promise<any>} undo */
export function offerUndo(told, undo) {
  clearTimeout(forgettingUndo);
  undoable.value = { told, undo };
  forgettingUndo = setTimeout(() => (undoable.value = null), UNDO_MS);
}

/** Look on for as long as the place is open. */
export function open() {
  let first = true;
  showDays();
  showTags();
  show(moods, async () => (await house.moods()).items);
  const stopReading = effect(() => {
    void filters.value;
    void day.value;
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
    stopHearing();
    stopForgetting();
  };
}

/** One thing, and every decision about it. @param {string} id */
export const oneWithHistory = (id) => Promise.all([house.one(id), house.history(id)]);

/** Show one thing beside the list. @param {string} id */
export const openOne = (id) => go(`/memory/${id}`);
