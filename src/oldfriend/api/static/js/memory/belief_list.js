// The list of beliefs: its filters, the selected day, and the pages loaded so far.
import { batch, computed, effect, signal } from "../../vendor/signals.js";
import { GROUPS } from "../kinds.js";
import { UPDATE_DELAY_MS } from "../live_updates.js";
import { navigate, currentPage, subpath } from "../router.js";
import * as store from "../store.js";
import { memoryApi } from "./api.js";

const DEBOUNCE_MS = 120;
const MAX_RELOADED = 600;
const MAX_COMPARED = 100;
const UNDO_MS = 10_000;
const REJECTED_ROW_MS = 30_000; // how long a rejected belief keeps its row, with an undo button

const LISTED_KINDS = GROUPS.flatMap(({ kinds }) => kinds);
const NO_FILTERS = { kinds: [], statuses: [], subject: "", tag: "", pinned: false, ended: false, sort: "kind", q: "" };

export const filters = signal(NO_FILTERS);
export const day = signal(null); // ISO date that the list is shown as of; null: now
export const timeBasis = signal("learned"); // "learned" or "said": which date of a belief the selected day applies to
export const learnedDays = signal(null); // {items, today}: the days on which something was learned; null until loaded
export const saidDays = signal(null); // {items, today}: the days on which something was said; null until loaded
export const tags = signal({});
export const moods = signal([]);
export const beliefs = signal(null); // {items, total, kinds, next, listKey, by, day}: the rows shown; null until loaded
export const changeMarks = signal(new Map()); // by id: how a row differs from the day selected before ("new", "changed", "gone", …)
export const foundMessages = signal(null); // {query, items}: messages that match the search
export const actionError = signal(""); // why the last action failed; "" when it did not
export const loadError = signal(""); // why loading failed; "" when it did not
export const decisionCount = signal(0); // number of decisions made in this page
export const undoOffer = signal(null); // {text, undo}: the undo toast; null when hidden
export const rejected = signal(null); // {belief, index, viewKey, undo}: a belief just rejected, which keeps its row for REJECTED_ROW_MS

export const isFiltered = computed(() => {
  const { sort: _, ...others } = filters.value;
  const { sort: __, ...defaults } = NO_FILTERS;
  return JSON.stringify(others) !== JSON.stringify(defaults);
});
/** Identifies the filtered list: when it changes, the list scrolls to the top; selecting another day keeps the position. */
export const listKey = computed(() => JSON.stringify(filters.value));

let currentRequest = new AbortController();
let loadTimer = 0;
let isLoadingMore = false;
/** @type {ReturnType<typeof findComparison>} */
let comparison = null; // the rows of the day selected before, to mark differences; null: nothing to compare with

/** @param {Partial<typeof NO_FILTERS>} changed */
export function setFilters(changed) {
  filters.value = { ...filters.value, ...changed };
}

export function clearFilters() {
  filters.value = { ...NO_FILTERS, sort: filters.value.sort };
}

/** Clear filters and day, and sort by what was learned last, whenever it was said. */
export function showLearned() {
  batch(() => {
    filters.value = { ...NO_FILTERS, sort: "learned" };
    day.value = null;
    foundMessages.value = null;
  });
}

/** The filters as sent to the server: without a chosen kind, all kinds of this page (entities are on the People page). */
const requestFilters = () => ({ ...filters.value, kinds: filters.value.kinds.length ? filters.value.kinds : LISTED_KINDS });

/** The selected day, and whether it applies to the date learned or said. */
export const asOf = () => ({ day: day.value, by: timeBasis.value });

/** Identifies the filtered list together with the selected day. */
const currentViewKey = () => JSON.stringify([filters.value, asOf()]);

