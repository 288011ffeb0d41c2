// The text of a message: a model's reply with its Markdown, everything else as it was written.
import { useEffect, useMemo } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { html } from "../html.js";

const ADDRESS = /(\bhttps?:\/\/[^\s<>"“”„«»\u202a-\u202e\u2066-\u2069]{1,2000})/;
const TRAILING_PUNCTUATION = /[.,;:!?)\]}'’…]{1,20}$/; // punctuation after an address that is not part of it

const renderer = signal(null); // the module ./markdown.js, loaded when the first reply is shown; null until then

async function loadRenderer() {
  try {
    renderer.value ??= await import("./markdown.js");
  } catch {
    // the plain text is shown; the next reply tries again
  }
}

/** A reply of a model: rendered Markdown, or plain text until the renderer is loaded. @param {{text: string, children?: any}} props */
export function ReplyText({ text, children }) {
  useEffect(() => void loadRenderer(), []);
  const render = renderer.value?.renderMarkdown;
  const rendered = useMemo(() => render?.(text), [text, render]);
  return html`<div class=${`bubble ${rendered ? "is-drawn" : ""}`}>${rendered ?? text}${children}</div>`;
}

/** A text without Markdown, with its addresses as links. @param {{text: string}} props */
export function PlainText({ text }) {
  return text.split(ADDRESS).map((part, index) => {
    if (index % 2 === 0) return part;
    const punctuation = TRAILING_PUNCTUATION.exec(part)?.[0] ?? "";
    const address = part.slice(0, part.length - punctuation.length);
    return html`<a href=${address} target="_blank" rel="noopener noreferrer nofollow">${address}</a>${punctuation}`;
  });
}
