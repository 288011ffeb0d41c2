// What the person decides about something believed: at once, and with an undo where it can be undone.
import { go } from "../places.js";
import { t } from "../words.js";
import * as book from "./book.js";
import { house } from "./house.js";

/** Confirm, pin or unpin it. @param {any} belief @param {string} verdict */
export async function judge(belief, verdict) {
  const after = await book.attempt(() => house.judge(belief.id, verdict));
  if (after) book.place(after);
  return after;
}

/** It is not so; that can be taken back. @param {any} belief */
export async function reject(belief) {
  const after = await judge(belief, "reject");
  if (after) book.offerUndo(t("wrong_done", { text: belief.text }), () => judge(belief, "confirm"));
}

/** Two that say the same: the other joins the first; they can be separated again. */
export async function merge(belief, other) {
  const after = await book.attempt(() => house.merge(belief.id, other.id));
  if (!after) return null;
  book.place(after);
  book.offerUndo(t("memory_merged", { text: other.text }), () => separate(belief, other.id));
  return after;
}

/** They are two after all. @param {any} belief @param {string} other */
export async function separate(belief, other) {
  const after = await book.attempt(() => house.separate(belief.id, other));
  if (after) book.place(after);
  return after;
}

/** Show what would be forgotten with it. @param {any} belief */
export const foresee = (belief) => go(`/forget/${belief.id}`);