/** Load the list again, at least `count` rows if there are as many; the old rows stay visible until it has loaded. */
export async function load(count = 0) {
  currentRequest.abort();
  const request = (currentRequest = new AbortController());
  const key = listKey.value;
  try {
    let page = await memoryApi.beliefs(requestFilters(), asOf(), null, request.signal);
    const items = [...page.items];
    while (items.length < count && page.next) {
      page = await memoryApi.beliefs(requestFilters(), asOf(), page.next, request.signal);
      items.push(...page.items);
    }
    if (request.signal.aborted) return;
    const loaded = { ...page, items, listKey: key, by: timeBasis.value, day: day.value };
    const nextComparison = isReload(beliefs.value, loaded) ? comparison : findComparison(beliefs.value, loaded);
    const changes = await loadChanges(items, nextComparison, request.signal);
    if (request.signal.aborted) return;
    batch(() => {
      comparison = nextComparison;
      const marked = addGoneRows(addRejectedRow(items), page.next, findMarks(items, changes));
      changeMarks.value = marked.marks;
      beliefs.value = { ...loaded, items: marked.items };
      loadError.value = "";
    });
  } catch (error) {
    if (!request.signal.aborted) loadError.value = error.message || "lost";
  }
}

/** Whether both are loads of the same list as of the same day. @param {any} previous @param {any} current */
const isReload = (previous, current) => previous && current.day === previous.day && current.listKey === previous.listKey && current.by === previous.by;

/** The rows loaded for the day selected before, to compare the current ones with; null for the present, or when the list is another.
 * @param {any} previous @param {any} current */
function findComparison(previous, current) {
  if (!previous || current.day === null || previous.listKey !== current.listKey || previous.by !== current.by) return null;
  const previousBeliefs = new Map(previous.items.filter(({ id }) => changeMarks.value.get(id) !== "gone").map((each) => [each.id, each]));
  return { beliefs: previousBeliefs, day: previous.day, isComplete: !previous.next, isForward: previous.day !== null && previous.day < current.day };
}

/** By id, the changes between the compared days of those rows that were not loaded for the earlier selection.
 * @param {any[]} items @param {typeof comparison} compared @param {AbortSignal} signal @returns {Promise<Map<string, any>>} */
async function loadChanges(items, compared, signal) {
  const changesById = new Map();
  if (!compared || compared.isComplete || timeBasis.value !== "learned") return changesById;
  const { beliefs: previousBeliefs, day: since } = compared;
  const newIds = items.filter(({ id }) => !previousBeliefs.has(id)).map(({ id }) => id);
  for (let start = 0; start < newIds.length; start += MAX_COMPARED) {
    const page = await memoryApi.changesOf(since ?? learnedDays.value?.today ?? "", day.value, newIds.slice(start, start + MAX_COMPARED), signal).catch(() => null);
    for (const change of page?.items ?? []) changesById.set(change.belief.id, change); // if the request failed, the rows stay unmarked
  }
  return changesById;
}

/** By id, how each row differs from the day selected before: going forward in time "new" or "changed", going back
 * "changed_later" or "gone_later". @param {any[]} items @param {Map<string, any>} changes */
function findMarks(items, changes) {
  /** @type {Map<string, string>} */
  const marks = new Map();
  if (!comparison) return marks;
  const dateOf = (belief) => ((timeBasis.value === "said" ? belief.first_seen_at : belief.learned_at) ?? "").slice(0, 10);
  for (const belief of items) {
    const previous = comparison.beliefs.get(belief.id);
    const change = changes.get(belief.id);
    if (previous && previous.sentence !== belief.sentence) marks.set(belief.id, comparison.isForward ? "changed" : "changed_later");
    else if (change?.turn === "changed" && change.before && change.before !== change.belief.text) marks.set(belief.id, comparison.isForward ? "changed" : "changed_later");
    else if (change?.turn === "ended" && !comparison.isForward) marks.set(belief.id, "gone_later");
    else if (comparison.isForward && !previous && dateOf(belief) > comparison.day) marks.set(belief.id, "new");
    else if (!comparison.isForward && !previous && comparison.isComplete) marks.set(belief.id, "gone_later");
  }
  return marks;
}

/** The rows and marks, with rows that are gone since the day selected before at their old index, marked "gone"; only once all pages are loaded.
 * @param {any[]} items @param {string | null} next @param {Map<string, string>} marks */
function addGoneRows(items, next, marks) {
  if (!comparison?.isForward || next) return { items, marks };
  const currentIds = new Set(items.map(({ id }) => id));
  const rows = [...items];
  for (const [index, belief] of [...comparison.beliefs.values()].entries()) {
    if (currentIds.has(belief.id)) continue;
    marks.set(belief.id, "gone");
    rows.splice(Math.min(index, rows.length), 0, belief);
  }
  return { items: rows, marks };
}

