// What this page holds of its session, beside a cookie that browsers send to every port of this machine.
import { quieten } from "./shell.js";

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
export const secret = () => (isAnothers() ? "" : (kept().token ?? ""));

/** Keep what somebody was told who has just signed in; what this device was told for another ends. @param {any} signed */
export async function keep(signed) {
  const isNew = kept().id !== signed.id;
  localStorage.setItem(KEPT, JSON.stringify({ id: signed.id, token: signed.token }));
  if (isNew) await quieten().catch(() => {});
  return belongTo(signed);
}

/** The page is this person's, unless it is somebody's already. @param {any} signed */
export function belongTo(signed) {
  whose ??= signed.id;
  return signed;
}

/** Nobody is signed in here any more. */
export const drop = () => localStorage.removeItem(KEPT);

/** Whether another tab has signed in since something was shown; if as somebody else, the page is theirs. @param {string} shown */
export async function isRenewed(shown) {
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
