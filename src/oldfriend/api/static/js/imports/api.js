// Requests about uploads and imports, and polling while something is in progress.
import { signal } from "../../vendor/signals.js";
import { request, ApiError, sendFile } from "../api.js";
import * as store from "../store.js";

const POLL_MS = 700;
const RETRY_DELAY_MS = 3000; // after a failed request
const STAGES_IN_PROGRESS = ["checking", "waiting", "writing", "understanding", "reading"];
const at = encodeURIComponent;

export const uploads = signal([]); // uploaded files, each with its progress
export const imports = signal(null);
export const learning = signal(null);
export const uploading = signal([]); // {name, percent, why}

let timer = 0;
let pollSession = null; // a Symbol for each call of startPolling; null while polling is stopped

/** Loads the state now, and repeatedly while anything is in progress, until stopPolling is called. */
export function startPolling() {
  pollSession = Symbol("poll session");
  return poll();
}

export function stopPolling() {
  pollSession = null;
  clearTimeout(timer);
}

/** Loads the state once; schedules the next poll while polling is on. Rejects on an error, after which a temporary one is retried. */
async function poll() {
  clearTimeout(timer);
  const ownSession = pollSession;
  let delayMs = 0;
  try {
    delayMs = (await loadState()) ? POLL_MS : 0;
  } catch (failure) {
    delayMs = isTemporary(failure) ? RETRY_DELAY_MS : 0;
    throw failure;
  } finally {
    clearTimeout(timer);
    if (delayMs && ownSession && ownSession === pollSession) timer = setTimeout(() => poll().catch(ignoreApiError), delayMs);
  }
}

/** Keeps the last loaded state on an API error; rethrows any other error. @param {unknown} failure */
function ignoreApiError(failure) {
  if (!(failure instanceof ApiError)) throw failure;
}

/** Whether a request may succeed when retried: the server was not reached, or failed. @param {unknown} failure */
function isTemporary(failure) {
  return failure instanceof ApiError && (failure.status === 0 || failure.status >= 500);
}

/** Loads uploads, imports and learning; returns whether anything is in progress. */
async function loadState() {
  const countBefore = uploads.value.filter(isInProgress).length;
  const [uploadPage, importPage, learningState] = await Promise.all([request("/uploads"), countBefore && imports.value ? null : request("/imports"), request("/learning")]);
  uploads.value = uploadPage.items;
  if (importPage) imports.value = importPage.items;
  learning.value = learningState;
  const countNow = uploads.value.filter(isInProgress).length;
  if (countBefore > countNow) {
    imports.value = (await request("/imports")).items;
    await store.load(); // no event announces imported messages
  }
  return countNow > 0 || (learningState.waiting && !learningState.is_paused);
}

/** @param {{stage: string}} file */
export function isInProgress(file) {
  return STAGES_IN_PROGRESS.includes(file.stage);
}

export const calendars = signal([]); // {file, items, unused, is_preview}: previews and results of calendar files

/** Uploads a calendar file: shows a preview of its entries, or adds the new ones to the tasks.
 * @param {File} file @param {boolean} isPreview @param {(percent: number) => void} onProgress */
async function readCalendar(file, isPreview, onProgress) {
  const response = await sendFile(`/tasks/calendar.ics?preview=${isPreview}`, file, onProgress);
  calendars.value = [...calendars.value.filter((each) => each.file.name !== file.name), { file, ...response }];
}

/** @param {File} file */
export async function importCalendar(file) {
  await readCalendar(file, false, () => undefined);
  imports.value = (await request("/imports")).items;
}

/** @param {File} file */
export function dismissCalendar(file) {
  calendars.value = calendars.value.filter((each) => each.file !== file);
}

/** Uploads files one after another; an error is shown beside the name of its file. @param {Iterable<File>} files */
export async function uploadFiles(files) {
  for (const file of files) {
    const show = (entries) => (uploading.value = [...uploading.value.filter((each) => each.name !== file.name), ...entries]);
    show([{ name: file.name, percent: 0 }]);
    try {
      const onProgress = (percent) => show([{ name: file.name, percent }]);
      await (/\.ics$/i.test(file.name) ? readCalendar(file, true, onProgress) : sendFile("/uploads", file, onProgress));
      show([]);
      await poll();
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      show([{ name: file.name, percent: 0, why: failure.message }]);
    }
  }
}

/** @param {string} name */
export function dismissUpload(name) {
  uploading.value = uploading.value.filter((each) => each.name !== name);
}

async function act(path, options) {
  const response = await request(path, options);
  await poll();
  return response;
}

/** @param {string} id @param {string | null} me @param {string} zone */
export const startImport = (id, me, zone) => act(`/uploads/${at(id)}/import`, { method: "POST", json: { me, zone } });
export const pauseImport = (id) => act(`/uploads/${at(id)}/pause`, { method: "POST" });
export const deleteUpload = (id) => act(`/uploads/${at(id)}`, { method: "DELETE" });
export async function undoImport(number) {
  const response = await act(`/imports/${at(number)}/undo`, { method: "POST" });
  await store.load();
  return response;
}
export const readWithModel = () => act("/learning/model", { method: "POST" });
export const pauseReading = () => act("/learning/pause", { method: "POST" });
export const resumeReading = () => act("/learning/resume", { method: "POST" });
