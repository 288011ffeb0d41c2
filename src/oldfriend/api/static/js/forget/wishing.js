// What is to be forgotten, what would follow, what was done? Kept while one is at it.
import { signal } from "../../vendor/signals.js";
import { api, ask } from "../api.js";

export const wish = signal({}); // as the house takes it; {}: nothing is named yet
export const foreseen = signal(null); // what would follow from it
export const trouble = signal(""); // "lost": the house was not reached
export const proof = signal(null); // of what was forgotten last, on this page
export const isBusy = signal(false);

const ID = /^[0-9a-f-]{8,}$/i;

/** The wish that an address names: ids with commas between, or about=, import=, since=, until=, everything=.
 * @param {string} text */
export function wishIn(text) {
  if (!text.includes("=")) return { ids: text.split(",").filter((each) => ID.test(each)) };
  const named = new URLSearchParams(text);
  return {
    ...(named.get("about") && { about: named.get("about") }),
    ...(Number(named.get("import")) && { import: Number(named.get("import")) }),
    ...(named.get("since") && { since: named.get("since") }),
    ...(named.get("until") && { until: named.get("until") }),
    ...(named.get("everything") && { everything: true }),
  };
}

export const namesNothing = ({ ids, about, since, until, import: batch, everything }) =>
  !(ids?.length || about?.trim() || since || until || batch || everything);

let asked = 0;

/** See what would follow from a wish. */
export async function foresee(wanted) {
  const mine = ++asked;
  wish.value = wanted;
  foreseen.value = null;
  trouble.value = "";
  if (namesNothing(wanted)) return;
  try {
    const seen = await ask("/forget/preview", { method: "POST", json: asSent(wanted) });
    if (mine === asked) foreseen.value = seen;
  } catch (problem) {
    if (mine === asked) trouble.value = problem.status ? problem.message : "lost";
  }
}

/** A name of which nothing is written yet names nobody. */
const asSent = ({ about, ...others }) => (about?.trim() ? { about, ...others } : others);

/** Choose something besides; what follows is seen anew. @param {string} id */
export const wishFor = (id) => foresee({ ...wish.value, ids: [...(wish.value.ids ?? []), id] });

/** Let go of what was chosen by its id. @param {string} id */
export const wishNotFor = (id) => foresee({ ...wish.value, ids: wish.value.ids.filter((each) => each !== id) });

/** Name something otherwise; what was chosen by its id stays chosen. */
export const wishWith = (named) => foresee({ ids: wish.value.ids, orphan: wish.value.orphan, ...named });

/** Do exactly what was seen; where something has changed meanwhile, it is shown anew and not done. */
export async function forget() {
  isBusy.value = true;
  try {
    proof.value = await ask("/forget", { method: "POST", json: asSent(wish.value), headers: { "If-Match": foreseen.value.etag } });
    asked += 1;
    wish.value = {};
    foreseen.value = null;
    return true;
  } catch (problem) {
    if (problem.status === 412) await foresee(wish.value);
    trouble.value = problem.status ? problem.message : "lost";
    return false;
  } finally {
    isBusy.value = false;
  }
}

export const listDone = api.forgotten;
export const listImports = () => ask("/imports");
