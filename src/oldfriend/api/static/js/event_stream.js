// Server-sent events read by fetch; EventSource cannot send a header.

/** Callbacks of a stream: `onEvent` for each event, `onClose` once it ends or fails.
 * @typedef {{onEvent: (topic: string, data: any, id: string) => unknown, onClose: () => unknown}} StreamHandlers */

/** @param {string} url @param {Record<string, string>} headers @param {StreamHandlers} handlers */
export function openStream(url, headers, { onEvent, onClose }) {
  const controller = new AbortController();
  const onEnd = () => controller.signal.aborted || onClose();
  readEvents(url, headers, controller.signal, onEvent).then(onEnd, onEnd);
  return { close: () => controller.abort() };
}

async function readEvents(url, headers, signal, onEvent) {
  const response = await fetch(url, { headers: { ...headers, Accept: "text/event-stream" }, cache: "no-store", signal });
  if (!response.ok || !response.body) throw new Error(response.statusText);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (buffer + value).split("\n\n");
    buffer = events.pop() ?? "";
    for (const each of events) {
      const { event, data, id } = parseFields(each);
      if (event && !signal.aborted) onEvent(event, JSON.parse(data ?? "{}"), id ?? "");
    }
  }
}

/** Parses the fields of an event. @param {string} text @returns {Record<string, string>} */
function parseFields(text) {
  return Object.fromEntries(text.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]));
}
