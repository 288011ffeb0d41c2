// Server-sent events read by fetch; EventSource cannot send a header.

/** What happens on a stream. @typedef {{hear: (topic: string, data: any, id: string) => unknown, lose: () => unknown}} Heard */

/** @param {string} url @param {Record<string, string>} headers @param {Heard} heard */
export function openStream(url, headers, { hear, lose }) {
  const control = new AbortController();
  const over = () => control.signal.aborted || lose();
  read(url, headers, control.signal, hear).then(over, over);
  return { close: () => control.abort() };
}

async function read(url, headers, signal, hear) {
  const response = await fetch(url, { headers: { ...headers, Accept: "text/event-stream" }, cache: "no-store", signal });
  if (!response.ok || !response.body) throw new Error(response.statusText);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop() ?? "";
    for (const each of events) {
      const { event, data, id } = fieldsOf(each);
      if (event && !signal.aborted) hear(event, JSON.parse(data ?? "{}"), id ?? "");
    }
  }
}

/** The lines of an event, by name. @param {string} text @returns {Record<string, string>} */
function fieldsOf(text) {
  return Object.fromEntries(text.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]));
}
