// The session's token in this origin's storage; cookies go to every port of a machine.
import { unsubscribe } from "./app_shell.js";

const KEPT = "oldfriend-session"; // in the storage of this origin alone, port included: {id, token}
const RENEWED_MS = 1000; // so long after the cookie another tab keeps what goes with it
const LOOK_MS = 50;

/** @type {string | null} */
let whose = null; // a page is one person's, from the first answer on

/** @returns {{id?: string, token?: string}} */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}

const isAnothers = () => whose !== null && kept().id !== undefined && kept().id !== whose;

/** What is shown with everything that is asked; another person's is not taken. */
export const findToken = () => (isAnothers() ? "" : (kept().token ?? ""));

/** Keep what somebody was told who has just signed in; what this device was told for another ends. @param {any} signed */
export async function saveSession(signed) {
  const isNew = kept().id !== signed.id;
  localStorage.setItem(KEPT, JSON.stringify({ id: signed.id, token: signed.token }));
  if (isNew) await unsubscribe().catch(() => {});
  return bindToPerson(signed);
}

/** The page is this person's, unless it is somebody's already. @param {any} signed */
export function bindToPerson(signed) {
  whose ??= signed.id;
  return signed;
}

/** Nobody is signed in here any more. */
export const clearSession = () => localStorage.removeItem(KEPT);

/** Whether another tab has signed in since something was shown; if as somebody else, the page is theirs. @param {string} shown */
export async function isRenewedElsewhere(shown) {
  if (!shown && !isAnothers()) return false;
  for (let waited = 0; waited < RENEWED_MS; waited += LOOK_MS) {
    if (isAnothers()) return reload();
    if (kept().token !== shown) return kept().token !== undefined;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return false;
}

/** @returns {Promise<never>} */
function reload() {
  location.reload();
  return new Promise(() => {}); // nothing more is done here
}

addEventListener("storage", ({ key }) => key === KEPT && isAnothers() && reload());
