// The person's decisions about a belief, sent at once, with undo where possible.
import { PRECONDITION_FAILED } from "../api.js";
import { announce } from "../focus.js";
import { navigate } from "../router.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { memoryApi } from "./api.js";

/** Send a decision and update the row; returns the belief as it is then, or null. If it was changed meanwhile, reports that and shows the current version. */
async function decide(belief, send) {
  const updated = await beliefList.tryAction(() => send().catch((error) => reloadIfChanged(belief, error)));
  if (updated) beliefList.replaceBelief(updated);
  return updated;
}

async function reloadIfChanged(belief, error) {
  if (error.status !== PRECONDITION_FAILED) throw error;
  beliefList.replaceBelief(await memoryApi.belief(belief.id));
  throw new Error(t("memory_changed_by_other"));
}

const TOLD = { confirm: () => t("kept"), pin: () => t("memory_pinned"), unpin: () => t("memory_unpinned") };

/** Confirm, pin, unpin or reject a belief. @param {any} belief @param {string} verdict */
export async function sendVerdict(belief, verdict) {
  const updated = await decide(belief, () => memoryApi.sendVerdict(belief, verdict));
  if (updated && TOLD[verdict]) announce(`${TOLD[verdict]()}: ${belief.sentence}`);
  return updated;
}

/** Reject a belief as wrong, with undo. @param {any} belief */
export async function reject(belief) {
  const updated = await sendVerdict(belief, "reject");
  if (!updated) return;
  const undo = () => sendVerdict(updated, "unreject");
  if (!beliefList.keepRejected(updated, undo)) beliefList.offerUndo(t("wrong_done", { text: belief.sentence }), undo);
}

/** Merge another belief into this one, with undo; returns the merged belief, or null if it failed. */
export async function merge(belief, other) {
  const merged = await decide(belief, () => memoryApi.merge(belief, other.id));
  if (merged) beliefList.offerUndo(t("memory_merged", { text: other.text }), () => separate(merged, other.id));
  return merged;
}

/** Undo a merge. @param {any} belief @param {string} other */
export const separate = (belief, other) => decide(belief, () => memoryApi.separate(belief, other));

/** Open the preview of forgetting a belief. @param {any} belief */
export const openForget = (belief) => navigate(`/forget/${belief.id}`);
