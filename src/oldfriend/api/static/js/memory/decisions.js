// Decisions of a person about a belief: applied at once, with undo where it is possible.
import { PRECONDITION_FAILED } from "../api.js";
import { navigate } from "../router.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { memoryApi } from "./api.js";

/** Have something decided; where somebody else was quicker, that is said, and how it reads now is shown. */
async function decide(belief, deed) {
  const after = await beliefList.tryAction(() => deed().catch((problem) => lookAgain(belief, problem)));
  if (after) beliefList.replaceBelief(after);
  return after;
}

async function lookAgain(belief, problem) {
  if (problem.status !== PRECONDITION_FAILED) throw problem;
  beliefList.replaceBelief(await memoryApi.one(belief.id));
  throw new Error(t("memory_changed_by_other"));
}

/** Confirm, pin or unpin it. @param {any} belief @param {string} verdict */
export const sendVerdict = (belief, verdict) => decide(belief, () => memoryApi.judge(belief, verdict));

/** It is not so; that can be taken back. @param {any} belief */
export async function reject(belief) {
  const after = await sendVerdict(belief, "reject");
  if (!after) return;
  const undo = () => sendVerdict(after, "unreject");
  if (!beliefList.keepRejected(after, undo)) beliefList.offerUndo(t("wrong_done", { text: belief.sentence }), undo);
}

/** Two that say the same: the other joins the first; they can be separated again. */
export async function merge(belief, other) {
  const after = await decide(belief, () => memoryApi.merge(belief, other.id));
  if (after) beliefList.offerUndo(t("memory_merged", { text: other.text }), () => separate(after, other.id));
  return after;
}

/** They are two after all. @param {any} belief @param {string} other */
export const separate = (belief, other) => decide(belief, () => memoryApi.separate(belief, other));

/** Show what would be forgotten with it. @param {any} belief */
export const openForget = (belief) => navigate(`/forget/${belief.id}`);
