// The state of the page as signals, and the functions that change it.
import { batch, computed, effect, signal } from "../vendor/signals.js";
import { api } from "./api.js";

export const me = signal(null);
const UNNAMED = "owner"; // as whoever runs this is called until they say how
/** What the person is called; "" until they have said so. */
export const myName = computed(() => (me.value.name === UNNAMED ? "" : me.value.name));
export const state = signal(null);
export const mood = signal(null);
export const progress = signal(null); // of reading and thinking behind the talk
export const phase = signal("loading"); // loading, signed-out, open
export const isConnected = signal(true);
export const reloadCount = signal(0); // how often a place is drawn anew because its reading had failed
export const hasUnlearned = signal(false); // something was said that memory has not read
export const rewritten = signal(0); // how often something was forgotten while the page was open

export const messages = signal([]); // a window of the talk, oldest first
export const hasEarlier = signal(false);
export const hasLater = signal(false); // the window does not reach to now
export const foundMessage = signal(""); // the id of the message to which one was led, until one says something
export const unseenCount = signal(0); // said meanwhile, behind the window
export const drafts = signal({}); // by turn: {asked, text, remark}
export const partials = signal({}); // by turn: what was written of a reply that did not come to its end
export const endings = signal({}); // by turn: waiting, set aside, stopped, failed
export const failureReasons = signal({}); // by what was asked: why no reply comes, as the server says it

export const learned = signal([]); // the latest first
export const tasksChanged = signal(0); // how often a task, a goal or a watch may have changed while the page was open
export const entitiesChanged = signal(0); // how often a name or a tie changed while the page was open
export const earlierLearned = signal(null);
export const unconfirmed = signal({ items: [], total: 0 }); // what is not believed before one says so
export const latest = signal(null); // what was learned while looking on
export const rejected = signal(null); // {belief, decided, index, done}: what was just called wrong, and where it stood
export const drawer = signal(null); // {kind: "receipt" | "problem", …}
export const isTimelineOpen = signal(false); // on a phone

const MOST_MESSAGES = 120; // in the document; with what was learned less than 200 rows
export const MOST_LEARNED = 60;
const FEW_UNCONFIRMED = 3;
const MOST_UNCONFIRMED = 50;

/** The last thing said whose reply is still to come, as far as this page can know. */
export const waitingFor = computed(() => {
  if (hasLater.value) return null;
  const last = messages.value.findLast((each) => each.role === "person" && each.turn);
  return last && (endings.value[last.turn] === "waiting" || drafts.value[last.turn]) ? last : null;
});

/** Something was said just now: it takes its place, and its reply is waited for. */
export function addMessage(message) {
  batch(() => {
    append(message);
    if (!message.turn || message.role !== "person") return;
    foundMessage.value = "";
    hasUnlearned.value = state.value.forms;
    const isAnswered = messages.value.some((each) => each.role === "companion" && each.turn === message.turn);
    if (!isAnswered && !(message.turn in endings.value)) end(message.turn, "waiting");
  });
}

/** Put the newest message behind the others, where one sees them; one that is there is replaced. */
function append(message) {
  const isThere = messages.value.some((each) => each.id === message.id);
  if (hasLater.value && !isThere) {
    unseenCount.value += 1;
    return;
  }
  insertMessages(message);
  if (messages.value.length > MOST_MESSAGES) {
    messages.value = messages.value.slice(-MOST_MESSAGES);
    hasEarlier.value = true;
  }
}

/** Put messages among the others; one that is there already is replaced where it stands. */
export function insertMessages(...given) {
  const all = [...messages.value];
  for (const each of given) {
    const index = all.findIndex(({ id }) => id === each.id);
    if (index < 0) all.splice(indexBehind(all, each), 0, each);
    else all[index] = each;
  }
  messages.value = all;
}

/** Where a new message goes: a reply behind what it answers, all else behind what was said before.
 * Times are told to the second, in which several things can be said. */
function indexBehind(all, { at, role, turn }) {
  const asked = role === "companion" && turn ? all.findLastIndex((each) => each.turn === turn) : -1;
  return 1 + (asked < 0 ? all.findLastIndex((each) => Date.parse(each.at) <= Date.parse(at)) : asked);
}

/** A message reads otherwise now; nothing happens where it is not in sight. */
export function updateMessage(message) {
  if (messages.value.some((each) => each.id === message.id)) insertMessages(message);
}

/** A reply can be heard now. @param {string} id */
export function markAudioReady(id) {
  const message = messages.value.find((each) => each.id === id);
  if (message) insertMessages({ ...message, has_sound: true });
}

/** A piece of a reply, from where it begins in it. */
export function extendDraft({ turn, asked, start, text, remark }) {
  const before = drafts.value[turn]?.text ?? "";
  drafts.value = { ...drafts.value, [turn]: { asked, text: before.slice(0, start) + text, remark } };
}

