// What the person decides about something believed, as they have seen it: at once, and with an undo where it can be undone.
import { CHANGED } from "../api.js";
import { go } from "../places.js";
import { t } from "../words.js";
import * as book from "./book.js";
import { house } from "./house.js";

/** Have something decided; where somebody else was quicker, that is said, and how it reads now is shown. */
async function decide(belief, deed) {
  const after = await book.attempt(() => deed().catch((problem) => lookAgain(belief, problem)));
  if (after) book.place(after);
  return after;
}

async function lookAgain(belief, problem) {
  if (problem.status !== CHANGED) throw problem;
  book.place(await house.one(belief.id));
  throw new Error(t("memory_changed_by_other"));
}

/** Confirm, pin or unpin it. @param {any} belief @param {string} verdict */
export const judge = (belief, verdict) => decide(belief, () => house.judge(belief, verdict));

/** It is not so; that can be taken back. @param {any} belief */
export async function reject(belief) {
  const after = await judge(belief, "reject");
  if (!after) return;
  const undo = () => judge(after, "unreject");
  if (!book.keepTakenBack(after, undo)) book.offerUndo(t("wrong_done", { text: belief.sentence }), undo);
}

/** Two that say the same: the other joins the first; they can be separated again. */
export async function merge(belief, other) {
  const after = await decide(belief, () => house.merge(belief, other.id));
  if (after) book.offerUndo(t("memory_merged", { text: other.text }), () => separate(after, other.id));
  return after;
}

/** They are two after all. @param {any} belief @param {string} other */
export const separate = (belief, other) => decide(belief, () => house.separate(belief, other));

/** Show what would be forgotten with it. @param {any} belief */
export const foresee = (belief) => go(`/forget/${belief.id}`);
