// How does the page ask the house? Every answer is JSON; what went wrong says what to do.

const ROOT = "/api/v1";
let token = "";

/** What went wrong, as the house says it; status 0: the house was not reached. */
export class Problem extends Error {
  /** @param {number} status @param {string} detail */
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** @param {string} path @param {RequestInit & {json?: unknown}} [options] */
async function ask(path, { json, headers, ...rest } = {}) {
  const body = json === undefined ? undefined : JSON.stringify(json);
  const sent = { ...headers, "X-CSRF-Token": token, ...(body && { "Content-Type": "application/json" }) };
  let response;
  try {
    response = await fetch(ROOT + path, { ...rest, body, headers: sent });
  } catch {
    throw new Problem(0, "");
  }
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Problem(response.status, answer?.detail ?? response.statusText);
  return answer;
}

/** @param {any} signed */
function keepToken(signed) {
  token = signed.token;
  return signed;
}

const at = encodeURIComponent;

export const api = {
  signIn: async (link) => keepToken(await ask("/session", { method: "POST", json: { link } })),
  who: async () => keepToken(await ask("/session")),
  signOut: () => ask("/session", { method: "DELETE" }),
  state: () => ask("/state"),
  messages: (before) => ask(`/chat/messages?limit=50${before ? `&before=${at(before)}` : ""}`),
  say: (key, text, zone) =>
    ask("/chat/messages", { method: "POST", json: { text, zone }, headers: { "Idempotency-Key": key } }),
  edit: (id, text) => ask(`/chat/messages/${at(id)}`, { method: "PATCH", json: { text } }),
  stop: (id) => ask(`/chat/messages/${at(id)}/stop`, { method: "POST" }),
  why: (id) => ask(`/chat/messages/${at(id)}/receipt`),
  learned: (before) => ask(`/learned?limit=20${before ? `&before=${at(before)}` : ""}`),
  search: (words) => ask(`/memories?limit=20&q=${at(words)}`),
  judge: (id, verdict) => ask(`/memories/${at(id)}/verdict`, { method: "POST", json: { verdict } }),
  foresee: (id) => ask(`/memories/${at(id)}/forget-preview`),
  events: (after) => new EventSource(`${ROOT}/chat/events?after=${at(after)}`),
};
