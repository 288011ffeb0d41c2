// The result of an action: its error, or a button to undo it.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";

const UNDO_MS = 30_000;
const NO_STATUS = { text: "", isBad: false, undo: null };

/** The error of the last action, or of loading the list. */
export function ListError() {
  const error = beliefList.actionError.value || beliefList.loadError.value;
  return error && html`<p class="bad" role="alert">${error === "lost" ? t("lost") : error}</p>`;
}

/** The undo toast, while there is something to undo. @param {{onUndone?: () => unknown}} props */
export function UndoToast({ onUndone }) {
  const offer = beliefList.undoOffer.value;
  const undo = async () => {
    beliefList.undoOffer.value = null;
    await offer.undo();
    onUndone?.();
  };
  return html`<div class="undo-place" role="status">${offer && html`<p class="taken-back"><span>${offer.text}</span><button onClick=${undo}>${t("undo")}</button></p>`}</div>`;
}

/** Actions of the rows of a list: `run` does one and reloads the list, `status` is the last message, `heading` gets the focus when a row is gone.
 * @param {() => Promise<void>} reload */
export function useRowActions(reload) {
  const [status, setStatus] = useState(NO_STATUS);
  const heading = useRef(null);
  useEffect(() => void reload(), [store.tasksChanged.value, store.rewriteCount.value]);
  useEffect(() => setStatus(NO_STATUS), [store.rewriteCount.value]);
  useEffect(() => {
    const timer = status.undo && setTimeout(() => setStatus(NO_STATUS), UNDO_MS);
    return () => clearTimeout(timer);
  }, [status]);
  const run = async (action) => {
    setStatus(NO_STATUS);
    try {
      return await action();
    } catch (error) {
      setStatus({ text: error.message || t("lost"), isBad: true, undo: null });
      return null;
    } finally {
      await reload();
    }
  };
  /** Show a message, with a button if it can be undone. @param {string} text @param {(() => Promise<any>) | null} undo */
  const showStatus = (text, undo = null) => setStatus({ text, isBad: false, undo });
  /** Show a message about a row ; without any row left, the heading takes the focus. @param {string} text @param {(() => Promise<any>) | null} undo */
  const showRowStatus = (text, undo = null) => {
    showStatus(text, undo);
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true }); // no row is left
  };
  const undoLast = async () => {
    if (await run(status.undo)) heading.current?.focus({ preventScroll: true });
  };
  return { heading, run, showStatus, showRowStatus, status, undoLast };
}

/** @param {{actions: ReturnType<typeof useRowActions>}} props */
export function ActionStatus({ actions: { status, undoLast } }) {
  return html`<div role="status">${status.text && !status.undo && html`<p class=${status.isBad ? "bad" : "meta"}>${status.text}</p>`}
    ${status.undo && html`<p class="taken-back"><span>${status.text}</span> <button onClick=${undoLast}>${t("undo")}</button></p>`}</div>`;
}
