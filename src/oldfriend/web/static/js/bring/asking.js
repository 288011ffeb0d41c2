// What the house does about files, and how the page asks for it.
import { signal } from "../../vendor/signals.js";
import { ask, Problem, sendFile } from "../api.js";

const LOOK_MS = 700;
const UNDER_WAY = ["checking", "waiting", "writing", "understanding", "reading"];
const at = encodeURIComponent;

export const files = signal([]); // handed over, and how far each is
export const imports = signal(null);
export const oldTalk = signal(null);
export const sending = signal([]); // {name, percent, why}

let timer = 0;

/** Look how things are; and again, for as long as something is under way and somebody looks on. */
export async function look() {
  clearTimeout(timer);
  const before = files.value.filter(isUnderWay).length;
  const [handed, brought, old] = await Promise.all([ask("/bring/files"), before && imports.value ? null : ask("/bring/imports"), ask("/bring/reading")]);
  files.value = handed.items;
  if (brought) imports.value = brought.items;
  oldTalk.value = old;
  const now = files.value.filter(isUnderWay).length;
  if (before > now) imports.value = (await ask("/bring/imports")).items;
  if (now || (old.waiting && !old.is_paused)) timer = setTimeout(look, LOOK_MS);
}

export function lookAway() {
  clearTimeout(timer);
}

/** @param {{stage: string}} file */
export function isUnderWay(file) {
  return UNDER_WAY.includes(file.stage);
}

/** Hand files over, one after another; what cannot be is said beside its name. @param {Iterable<File>} chosen */
export async function handOver(chosen) {
  for (const file of chosen) {
    const show = (given) => (sending.value = [...sending.value.filter((each) => each.name !== file.name), ...given]);
    show([{ name: file.name, percent: 0 }]);
    try {
      await sendFile("/bring/files", file, (percent) => show([{ name: file.name, percent }]));
      show([]);
      await look();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      show([{ name: file.name, percent: 0, why: problem.message }]);
    }
  }
}

/** @param {string} name */
export function dropSending(name) {
  sending.value = sending.value.filter((each) => each.name !== name);
}

async function act(path, options) {
  const answer = await ask(path, options);
  await look();
  return answer;
}

/** @param {string} id @param {string | null} me @param {string} zone */
export const bring = (id, me, zone) => act(`/bring/files/${at(id)}/import`, { method: "POST", json: { me, zone } });
export const pauseFile = (id) => act(`/bring/files/${at(id)}/pause`, { method: "POST" });
export const putAway = (id) => act(`/bring/files/${at(id)}`, { method: "DELETE" });
export const undo = (number) => act(`/bring/imports/${at(number)}/undo`, { method: "POST" });
export const readWithModel = () => act("/bring/reading/model", { method: "POST" });
export const pauseReading = () => act("/bring/reading/pause", { method: "POST" });
export const resumeReading = () => act("/bring/reading/resume", { method: "POST" });
