// The state of the page as signals, and the functions that change it.
import { batch, computed, effect, signal } from "../vendor/signals.js";
import { api } from "./api.js";

export const me = signal(null);
const DEFAULT_NAME = "owner"; // the owner's name on the server until they choose one
/** The person's name; "" until they have chosen one. */
export const myName = computed(() => (me.value.name === DEFAULT_NAME ? "" : me.value.name));
export const state = signal(null);
export const mood = signal(null);
export const progress = signal(null); // of learning and reflection in the background; null while nothing runs
export const phase = signal("loading"); // loading, unreachable, asking, signed-out, open
export const isConnected = signal(true);
export const reloadCount = signal(0); // counts reloads of the current page after its data had failed to load
export const hasUnlearned = signal(false); // there are messages that nothing was learned from yet
export const rewriteCount = signal(0); // counts deletions and other rewritings of the memory while the page is open

export const messages = signal([]); // a window of the chat, oldest first
export const hasEarlier = signal(false);
export const hasLater = signal(false); // the window does not include the newest messages
export const foundMessage = signal(""); // id of the message that was searched for, until a new one is sent
export const unseenCount = signal(0); // new messages after the end of the window
export const drafts = signal({}); // by turn: {asked, text, remark}
export const partials = signal({}); // by turn: the text of a reply that was not finished
export const endings = signal({}); // by turn: waiting, set aside, stopped, failed
export const failureReasons = signal({}); // by message id: why it has no reply, as a text of the server

export const learned = signal([]); // newest first
export const linkedAccounts = signal(""); // a digest of the accounts that the person is linked to
export const linkedAccountsChanged = signal(0); // counts possible changes of the apps that the person is linked to
export const tasksChanged = signal(0); // counts possible changes of tasks, goals and watches while the page is open
export const entitiesChanged = signal(0); // counts changes of entities and their relations while the page is open
export const earlierLearned = signal(null);
export const unconfirmed = signal({ items: [], total: 0 }); // beliefs that need the person's confirmation
export const latestLearned = signal(null); // the last belief learned while the page is open
export const rejected = signal(null); // the belief that was just rejected, its index in `learned`, and the promise of the request
export const drawer = signal(null); // {kind: "receipt" | "problem" | "help", opener, …}; null while closed
export const isTimelineOpen = signal(false); // on a phone

const MAX_MESSAGES = 120; // in the document; with the learned beliefs fewer than 200 rows
export const MAX_LEARNED = 60;
const INITIAL_UNCONFIRMED = 3;
const MAX_UNCONFIRMED = 50;

/** The person's last message whose reply is still expected; null if there is none or the window does not include it. */
export const awaitingReply = computed(() => {
  if (hasLater.value) return null;
  const last = messages.value.findLast((each) => each.role === "person" && each.turn);
  return last && (endings.value[last.turn] === "waiting" || drafts.value[last.turn]) ? last : null;
});

/** Adds a new message; a message of the person then waits for its reply. */
export function addMessage(message) {
  batch(() => {
    appendMessage(message);
    if (!message.turn || message.role !== "person") return;
    foundMessage.value = "";
    hasUnlearned.value = state.value.forms;
    const isAnswered = messages.value.some((each) => each.role === "companion" && each.turn === message.turn);
    if (!isAnswered && !(message.turn in endings.value)) setEnding(message.turn, "waiting");
  });
}

/** Adds a new message if the window includes the newest ones, else counts it as unseen; replaces a known message. */
function appendMessage(message) {
  const isLoaded = messages.value.some((each) => each.id === message.id);
  if (hasLater.value && !isLoaded) {
    unseenCount.value += 1;
    return;
  }
  insertMessages(message);
  if (messages.value.length > MAX_MESSAGES) {
    messages.value = messages.value.slice(-MAX_MESSAGES);
    hasEarlier.value = true;
  }
}

/** Inserts messages in order; replaces known ones in place. */
export function insertMessages(...given) {
  const all = [...messages.value];
  for (const each of given) {
    const index = all.findIndex(({ id }) => id === each.id);
    if (index < 0) all.splice(findInsertIndex(all, each), 0, each);
    else all[index] = each;
  }
  messages.value = all;
}

/** Returns the index for a new message: a reply goes after the message it answers, others go by time. Times have a
 * resolution of one second, in which several messages can arrive. */
function findInsertIndex(all, { at, role, turn }) {
  const askedIndex = role === "companion" && turn ? all.findLastIndex((each) => each.turn === turn) : -1;
  return 1 + (askedIndex < 0 ? all.findLastIndex((each) => Date.parse(each.at) <= Date.parse(at)) : askedIndex);
}

/** Replaces a message if it is loaded. */
export function updateMessage(message) {
  if (messages.value.some((each) => each.id === message.id)) insertMessages(message);
}

/** Marks a message as having audio. @param {string} id */
export function markAudioReady(id) {
  const message = messages.value.find((each) => each.id === id);
  if (message) insertMessages({ ...message, has_sound: true });
}

