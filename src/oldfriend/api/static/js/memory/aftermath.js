// What became of what one has decided: what went wrong, and the way back.
import { html } from "../html.js";
import { t } from "../words.js";
import * as book from "./book.js";

/** What did not work, in words. */
export function Trouble() {
  const value = book.trouble.value || book.unread.value;
  return value && html`<p class="bad" role="alert">${value === "lost" ? t("lost") : value}</p>`;
}

/** For a while, a way back. @param {{after?: () => unknown}} given */
export function Undo({ after }) {
  const offered = book.undoable.value;
  const undo = async () => {
    book.undoable.value = null;
    await offered.undo();
    after?.();
  };
  return html`<div class="undo-place" role="status">${offered && html`<p class="taken-back"><span>${offered.told}</span><button onClick=${undo}>${t("undo")}</button></p>`}</div>`;
}
