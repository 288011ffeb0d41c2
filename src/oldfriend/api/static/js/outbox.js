// The outbox: messages written here and not yet accepted by the server, kept in the browser and sent once.
import { signal } from "../vendor/signals.js";
import { api } from "./api.js";
import * as store from "./store.js";

/** Messages not yet accepted by the server: {key, text} or {key, sound}, with {why, status} if the server refused one. */
export const pending = signal([]);

const storageKey = (name) => `${name}:${store.me.value.id}`;
const findZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Loads this person's pending messages; those of other people stay stored until they sign in. */
export function loadPending() {
  pending.value = loadStored("pending", []);
}

/** Deletes this person's pending messages, draft and partial replies from this browser. */
export function clearForSignOut() {
  for (const name of ["pending", "typed"]) localStorage.removeItem(storageKey(name));
  store.clearPartials();
}

/** Returns a stored value of this person, or the fallback. */
function loadStored(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(storageKey(name)) ?? "null") ?? fallback;
  } catch {
    return fallback;
  }
}

export const loadTyped = () => loadStored("typed", "");

/** @param {string} words */
export function saveTyped(words) {
  localStorage.setItem(storageKey("typed"), JSON.stringify(words));
}

/** Sends a message; it is kept in the browser until the server has accepted it, and is accepted once. @param {string} text */
export async function sendMessage(text) {
  savePending([...pending.value, { key: createKey(), text }]);
  await sendPending();
}

/** Sends a recording; it is kept in memory only until the server has accepted it. @param {Blob} sound */
export async function sendRecording(sound) {
  savePending([...pending.value, { key: createKey(), sound }]);
  await sendPending();
}

const createKey = () => `page-${crypto.randomUUID()}`;
let isSending = false;

/** Sends the pending messages in order; stops at the first that cannot be sent now. */
export async function sendPending() {
  if (isSending) return;
  isSending = true;
  try {
    for (let next = findNext(); next; next = findNext()) {
      if ((await sendOne(next)) === "later") return;
    }
  } finally {
    isSending = false;
  }
}

const findNext = () => pending.value.find((each) => !each.why);

async function sendOne({ key, text, sound }) {
  try {
    store.addMessage(await (sound ? api.sendRecording(key, sound, findZone()) : api.sendMessage(key, text, findZone())));
    discard(key);
  } catch (failure) {
    if (failure.status === 0 || failure.status === 401 || (failure.status >= 500 && !sound)) return "later";
    updatePending(key, { why: failure.message, status: failure.status });
  }
  return "next";
}

/** @param {string} key */
export function discard(key) {
  savePending(pending.value.filter((each) => each.key !== key));
}

/** @param {string} key */
export function retry(key) {
  updatePending(key, { why: undefined, status: undefined });
  return sendPending();
}

function updatePending(key, changes) {
  savePending(pending.value.map((each) => (each.key === key ? { ...each, ...changes } : each)));
}

function savePending(value) {
  pending.value = value;
  localStorage.setItem(storageKey("pending"), JSON.stringify(value.filter((each) => !each.sound)));
}
