// The selection to be forgotten, its preview, and the proof of the last deletion.
import { signal } from "../../vendor/signals.js";
import { api, request } from "../api.js";

export const selection = signal({}); // as the API takes it; {}: nothing is selected
export const preview = signal(null); // the server's preview of deleting the selection; null while it loads
export const error = signal(""); // message of the last error; "lost": the server was not reached
export const proof = signal(null); // proof of the last deletion made on this page
export const isBusy = signal(false);

const ID_PATTERN = /^[0-9a-f-]{8,}$/i;

/** Parses a selection from an address: ids separated by commas, or about=, import=, since=, until=, everything=. @param {string} text */
export function parseSelection(text) {
  if (!text.includes("=")) return { ids: text.split(",").filter((each) => ID_PATTERN.test(each)) };
  const params = new URLSearchParams(text);
  return {
    ...(params.get("about") && { about: params.get("about") }),
    ...(Number(params.get("import")) && { import: Number(params.get("import")) }),
    ...(params.get("since") && { since: params.get("since") }),
    ...(params.get("until") && { until: params.get("until") }),
    ...(params.get("everything") && { everything: true }),
  };
}

export const isEmptySelection = ({ ids, about, since, until, import: batch, everything }) =>
  !(ids?.length || about?.trim() || since || until || batch || everything);

let requestCount = 0;

/** Replaces the selection and loads its preview; a later call supersedes this one. */
export async function loadPreview(newSelection) {
  const requestNumber = ++requestCount;
  selection.value = newSelection;
  preview.value = null;
  error.value = "";
  if (isEmptySelection(newSelection)) return;
  try {
    const loaded = await request("/forget/preview", { method: "POST", json: toRequest(newSelection) });
    if (requestNumber === requestCount) preview.value = loaded;
  } catch (failure) {
    if (requestNumber === requestCount) error.value = failure.status ? failure.message : "lost";
  }
}

/** Returns the selection for the API, without a blank `about`. */
const toRequest = ({ about, ...rest }) => (about?.trim() ? { about, ...rest } : rest);

/** Adds an id to the selection and reloads the preview. @param {string} id */
export const addToSelection = (id) => loadPreview({ ...selection.value, ids: [...(selection.value.ids ?? []), id] });

/** Removes an id from the selection and reloads the preview. @param {string} id */
export const removeFromSelection = (id) => loadPreview({ ...selection.value, ids: selection.value.ids.filter((each) => each !== id) });

/** Replaces the selection but for its ids and `orphan`, and reloads the preview. */
export const changeSelection = (changes) => loadPreview({ ids: selection.value.ids, orphan: selection.value.orphan, ...changes });

/** Deletes exactly what was previewed and returns true. Returns false on an error; if the data changed since the
 * preview, nothing is deleted and the preview is reloaded. */
export async function forget() {
  isBusy.value = true;
  try {
    proof.value = await request("/forget", { method: "POST", json: toRequest(selection.value), headers: { "If-Match": preview.value.etag } });
    requestCount += 1;
    selection.value = {};
    preview.value = null;
    return true;
  } catch (failure) {
    if (failure.status === 412) await loadPreview(selection.value);
    error.value = failure.status ? failure.message : "lost";
    return false;
  } finally {
    isBusy.value = false;
  }
}

export const listDeletions = api.listDeletions;
export const listImports = () => request("/imports");