/** A reply as it was kept; nothing of it is a draft any more. */
export function finishReply(message) {
  batch(() => {
    drafts.value = without(drafts.value, message.turn);
    endings.value = without(endings.value, message.turn);
    partials.value = without(partials.value, message.turn);
    append(message);
  });
}

/** No reply comes to a turn: say how it ended. */
export function endWithoutReply(turn, ending) {
  batch(() => {
    const { text } = drafts.value[turn] ?? {};
    if (text) partials.value = { ...partials.value, [turn]: text };
    drafts.value = without(drafts.value, turn);
    end(turn, ending);
  });
}

/** No reply comes now to something that was asked: say why. */
export function noteFailure(asked, why) {
  const turn = messages.value.find((each) => each.id === asked)?.turn;
  batch(() => {
    failureReasons.value = { ...failureReasons.value, [asked]: why };
    if (turn) endWithoutReply(turn, "set aside");
  });
}

/** Have something answered after all; the answer may be there before the server has agreed. @param {any} message */
export async function retry({ id, turn }) {
  const [ending, remark] = [endings.value[turn], failureReasons.value[id]];
  batch(() => {
    failureReasons.value = without(failureReasons.value, id);
    partials.value = without(partials.value, turn);
    end(turn, "waiting");
  });
  try {
    await api.retry(id);
  } catch (problem) {
    batch(() => {
      if (remark) failureReasons.value = { ...failureReasons.value, [id]: remark };
      if (endings.value[turn] === "waiting") end(turn, ending);
    });
    throw problem;
  }
}

const PARTIALS = "partials"; // in the storage of this tab
let arePartialsBack = false;

effect(() => {
  const texts = partials.value;
  if (!arePartialsBack) return;
  if (Object.keys(texts).length) sessionStorage.setItem(PARTIALS, JSON.stringify({ whose: me.peek().id, texts }));
  else clearPartials();
});

/** What was written of replies that did not come to their end does not stay in this tab. */
export const clearPartials = () => sessionStorage.removeItem(PARTIALS);

/** After a reload it stands there again; not if something was forgotten since it was asked for, which it may repeat. */
async function takeUpPartials() {
  arePartialsBack = true;
  const kept = sessionStorage.getItem(PARTIALS);
  const { whose, texts } = kept ? JSON.parse(kept) : { whose: null, texts: {} };
  if (whose !== me.value.id) return clearPartials();
  const before = rewritten.value;
  const { items } = await api.forgotten();
  if (before !== rewritten.value) return undefined;
  const last = items.length ? Date.parse(items[0].done_at) : -Infinity;
  const asked = messages.value.filter((each) => each.role === "person" && Date.parse(each.at) > last);
  const there = Object.entries(texts).filter(([turn]) => endings.value[turn] && asked.some((each) => each.turn === turn));
  partials.value = { ...Object.fromEntries(there), ...partials.value };
  return undefined;
}

const end = (turn, ending) => (endings.value = { ...endings.value, [turn]: ending });

function without(record, name) {
  const { [name]: _, ...others } = record;
  return others;
}

let unconfirmedShown = FEW_UNCONFIRMED;

/** What waits for a yes or no, as it is now. @param {boolean} isAll */
export async function loadUnconfirmed(isAll = false) {
  if (isAll) unconfirmedShown = MOST_UNCONFIRMED;
  const page = await asOfNow(() => api.unconfirmed(unconfirmedShown)).catch(() => null);
  if (page) unconfirmed.value = page;
}

/** A decision about something believed: it takes its place, or goes. */
export function addLearned(decided, isNew) {
  const waits = unconfirmed.value.items.some((each) => each.id === decided.belief.id);
  if (waits || decided.belief.status === "unconfirmed") loadUnconfirmed();
  const others = learned.value.filter((each) => each.belief.id !== decided.belief.id);
  if (decided.belief.ended_at) {
    learned.value = others;
    if (latest.value?.belief.id === decided.belief.id) latest.value = null;
    return;
  }
  const index = learned.value.findIndex((each) => each.belief.id === decided.belief.id);
  const shown = { ...decided, isNew };
  learned.value = index < 0 ? [shown, ...others].slice(0, MOST_LEARNED) : learned.value.with(index, { ...shown, at: learned.value[index].at, isNew: false }); // a row keeps its day
  if (isNew) latest.value = decided;
}

let heard = ""; // the newest event that changed what stands here

/** @param {string} position */
export function notePosition(position) {
  heard = position;
}

const MOST_TRIES = 5; // where something new is heard each time, one is as good as the next

