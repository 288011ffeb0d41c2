// Requests to the server: JSON in, JSON out, and errors that say what to do.
import * as session from "./session.js";
import { openStream } from "./event_stream.js";
import { translateProblem } from "./i18n.js";

const ROOT = "/api/v1";
const SAFE = ["GET", "PATCH", "PUT", "DELETE"]; // asked again, these do nothing twice
/** Somebody else has changed it since it was seen. */
export const PRECONDITION_FAILED = 412;
/** It takes that somebody has just signed in. */
export const SIGN_IN_AGAIN = "sign_in_again";
const SECRET = "X-CSRF-Token"; // what this page holds beside the cookie

/** What went wrong, as the server says it; status 0: the server was not reached. */
export class ApiError extends Error {
  /** @param {number} status @param {string} detail @param {string} [code] @param {Record<string, any>} [values] */
  constructor(status, detail, code, values = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    this.values = values;
  }
}

/** Whether something could not be read since this was last asked: the server was away. */
export function takeMissedRead() {
  const missed = isMissed;
  isMissed = false;
  return missed;
}
let isMissed = false;

/** What an answer says that went wrong. @param {number} status @param {any} answer @param {string} otherwise */
const problemOf = (status, answer, otherwise) => new ApiError(status, translateProblem(status, answer?.detail ? answer : { detail: otherwise }), answer?.code, answer?.values);

/** Have something changed only as it was seen. @param {string | null} [etag] @returns {Record<string, string>} */
export const ifMatch = (etag) => (etag ? { "If-Match": etag } : {});

/** @type {Map<string, string>} */
const unanswered = new Map(); // what had no answer yet, and the key under which it is asked again: it is done once

/** @typedef {Omit<RequestInit, "headers"> & {json?: unknown, headers?: Record<string, string>}} Options */

/** @param {string} path @param {Options} [options] */
export async function request(path, options = {}) {
  const shown = session.findToken();
  try {
    return await askShowing(shown, path, options);
  } catch (problem) {
    if (problem.status !== 401 || !(await session.isRenewedElsewhere(shown))) throw problem;
    return askShowing(session.findToken(), path, options); // another tab has signed in meanwhile
  }
}

/** @param {string} secret @param {string} path @param {Options} options */
async function askShowing(secret, path, { json, headers, ...rest }) {
  const body = json === undefined ? rest.body : JSON.stringify(json);
  const deed = SAFE.includes(rest.method ?? "GET") ? "" : `${path} ${body}`;
  if (deed && !unanswered.has(deed)) unanswered.set(deed, crypto.randomUUID());
  const key = deed && { "Idempotency-Key": unanswered.get(deed) ?? "" };
  const sent = { ...(json !== undefined && { "Content-Type": "application/json" }), ...key, ...headers, [SECRET]: secret };
  let response;
  try {
    response = await fetch(ROOT + path, { ...rest, body, headers: sent });
  } catch (problem) {
    isMissed ||= !rest.method && path !== "/session" && problem.name !== "AbortError";
    throw new ApiError(0, "");
  }
  unanswered.delete(deed);
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw problemOf(response.status, answer, response.statusText);
  return answer;
}

/** Send a file as it is, telling how much of it has gone. @param {string} path @param {File} file
 * @param {(percent: number) => void} tell */
export function sendFile(path, file, tell) {
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => tell(Math.round((100 * loaded) / (total || 1)));
    request.onerror = () => reject(new ApiError(0, ""));
    request.onload = () => {
      const answer = JSON.parse(request.responseText || "null");
      if (request.status < 400) resolve(answer);
      else reject(problemOf(request.status, answer, request.statusText));
    };
    request.open("POST", ROOT + path);
    request.setRequestHeader(SECRET, session.findToken());
    request.setRequestHeader("X-File-Name", at(file.name));
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.send(file);
  });
}

const at = encodeURIComponent;

export const api = {
  signIn: async (link, wanted) =>
    session.saveSession(await request("/session", { method: "POST", json: { link, person: wanted?.person, instead_of: wanted?.instead_of } })),
  who: async () => session.bindToPerson(await request("/session")),
  askToSign: () => request("/session/passkey/options", { method: "POST" }),
  signWith: async (credential) => session.saveSession(await request("/session/passkey", { method: "POST", json: { credential } })),
  changeMe: (changes) => request("/me", { method: "PATCH", json: changes }),
  signOut: () => request("/session", { method: "DELETE" }).then(session.clearSession),
  state: () => request("/state"),
  messages: () => request("/chat/messages?limit=50"),
  messagesBefore: (id) => request(`/chat/messages?limit=50&before=${at(id)}`),
  messagesAfter: (id) => request(`/chat/messages?limit=50&after=${at(id)}`),
  messagesAround: (id) => request(`/chat/messages?limit=60&around=${at(id)}`),
  searchTalk: (words, cursor) => request(`/chat/search?q=${at(words)}${cursor ? `&cursor=${at(cursor)}` : ""}`),
  commands: (language) => request(`/chat/commands?language=${at(language)}`),
  say: (key, text, zone) =>
    request("/chat/messages", { method: "POST", json: { text, zone }, headers: { "Idempotency-Key": key } }),
  sayAloud: (key, sound, zone) =>
    request(`/chat/recordings?zone=${at(zone)}`, { method: "POST", body: sound, headers: { "Idempotency-Key": key, "Content-Type": sound.type } }),
  ticketFor: async (purpose) => (await request("/session/tickets", { method: "POST", json: { purpose } })).ticket,
  soundOf: (id, ticket) => `${ROOT}/chat/messages/${at(id)}/recording?ticket=${at(ticket)}`,
  exportWith: (ticket) => `${ROOT}/export?ticket=${at(ticket)}`,
  retry: (id) => request(`/chat/messages/${at(id)}/retry`, { method: "POST" }),
  press: (id, command) => request(`/chat/messages/${at(id)}/press`, { method: "POST", json: { command } }),
  edit: (id, text) => request(`/chat/messages/${at(id)}`, { method: "PATCH", json: { text } }),
  stop: (id) => request(`/chat/messages/${at(id)}/stop`, { method: "POST" }),
  why: (id) => request(`/chat/messages/${at(id)}/receipt`),
  notify: (subscription) => request("/proactive/push", { method: "PUT", json: subscription }),
  forgotten: () => request("/forget/done"),
  readNow: () => request("/learned/now", { method: "POST" }),
  learned: (before) => request(`/learned?limit=20${before ? `&before=${at(before)}` : ""}`),
  unconfirmed: (limit) => request(`/memories?status=unconfirmed&sort=newest&limit=${limit}`),
  search: (words) => request(`/memories?limit=20&q=${at(words)}`),
  belief: (id) => request(`/memories/${at(id)}`),
  judge: ({ id, etag }, verdict) => request(`/memories/${at(id)}/verdict`, { method: "POST", json: { verdict }, headers: ifMatch(etag) }),
  events: (after, heard) => openStream(`${ROOT}/chat/events?after=${at(after)}`, { [SECRET]: session.findToken() }, heard),
};

/** Have the browser save everything: what it loads by itself shows a ticket. */
export async function downloadExport() {
  const link = document.createElement("a");
  link.href = api.exportWith(await api.ticketFor("export"));
  link.download = "";
  link.click();
}
