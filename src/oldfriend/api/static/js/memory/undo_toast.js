// What became of an action: its error, or the way to undo it.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";

const UNDO_MS = 30_000;
const NOTHING = { text: "", isBad: false, undo: null };

/** What did not work, in words. */
export function ListError() {
  const value = beliefList.actionError.value || beliefList.loadError.value;
  return value && html`<p class="bad" role="alert">${value === "lost" ? t("lost") : value}</p>`;
}

/** For a while, a way back. @param {{after?: () => unknown}} given */
export function UndoToast({ after }) {
  const offered = beliefList.undoOffer.value;
  const undo = async () => {
    beliefList.undoOffer.value = null;
    await offered.undo();
    after?.();
  };
  return html`<div class="undo-place" role="status">${offered && html`<p class="taken-back"><span>${offered.told}</span><button onClick=${undo}>${t("undo")}</button></p>`}</div>`;
}

/** The heading to go back to, what was said last, and how something is done: each reads the list anew.
 * @param {() => Promise<void>} read */
export function useRowActions(read) {
  const [told, setTold] = useState(NOTHING);
  const title = useRef(null);
  useEffect(() => void read(), [store.tasksChanged.value, store.rewritten.value]);
  useEffect(() => setTold(NOTHING), [store.rewritten.value]);
  useEffect(() => {
    const timer = told.undo && setTimeout(() => setTold(NOTHING), UNDO_MS);
    return () => clearTimeout(timer);
  }, [told]);
  const run = async (work) => {
    setTold(NOTHING);
    try {
      return await work();
    } catch (problem) {
      setTold({ text: problem.message || t("lost"), isBad: true, undo: null });
      return null;
    } finally {
      await read();
    }
  };
  /** Say something, with the way back where there is one. @param {string} text @param {(() => Promise<any>) | null} undo */
  const say = (text, undo = null) => setTold({ text, isBad: false, undo });
  /** Say what became of a row. @param {string} text @param {(() => Promise<any>) | null} undo */
  const tell = (text, undo = null) => {
    say(text, undo);
    title.current?.focus({ preventScroll: true }); // what one has pressed may be gone
  };
  const back = async () => {
    if (await run(told.undo)) title.current?.focus({ preventScroll: true });
  };
  return { title, run, say, tell, told, back };
}

/** @param {{desk: ReturnType<typeof useRowActions>}} given */
export function ActionStatus({ desk: { told, back } }) {
  return html`<div role="status">${told.text && !told.undo && html`<p class=${told.isBad ? "bad" : "meta"}>${told.text}</p>`}
    ${told.undo && html`<p class="taken-back"><span>${told.text}</span> <button onClick=${back}>${t("undo")}</button></p>`}</div>`;
}
