// The selection to be forgotten, its preview, and the proof of the last deletion.
import { signal } from "../../vendor/signals.js";
import { api, request } from "../api.js";

export const selection = signal({}); // as the server takes it; {}: nothing is named yet
export const preview = signal(null); // what would follow from it
export const error = signal(""); // "lost": the server was not reached
export const proof = signal(null); // of what was forgotten last, on this page
export const isBusy = signal(false);

const ID = /^[0-9a-f-]{8,}$/i;

/** The wish that an address names: ids with commas between, or about=, import=, since=, until=, everything=.
 * @param {string} text */
export function parseSelection(text) {
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

export const isEmptySelection = ({ ids, about, since, until, import: batch, everything }) =>
  !(ids?.length || about?.trim() || since || until || batch || everything);

let asked = 0;

/** See what would follow from a wish. */
export async function loadPreview(wanted) {
  const mine = ++asked;
  selection.value = wanted;
  preview.value = null;
  error.value = "";
  if (isEmptySelection(wanted)) return;
  try {
    const seen = await request("/forget/preview", { method: "POST", json: asSent(wanted) });
    if (mine === asked) preview.value = seen;
  } catch (problem) {
    if (mine === asked) error.value = problem.status ? problem.message : "lost";
  }
}

/** A name of which nothing is written yet names nobody. */
const asSent = ({ about, ...others }) => (about?.trim() ? { about, ...others } : others);

/** Choose something besides; what follows is seen anew. @param {string} id */
export const addToSelection = (id) => loadPreview({ ...selection.value, ids: [...(selection.value.ids ?? []), id] });

/** Let go of what was chosen by its id. @param {string} id */
export const removeFromSelection = (id) => loadPreview({ ...selection.value, ids: selection.value.ids.filter((each) => each !== id) });

/** Name something otherwise; what was chosen by its id stays chosen. */
export const changeSelection = (named) => loadPreview({ ids: selection.value.ids, orphan: selection.value.orphan, ...named });

/** Do exactly what was seen; where something has changed meanwhile, it is shown anew and not done. */
export async function forget() {
  isBusy.value = true;
  try {
    proof.value = await request("/forget", { method: "POST", json: asSent(selection.value), headers: { "If-Match": preview.value.etag } });
    asked += 1;
    selection.value = {};
    preview.value = null;
    return true;
  } catch (problem) {
    if (problem.status === 412) await loadPreview(selection.value);
    error.value = problem.status ? problem.message : "lost";
    return false;
  } finally {
    isBusy.value = false;
  }
}

export const listDeletions = api.forgotten;
export const listImports = () => request("/imports");