/** Appends a piece to the draft of a reply; `start` is its offset, and text after that is replaced. */
export function extendDraft({ turn, asked, start, text, remark }) {
  const before = drafts.value[turn]?.text ?? "";
  drafts.value = { ...drafts.value, [turn]: { asked, text: before.slice(0, start) + text, remark } };
}

/** Adds a finished reply and removes its draft. */
export function finishReply(message) {
  batch(() => {
    drafts.value = without(drafts.value, message.turn);
    endings.value = without(endings.value, message.turn);
    partials.value = without(partials.value, message.turn);
    appendMessage(message);
  });
}

/** Ends a turn that gets no reply; the draft is kept as a partial reply. */
export function endWithoutReply(turn, ending) {
  batch(() => {
    const { text } = drafts.value[turn] ?? {};
    if (text) partials.value = { ...partials.value, [turn]: text };
    drafts.value = without(drafts.value, turn);
    setEnding(turn, ending);
  });
}

/** Ends the turn of a message with the reason why it gets no reply. */
export function noteFailure(asked, why) {
  const turn = messages.value.find((each) => each.id === asked)?.turn;
  batch(() => {
    failureReasons.value = { ...failureReasons.value, [asked]: why };
    if (turn) endWithoutReply(turn, "set aside");
  });
}

/** Requests a reply again; the reply may arrive before the response does. @param {any} message */
export async function retry({ id, turn }) {
  const [ending, reason] = [endings.value[turn], failureReasons.value[id]];
  batch(() => {
    failureReasons.value = without(failureReasons.value, id);
    partials.value = without(partials.value, turn);
    setEnding(turn, "waiting");
  });
  try {
    await api.retryReply(id);
  } catch (failure) {
    batch(() => {
      if (reason) failureReasons.value = { ...failureReasons.value, [id]: reason };
      if (endings.value[turn] === "waiting") setEnding(turn, ending);
    });
    throw failure;
  }
}

const PARTIALS = "partials"; // session storage key
let arePartialsRestored = false;

effect(() => {
  const texts = partials.value;
  if (!arePartialsRestored) return;
  if (Object.keys(texts).length) sessionStorage.setItem(PARTIALS, JSON.stringify({ whose: me.peek().id, texts }));
  else clearPartials();
});

/** Removes the partial replies stored for this tab. */
export const clearPartials = () => sessionStorage.removeItem(PARTIALS);

/** Restores partial replies after a reload, except those to messages older than the last deletion, since they may
 * repeat deleted content. */
async function restorePartials() {
  arePartialsRestored = true;
  const stored = sessionStorage.getItem(PARTIALS);
  const { whose, texts } = stored ? JSON.parse(stored) : { whose: null, texts: {} };
  if (whose !== me.value.id) return clearPartials();
  const countBefore = rewriteCount.value;
  const { items } = await api.listDeletions();
  if (countBefore !== rewriteCount.value) return undefined;
  const last = items.length ? Date.parse(items[0].done_at) : -Infinity;
  const asked = messages.value.filter((each) => each.role === "person" && Date.parse(each.at) > last);
  const restorable = Object.entries(texts).filter(([turn]) => endings.value[turn] && asked.some((each) => each.turn === turn));
  partials.value = { ...Object.fromEntries(restorable), ...partials.value };
  return undefined;
}

const setEnding = (turn, ending) => (endings.value = { ...endings.value, [turn]: ending });

function without(record, name) {
  const { [name]: _, ...others } = record;
  return others;
}

let unconfirmedLimit = INITIAL_UNCONFIRMED;

/** Loads the unconfirmed beliefs. @param {boolean} isAll */
export async function loadUnconfirmed(isAll = false) {
  if (isAll) unconfirmedLimit = MAX_UNCONFIRMED;
  const page = await loadConsistent(() => api.listUnconfirmed(unconfirmedLimit)).catch(() => null);
  if (page) unconfirmed.value = page;
}

/** Adds or updates a learned belief; removes one that has ended. */
export function addLearned(decided, isNew) {
  const isListed = unconfirmed.value.items.some((each) => each.id === decided.belief.id);
  if (isListed || decided.belief.status === "unconfirmed") loadUnconfirmed();
  const others = learned.value.filter((each) => each.belief.id !== decided.belief.id);
  if (decided.belief.ended_at) {
    learned.value = others;
    if (latestLearned.value?.belief.id === decided.belief.id) latestLearned.value = null;
    return;
  }
  const index = learned.value.findIndex((each) => each.belief.id === decided.belief.id);
  const entry = { ...decided, isNew };
  learned.value = index < 0 ? [entry, ...others].slice(0, MAX_LEARNED) : learned.value.with(index, { ...entry, at: learned.value[index].at, isNew: false }); // the row stays under its day
  if (isNew) latestLearned.value = decided;
}

let lastPosition = ""; // position of the last received event

/** @param {string} position */
export function notePosition(position) {
  lastPosition = position;
}

const MAX_TRIES = 5; // with events during every request, any response is as good as the next

/** Repeats a request until no event arrived while it ran, so that the response is not older than the events; gives up
 * after MAX_TRIES.
 * @template T @param {() => Promise<T>} send @returns {Promise<T>} */
