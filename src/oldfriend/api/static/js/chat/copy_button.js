// The button that copies a message.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { t } from "../i18n.js";

const TOLD_MS = 2000;

/** A button that copies a text; browsers offer that at localhost and by https only. @param {{text: string}} given */
export function CopyButton({ text }) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    const timer = isDone && setTimeout(setDone, TOLD_MS, false);
    return () => clearTimeout(timer);
  }, [isDone]);
  if (!navigator.clipboard) return null;
  const copy = () => navigator.clipboard.writeText(text).then(() => setDone(true), () => {});
  return html`<button type="button" class="quiet on-hover copy" onClick=${copy}><span aria-live="polite">${t(isDone ? "copied" : "copy")}</span></button>`;
}
