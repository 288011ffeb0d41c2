// Requests about uploads and imports, and polling while something is in progress.
import { signal } from "../../vendor/signals.js";
import { request, ApiError, sendFile } from "../api.js";
import * as store from "../store.js";

const LOOK_MS = 700;
const LOST_MS = 3000; // after something went wrong
const UNDER_WAY = ["checking", "waiting", "writing", "understanding", "reading"];
const at = encodeURIComponent;

export const uploads = signal([]); // handed over, and how far each is
export const imports = signal(null);
export const learning = signal(null);
export const uploading = signal([]); // {name, percent, why}

let timer = 0;
let visit = null; // one for each time that somebody comes to look on; none while nobody does

/** Look how things are; and again, for as long as something is under way and somebody looks on. */
export function startPolling() {
  visit = Symbol("visit");
  return look();
}

export function stopPolling() {
  visit = null;
  clearTimeout(timer);
}

/** Look once; and again, for whoever looks on still. What may pass is tried again later. */
async function look() {
  clearTimeout(timer);
  const mine = visit;
  let wait = 0;
  try {
    wait = (await isMoving()) ? LOOK_MS : 0;
  } catch (problem) {
    wait = mayPass(problem) ? LOST_MS : 0;
    throw problem;
  } finally {
    clearTimeout(timer);
    if (wait && mine && mine === visit) timer = setTimeout(() => look().catch(leaveUntold), wait);
  }
}

/** Whoever looks on sees how things were, until the server is reached again. @param {unknown} problem */
function leaveUntold(problem) {
  if (!(problem instanceof ApiError)) throw problem;
}

/** Whether it may go well the next time. @param {unknown} problem */
function mayPass(problem) {
  return problem instanceof ApiError && (problem.status === 0 || problem.status >= 500);
}

/** Read how things are; whether something is under way. */
async function isMoving() {
  const before = uploads.value.filter(isUnderWay).length;
  const [handed, brought, old] = await Promise.all([request("/uploads"), before && imports.value ? null : request("/imports"), request("/learning")]);
  uploads.value = handed.items;
  if (brought) imports.value = brought.items;
  learning.value = old;
  const now = uploads.value.filter(isUnderWay).length;
  if (before > now) {
    imports.value = (await request("/imports")).items;
    await store.load(); // no event tells of the talk that has come
  }
  return now > 0 || (old.waiting && !old.is_paused);
}

/** @param {{stage: string}} file */
export function isUnderWay(file) {
  return UNDER_WAY.includes(file.stage);
}

export const calendars = signal([]); // {file, items, unused, is_preview}: what a calendar holds, or what was put on the list

/** Show what a calendar file holds, or put on the list what is new of it. @param {File} file @param {boolean} isPreview @param {(percent: number) => void} tell */
async function readCalendar(file, isPreview, tell) {
  const answer = await sendFile(`/tasks/calendar.ics?preview=${isPreview}`, file, tell);
  calendars.value = [...calendars.value.filter((each) => each.file.name !== file.name), { file, ...answer }];
}

/** @param {File} file */
export const importCalendar = (file) => readCalendar(file, false, () => undefined);

/** @param {File} file */
export function dismissCalendar(file) {
  calendars.value = calendars.value.filter((each) => each.file !== file);
}

/** Hand files over, one after another; what cannot be is said beside its name. @param {Iterable<File>} chosen */
export async function uploadFiles(chosen) {
  for (const file of chosen) {
    const show = (given) => (uploading.value = [...uploading.value.filter((each) => each.name !== file.name), ...given]);
    show([{ name: file.name, percent: 0 }]);
    try {
      const tell = (percent) => show([{ name: file.name, percent }]);
      await (/\.ics$/i.test(file.name) ? readCalendar(file, true, tell) : sendFile("/uploads", file, tell));
      show([]);
      await look();
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      show([{ name: file.name, percent: 0, why: problem.message }]);
    }
  }
}

/** @param {string} name */
export function dismissUpload(name) {
  uploading.value = uploading.value.filter((each) => each.name !== name);
}

async function act(path, options) {
  const answer = await request(path, options);
  await look();
  return answer;
}

/** @param {string} id @param {string | null} me @param {string} zone */
export const startImport = (id, me, zone) => act(`/uploads/${at(id)}/import`, { method: "POST", json: { me, zone } });
export const pauseImport = (id) => act(`/uploads/${at(id)}/pause`, { method: "POST" });
export const deleteUpload = (id) => act(`/uploads/${at(id)}`, { method: "DELETE" });
export async function undoImport(number) {
  const undone = await act(`/imports/${at(number)}/undo`, { method: "POST" });
  await store.load();
  return undone;
}
export const readWithModel = () => act("/learning/model", { method: "POST" });
export const pauseReading = () => act("/learning/pause", { method: "POST" });
export const resumeReading = () => act("/learning/resume", { method: "POST" });
