// The text of a message: a model's reply with its Markdown, everything else as it was written.
import { useEffect, useMemo } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { html } from "../html.js";

const ADDRESS = /(\bhttps?:\/\/[^\s<>"“”„«»\u202a-\u202e\u2066-\u2069]{1,2000})/;
const BEHIND = /[.,;:!?)\]}'’…]{1,20}$/; // marks that end the sentence, not the address

const renderer = signal(null); // what draws Markdown: read with the first reply that is shown

async function readRenderer() {
  try {
    renderer.value ??= await import("./markdown.js");
  } catch {
    // the words are there; the next reply tries again
  }
}

/** What a model wrote. @param {{text: string, children?: any}} given */
export function ReplyText({ text, children }) {
  useEffect(() => void readRenderer(), []);
  const drawMarkdown = renderer.value?.drawMarkdown;
  const drawn = useMemo(() => drawMarkdown?.(text), [text, drawMarkdown]);
  return html`<div class=${`bubble ${drawn ? "is-drawn" : ""}`}>${drawn ?? text}${children}</div>`;
}

/** Words of a person or by rule, which may quote one: as they stand, with their addresses as links. @param {{text: string}} given */
export function PlainText({ text }) {
  return text.split(ADDRESS).map((part, place) => {
    if (place % 2 === 0) return part;
    const rest = BEHIND.exec(part)?.[0] ?? "";
    const address = part.slice(0, part.length - rest.length);
    return html`<a href=${address} target="_blank" rel="noopener noreferrer nofollow">${address}</a>${rest}`;
  });
}