async function loadConsistent(send) {
  for (let tries = 1; ; tries++) {
    const positionBefore = lastPosition;
    const response = await send();
    if (lastPosition === positionBefore || tries === MAX_TRIES) return response;
  }
}

let windowRequestCount = 0; // number of the latest request for a message window; older responses are ignored

/** Loads the state, the messages around the current position and what was learned; returns the position from which events continue. */
export async function load() {
  const requestNumber = ++windowRequestCount;
  const middle = hasLater.value && messages.value.at(messages.value.length / 2);
  const loadWindow = () => (middle ? api.listMessagesAround(middle.id).catch(newestIfDeleted) : api.listMessages());
  const [newState, page, learnedPage] = await loadConsistent(() => Promise.all([api.loadState(), loadWindow(), api.listLearned()]));
  batch(() => {
    state.value = newState;
    hasUnlearned.value = newState.has_unread;
    mood.value = newState.mood;
    progress.value = newState.progress;
    if (requestNumber === windowRequestCount) showPage(page);
    learned.value = learnedPage.items;
    earlierLearned.value = learnedPage.earlier;
    phase.value = "open";
  });
  if (!arePartialsRestored) restorePartials().catch(() => {}); // the messages are shown without them
  loadUnconfirmed();
  return page.position;
}

/** Loads the newest messages if the message in the middle of the window was deleted. */
function newestIfDeleted(failure) {
  if (failure.status !== 404) throw failure;
  return api.listMessages();
}

/** Changes the person's name or time zone. @param {{name?: string, zone?: string}} changes */
export async function updateMe(changes) {
  const { name, zone } = await api.updateMe(changes);
  me.value = { ...me.value, name, zone };
}

const firstRunKey = () => `settled:${me.value.id}`;

/** Marks the first run as done in this browser. */
export function endFirstRun() {
  localStorage.setItem(firstRunKey(), "yes");
}

export const isFirstRunDone = () => localStorage.getItem(firstRunKey()) !== null;

/** Changes the companion's name; earlier messages keep the old one. @param {string} name */
export function renameCompanion(name) {
  if (name !== state.value.companion) state.value = { ...state.value, companion: name };
}

/** Reloads the state without the messages. */
export async function loadState() {
  const newState = await api.loadState();
  batch(() => {
    state.value = newState;
    hasUnlearned.value = newState.has_unread;
  });
}

/** Removes everything that could show deleted content. */
export function clear() {
  batch(() => {
    drawer.value = null;
    latestLearned.value = null;
    rejected.value = null;
    drafts.value = {};
    partials.value = {};
    failureReasons.value = {};
    messages.value = [];
    learned.value = [];
    unconfirmed.value = { items: [], total: 0 };
    hasLater.value = false;
    rewriteCount.value += 1;
  });
}

/** Replaces the message window. */
function showPage(page) {
  messages.value = page.items;
  hasEarlier.value = page.earlier !== null;
  hasLater.value = page.later !== null;
  endings.value = Object.fromEntries(page.unanswered.map(({ turn, ending }) => [turn, ending]));
  if (!hasLater.value) unseenCount.value = 0;
}

/** Shows the newest messages. */
export function showNewest() {
  return replaceWindow(() => api.listMessages());
}

/** Shows a message with those around it. @param {string} id */
export function showAround(id) {
  return replaceWindow(() => api.listMessagesAround(id));
}

/** @param {() => Promise<any>} send */
async function replaceWindow(send) {
  const requestNumber = ++windowRequestCount;
  const page = await loadConsistent(send);
  if (requestNumber === windowRequestCount) batch(() => showPage(page));
}

/** Loads more messages on one side; beyond MAX_MESSAGES, drops messages of the other side. */
export async function loadMoreMessages(side) {
  const first = messages.value.at(0);
  const last = messages.value.at(-1);
  const page = await loadConsistent(() => (side === "earlier" ? api.listMessagesBefore(first.id) : api.listMessagesAfter(last.id)));
  if (messages.value.at(0) !== first || messages.value.at(-1) !== last) return;
  batch(() => {
    for (const { turn, ending } of page.unanswered) setEnding(turn, ending);
    if (side === "earlier") {
      const all = [...page.items, ...messages.value];
      hasEarlier.value = page.earlier !== null;
      hasLater.value ||= all.length > MAX_MESSAGES;
      messages.value = all.slice(0, MAX_MESSAGES);
    } else {
      const all = [...messages.value, ...page.items];
      hasLater.value = page.later !== null;
      hasEarlier.value ||= all.length > MAX_MESSAGES;
      messages.value = all.slice(-MAX_MESSAGES);
      if (!hasLater.value) unseenCount.value = 0;
    }
  });
}

export async function loadEarlierLearned() {
  const page = await api.listLearned(earlierLearned.value);
  const known = new Set(learned.value.map((each) => each.belief.id));
  learned.value = [...learned.value, ...page.items.filter((each) => !known.has(each.belief.id))].slice(0, MAX_LEARNED);
  earlierLearned.value = learned.value.length < MAX_LEARNED ? page.earlier : null;
}
