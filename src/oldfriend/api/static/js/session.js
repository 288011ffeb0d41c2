// The session's token in this origin's storage; cookies go to every port of a machine.
import { unsubscribe } from "./app_shell.js";

const STORAGE_KEY = "oldfriend-session"; // local storage: {id, token}; separate for each origin, port included
const RENEWAL_WAIT_MS = 1000; // how long another tab may take to store the token after the cookie has changed
const POLL_MS = 50;

/** @type {string | null} */
let personId = null; // id of the person this page belongs to, set by the first response

/** @returns {{id?: string, token?: string}} */
function readSession() {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "{}");
  } catch {
    return {};
  }
}

const isOtherPerson = () => personId !== null && readSession().id !== undefined && readSession().id !== personId;

/** Returns the token sent with every request; "" if there is none or it belongs to another person. */
export const findToken = () => (isOtherPerson() ? "" : (readSession().token ?? ""));

/** Stores the session of a sign-in; removes the push subscription of another person. @param {any} session */
export async function saveSession(session) {
  const isNewPerson = readSession().id !== session.id;
  localStorage.setItem(STORAGE_KEY, JSON.stringify({ id: session.id, token: session.token }));
  if (isNewPerson) await unsubscribe().catch(() => {});
  return bindToPerson(session);
}

/** Binds the page to the session's person, unless it is bound already; returns the session. @param {any} session */
export function bindToPerson(session) {
  personId ??= session.id;
  return session;
}

/** Removes the stored session. */
export const clearSession = () => localStorage.removeItem(STORAGE_KEY);

/** Whether another tab has stored a new token since the given one was sent; waits up to RENEWAL_WAIT_MS for it. Reloads
 * the page if another person has signed in.
 * @param {string} token */
export async function isRenewedElsewhere(token) {
  if (!token && !isOtherPerson()) return false;
  for (let waitedMs = 0; waitedMs < RENEWAL_WAIT_MS; waitedMs += POLL_MS) {
    if (isOtherPerson()) return reload();
    if (readSession().token !== token) return readSession().token !== undefined;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return false;
}

/** @returns {Promise<never>} */
function reload() {
  location.reload();
  return new Promise(() => {}); // never resolves: the page is reloading
}

addEventListener("storage", ({ key }) => key === STORAGE_KEY && isOtherPerson() && reload());