/** Load and append the next page, if there is one. */
export async function loadMore() {
  const { next, listKey: key } = beliefs.value ?? {};
  if (!next || isLoadingMore || key !== listKey.value) return;
  isLoadingMore = true;
  const request = currentRequest;
  try {
    const page = await memoryApi.beliefs(requestFilters(), asOf(), next, request.signal);
    if (request.signal.aborted) return;
    const knownIds = new Set(beliefs.value.items.map((each) => each.id));
    const added = page.items.filter((each) => !knownIds.has(each.id));
    const changes = await loadChanges(added, comparison, request.signal);
    if (request.signal.aborted) return;
    const marked = addGoneRows([...beliefs.value.items, ...added], page.next, new Map([...changeMarks.value, ...findMarks(added, changes)]));
    batch(() => {
      changeMarks.value = marked.marks;
      beliefs.value = { ...beliefs.value, items: marked.items, next: page.next };
    });
  } catch {
    // the loaded rows stay; scrolling on tries again
  } finally {
    isLoadingMore = false;
  }
}

effect(() => {
  if (!store.rewriteCount.value) return;
  currentRequest.abort(); // the response may contain what was just forgotten
  batch(() => {
    beliefs.value = null;
    foundMessages.value = null;
    undoOffer.value = null;
    rejected.value = null;
    changeMarks.value = new Map();
    comparison = null;
    tags.value = {};
  });
});

/** Replace the row of a belief after a decision about it, and count the decision. */
export function replaceBelief(belief) {
  decisionCount.value += 1;
  if (!beliefs.value) return;
  beliefs.value = { ...beliefs.value, items: beliefs.value.items.map((each) => (each.id === belief.id ? belief : each)) };
}

/** Run an action and return its result; if it fails, set actionError and return null. @param {() => Promise<any>} action */
export async function tryAction(action) {
  try {
    actionError.value = "";
    return await action();
  } catch (error) {
    actionError.value = error.message || "lost";
    return null;
  }
}

/** Set a signal to what `read` returns; if it fails, set loadError. @template T @param {{value: T}} target @param {() => Promise<T>} read */
async function loadInto(target, read) {
  try {
    target.value = await read();
  } catch (error) {
    loadError.value = error.message || "lost";
  }
}

/** Load the days of the slider; where everything was learned on one day, as by an import, switch to the days it was said. */
async function loadDays() {
  await Promise.all([loadInto(learnedDays, memoryApi.learnedDays), loadInto(saidDays, memoryApi.saidDays)]);
  const isOneDay = learnedDays.value && (!learnedDays.value.items.length || learnedDays.value.items[0].day >= learnedDays.value.today);
  if (isOneDay && !day.value && saidDays.value?.items[0]?.day < learnedDays.value.today) timeBasis.value = "said";
}
const loadTags = () => loadInto(tags, async () => (await memoryApi.tags()).items);

let undoTimer = 0;

/** Show the undo toast for UNDO_MS. @param {string} text @param {() => Promise<any>} undo */
export function offerUndo(text, undo) {
  clearTimeout(undoTimer);
  undoOffer.value = { text, undo };
  undoTimer = setTimeout(() => (undoOffer.value = null), UNDO_MS);
}

let rejectedTimer = 0;

/** Keep the row of a rejected belief, with an undo button, for REJECTED_ROW_MS; returns false if it is not in the list.
 * @param {any} belief @param {() => Promise<any>} undo */
export function keepRejected(belief, undo) {
  const index = (beliefs.value?.items ?? []).findIndex((each) => each.id === belief.id);
  if (index < 0) return false;
  clearTimeout(rejectedTimer);
  const clear = () => {
    clearTimeout(rejectedTimer);
    rejected.value = null;
  };
  rejected.value = { belief, index, viewKey: currentViewKey(), undo: () => (clear(), undo()) };
  rejectedTimer = setTimeout(() => {
    clear();
    load(beliefs.value?.items.length ?? 0);
  }, REJECTED_ROW_MS);
  return true;
}