/** An answer that is not older than what was heard while it was on its way. @template T @param {() => Promise<T>} ask @returns {Promise<T>} */
async function asOfNow(ask) {
  for (let tries = 1; ; tries++) {
    const before = heard;
    const answer = await ask();
    if (heard === before || tries === MOST_TRIES) return answer;
  }
}

let shows = 0; // of several windows that are asked for, the last stays

/** Everything anew, as it is now, for whoever reads back where they read; where from events go on. */
export async function load() {
  const mine = ++shows;
  const middle = hasLater.value && messages.value.at(messages.value.length / 2);
  const window = () => (middle ? api.messagesAround(middle.id).catch(orNow) : api.messages());
  const [now, said, known] = await asOfNow(() => Promise.all([api.state(), window(), api.learned()]));
  batch(() => {
    state.value = now;
    hasUnlearned.value = now.has_unread;
    mood.value = now.mood;
    progress.value = now.progress;
    if (mine === shows) show(said);
    learned.value = known.items;
    earlierLearned.value = known.earlier;
    phase.value = "open";
  });
  if (!arePartialsBack) takeUpPartials().catch(() => {}); // what was said is there all the same
  loadUnconfirmed();
  return said.position;
}

/** The newest of the talk, where that is gone around which one has read. */
function orNow(problem) {
  if (problem.status !== 404) throw problem;
  return api.messages();
}

/** Another name, or other clocks. @param {{name?: string, zone?: string}} changes */
export async function updateMe(changes) {
  const { name, zone } = await api.changeMe(changes);
  me.value = { ...me.value, name, zone };
}

const settledName = () => `settled:${me.value.id}`;

/** The first run is done: it is not offered in this browser any more. */
export function endFirstRun() {
  localStorage.setItem(settledName(), "yes");
}

export const isFirstRunDone = () => localStorage.getItem(settledName()) !== null;

/** The companion is called so now; what it has said stays signed as it was. @param {string} name */
export function renameCompanion(name) {
  if (name !== state.value.companion) state.value = { ...state.value, companion: name };
}

/** How things are; what was said stays as it is. */
export async function readState() {
  const now = await api.state();
  batch(() => {
    state.value = now;
    hasUnlearned.value = now.has_unread;
  });
}

/** Something was forgotten, here or elsewhere: nothing of it stays on the page. */
export function clear() {
  batch(() => {
    drawer.value = null;
    latest.value = null;
    rejected.value = null;
    drafts.value = {};
    partials.value = {};
    failureReasons.value = {};
    messages.value = [];
    learned.value = [];
    unconfirmed.value = { items: [], total: 0 };
    hasLater.value = false;
    rewritten.value += 1;
  });
}

/** A page of the talk, in place of what was in sight. */
function show(page) {
  messages.value = page.items;
  hasEarlier.value = page.earlier !== null;
  hasLater.value = page.later !== null;
  endings.value = Object.fromEntries(page.unanswered.map(({ turn, ending }) => [turn, ending]));
  if (!hasLater.value) unseenCount.value = 0;
}

/** Back to where the talk is now. */
export function showNewest() {
  return showOnly(() => api.messages());
}

/** A message with what was said around it. @param {string} id */
export function showAround(id) {
  return showOnly(() => api.messagesAround(id));
}

/** @param {() => Promise<any>} ask */
async function showOnly(ask) {
  const mine = ++shows;
  const page = await asOfNow(ask);
  if (mine === shows) batch(() => show(page));
}

/** More of the talk on one side; what is then too far away on the other goes. */
export async function loadMoreMessages(side) {
  const first = messages.value.at(0);
  const last = messages.value.at(-1);
  const page = await asOfNow(() => (side === "earlier" ? api.messagesBefore(first.id) : api.messagesAfter(last.id)));
  if (messages.value.at(0) !== first || messages.value.at(-1) !== last) return;
  batch(() => {
    for (const { turn, ending } of page.unanswered) end(turn, ending);
    if (side === "earlier") {
      const all = [...page.items, ...messages.value];
      hasEarlier.value = page.earlier !== null;
      hasLater.value ||= all.length > MOST_MESSAGES;
      messages.value = all.slice(0, MOST_MESSAGES);
    } else {
      const all = [...messages.value, ...page.items];
      hasLater.value = page.later !== null;
      hasEarlier.value ||= all.length > MOST_MESSAGES;
      messages.value = all.slice(-MOST_MESSAGES);
      if (!hasLater.value) unseenCount.value = 0;
    }
  });
}

export async function loadEarlierLearned() {
  const page = await api.learned(earlierLearned.value);
  const known = new Set(learned.value.map((each) => each.belief.id));
  learned.value = [...learned.value, ...page.items.filter((each) => !known.has(each.belief.id))].slice(0, MOST_LEARNED);
  earlierLearned.value = learned.value.length < MOST_LEARNED ? page.earlier : null;
}
