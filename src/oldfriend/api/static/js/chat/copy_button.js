// The button that copies a message.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { t } from "../i18n.js";

const FEEDBACK_MS = 2000;

/** A button that copies a text; null where the browser has no clipboard (it needs localhost or HTTPS). @param {{text: string, isOnHover?: boolean}} props whether it shows only under the pointer */
export function CopyButton({ text, isOnHover }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    const timer = isCopied && setTimeout(setCopied, FEEDBACK_MS, false);
    return () => clearTimeout(timer);
  }, [isCopied]);
  if (!navigator.clipboard) return null;
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true), () => {});
  return html`<button type="button" class=${`quiet copy ${isOnHover ? "on-hover" : ""}`} onClick=${copy}><span aria-live="polite">${t(isCopied ? "copied" : "copy")}</span></button>`;
}