/** Loaded rows, with the rejected belief at its old index if it belongs to this view. @param {any[]} items */
function addRejectedRow(items) {
  const { belief, index, viewKey } = rejected.value ?? {};
  if (!belief || viewKey !== currentViewKey() || items.some((each) => each.id === belief.id)) return items;
  return items.toSpliced(index, 0, belief);
}

const DEFAULT_QUERY = { day: "", by: "learned", kind: "", status: "", subject: "", tag: "", pinned: "", ended: "", sort: "kind", q: "" };

/** Set filters and day from the URL's query, if it has any of them. */
function readAddress() {
  const query = new URLSearchParams(location.search);
  if (![...query.keys()].some((each) => each in DEFAULT_QUERY)) return;
  const valueOf = (name) => query.get(name) ?? DEFAULT_QUERY[name];
  const listOf = (name) => valueOf(name).split(",").filter(Boolean);
  batch(() => {
    filters.value = { kinds: listOf("kind").filter((each) => LISTED_KINDS.includes(each)), statuses: listOf("status"), subject: valueOf("subject"),
      tag: valueOf("tag"), pinned: Boolean(valueOf("pinned")), ended: Boolean(valueOf("ended")), sort: valueOf("sort"), q: valueOf("q") };
    day.value = /^\d{4}-\d{2}-\d{2}$/.test(valueOf("day")) ? valueOf("day") : null;
    timeBasis.value = valueOf("by") === "said" ? "said" : "learned";
  });
}

/** Write filters and day to the URL's query, so that the view can be reloaded and shared. */
function writeAddress() {
  const { kinds, statuses, pinned, ended, ...others } = filters.value;
  const values = { ...others, kind: kinds.join(","), status: statuses.join(","), pinned: pinned ? "yes" : "", ended: ended ? "yes" : "",
    day: day.value ?? "", by: day.value ? timeBasis.value : "learned" };
  const query = new URLSearchParams(Object.entries(values).filter(([name, value]) => value !== DEFAULT_QUERY[name])).toString();
  if (currentPage.value === "memory") history.replaceState(null, "", location.pathname + (query && `?${query}`));
}

/** Load the list and keep it current while the page is open; returns the function that stops it. */
export function watchList() {
  let isFirst = true;
  readAddress();
  const stopWriting = effect(() => {
    void subpath.value;
    writeAddress();
  });
  loadDays();
  loadTags();
  loadInto(moods, async () => (await memoryApi.moods()).items);
  const stopReading = effect(() => {
    void filters.value;
    void day.value;
    void timeBasis.value;
    actionError.value = "";
    clearTimeout(loadTimer);
    loadTimer = setTimeout(() => load(), isFirst && !beliefs.value ? 0 : DEBOUNCE_MS);
    isFirst = false;
  });
  let [learned, entities] = [store.learned.value, store.entitiesChanged.value];
  let updateTimer = 0;
  const stopLiveUpdates = effect(() => {
    const current = [store.learned.value, store.entitiesChanged.value];
    if (current[0] === learned && current[1] === entities) return;
    [learned, entities] = current;
    clearTimeout(updateTimer);
    updateTimer = setTimeout(() => {
      loadDays();
      const count = beliefs.value?.items.length ?? 0;
      if (!day.value && count <= MAX_RELOADED) load(count);
    }, UPDATE_DELAY_MS);
  });
  let lastRewrite = store.rewriteCount.value;
  const stopForgetting = effect(() => {
    if (store.rewriteCount.value === lastRewrite) return;
    lastRewrite = store.rewriteCount.value;
    load();
    loadTags();
  });
  return () => {
    clearTimeout(loadTimer);
    clearTimeout(updateTimer);
    currentRequest.abort();
    stopReading();
    stopWriting();
    stopLiveUpdates();
    stopForgetting();
  };
}

/** A belief and its history: [belief, {steps}]. @param {string} id */
export const loadWithHistory = (id) => Promise.all([memoryApi.belief(id), memoryApi.history(id)]);

/** Open the panel of a belief. @param {string} id */
export const openBelief = (id) => navigate(`/memory/${id}`);
