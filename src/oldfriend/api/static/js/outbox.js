// The outbox: messages written here and not yet accepted by the server, kept in the browser and sent once.
import { signal } from "../vendor/signals.js";
import { api } from "./api.js";
import * as store from "./store.js";

/** Said, and not yet taken in: {key, text} or {key, sound}, and why where it was refused. */
export const pending = signal([]);

const nameOf = (what) => `${what}:${store.me.value.id}`;
const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Take up what this person has left here; of others it stays until they are back. */
export function loadPending() {
  pending.value = kept("pending", []);
}

/** This person leaves this browser: what they have written here goes with them. */
export function clearForSignOut() {
  for (const what of ["pending", "typed"]) localStorage.removeItem(nameOf(what));
  store.clearPartials();
}

/** What this browser has kept for this person. */
function kept(what, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(nameOf(what)) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

export const loadTyped = () => kept("typed", "");

/** @param {string} words */
export function saveTyped(words) {
  localStorage.setItem(nameOf("typed"), JSON.stringify(words));
}

/** Say something: kept in the browser until the server has taken it in, and said once. @param {string} text */
export async function sendMessage(text) {
  keep([...pending.value, { key: newKey(), text }]);
  await sendPending();
}

/** Say something aloud; a recording is kept in this page only. @param {Blob} sound */
export async function sendRecording(sound) {
  keep([...pending.value, { key: newKey(), sound }]);
  await sendPending();
}

const newKey = () => `page-${crypto.randomUUID()}`;
let isSending = false;

/** Send what waits, in order; what cannot be sent now waits on. */
export async function sendPending() {
  if (isSending) return;
  isSending = true;
  try {
    for (let next = first(); next; next = first()) {
      if ((await sendOne(next)) === "later") return;
    }
  } finally {
    isSending = false;
  }
}

const first = () => pending.value.find((each) => !each.why);

async function sendOne({ key, text, sound }) {
  try {
    store.addMessage(await (sound ? api.sayAloud(key, sound, zone()) : api.say(key, text, zone())));
    discard(key);
  } catch (problem) {
    if (problem.status === 0 || problem.status === 401 || (problem.status >= 500 && !sound)) return "later";
    change(key, { why: problem.message, status: problem.status });
  }
  return "next";
}

/** @param {string} key */
export function discard(key) {
  keep(pending.value.filter((each) => each.key !== key));
}

/** @param {string} key */
export function retry(key) {
  change(key, { why: undefined, status: undefined });
  return sendPending();
}

function change(key, more) {
  keep(pending.value.map((each) => (each.key === key ? { ...each, ...more } : each)));
}

function keep(value) {
  pending.value = value;
  localStorage.setItem(nameOf("pending"), JSON.stringify(value.filter((each) => !each.sound)));
}
