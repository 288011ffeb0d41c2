// Requests to the server: JSON in, JSON out, and errors that say what to do.
import * as session from "./session.js";
import { openStream } from "./event_stream.js";
import { language, translateProblem } from "./i18n.js";

const ROOT = "/api/v1";
const IDEMPOTENT_METHODS = ["GET", "PATCH", "PUT", "DELETE"]; // repeating these changes nothing
/** HTTP status: the data has changed since it was loaded. */
export const PRECONDITION_FAILED = 412;
/** Error code: the action needs a recent sign-in. */
export const SIGN_IN_AGAIN = "sign_in_again";
const CSRF_HEADER = "X-CSRF-Token"; // carries the session's token, which is required beside the cookie

/** An error response of the server; status 0: the server was not reached. */
export class ApiError extends Error {
  /** @param {number} status @param {string} detail @param {string} [code] @param {Record<string, any>} [values] */
  constructor(status, detail, code, values = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    this.values = values;
  }
}

/** Returns whether a read has failed since the last call because the server was not reached, and resets that flag. */
export function takeMissedRead() {
  const hasMissed = isMissed;
  isMissed = false;
  return hasMissed;
}
let isMissed = false;

/** Makes an ApiError from an error response; `fallback` is the text if the body has no detail. @param {number} status @param {any} body @param {string} fallback */
const toApiError = (status, body, fallback) => new ApiError(status, translateProblem(status, body?.detail ? body : { detail: fallback }), body?.code, body?.values);

/** Returns the header that makes a change conditional on the loaded version; no header without an etag.
 * @param {string | null} [etag] @returns {Record<string, string>} */
export const ifMatch = (etag) => (etag ? { "If-Match": etag } : {});

/** @type {Map<string, string>} */
const idempotencyKeys = new Map(); // by operation, until there is a response: a retry uses the same key

/** @typedef {Omit<RequestInit, "headers"> & {json?: unknown, headers?: Record<string, string>}} Options */

/** @param {string} path @param {Options} [options] */
export async function request(path, options = {}) {
  const token = session.findToken();
  try {
    return await requestWithToken(token, path, options);
  } catch (failure) {
    if (failure.status !== 401 || !(await session.isRenewedElsewhere(token))) throw failure;
    return requestWithToken(session.findToken(), path, options); // another tab has renewed the session
  }
}

/** @param {string} token @param {string} path @param {Options} options */
async function requestWithToken(token, path, { json, headers, ...rest }) {
  const body = json === undefined ? rest.body : JSON.stringify(json);
  const operation = IDEMPOTENT_METHODS.includes(rest.method ?? "GET") ? "" : `${path} ${body}`;
  if (operation && !idempotencyKeys.has(operation)) idempotencyKeys.set(operation, crypto.randomUUID());
  const key = operation && { "Idempotency-Key": idempotencyKeys.get(operation) ?? "" };
  const allHeaders = { ...(json !== undefined && { "Content-Type": "application/json" }), ...key, "Accept-Language": language.value, ...headers, [CSRF_HEADER]: token };
  let response;
  try {
    response = await fetch(ROOT + path, { ...rest, body, headers: allHeaders });
  } catch (failure) {
    isMissed ||= !rest.method && path !== "/session" && failure.name !== "AbortError";
    throw new ApiError(0, "");
  }
  idempotencyKeys.delete(operation);
  if (response.status === 204) return null;
  const data = await response.json().catch(() => null);
  if (!response.ok) throw toApiError(response.status, data, response.statusText);
  return data;
}

/** Uploads a file, reporting its progress in percent; resolves with the response, rejects with an ApiError.
 * @param {string} path @param {File} file @param {(percent: number) => void} onProgress */
export function sendFile(path, file, onProgress) {
  const xhr = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    xhr.upload.onprogress = ({ loaded, total }) => onProgress(Math.round((100 * loaded) / (total || 1)));
    xhr.onerror = () => reject(new ApiError(0, ""));
    xhr.onload = () => {
      const data = JSON.parse(xhr.responseText || "null");
      if (xhr.status < 400) resolve(data);
      else reject(toApiError(xhr.status, data, xhr.statusText));
    };
    xhr.open("POST", ROOT + path);
    xhr.setRequestHeader(CSRF_HEADER, session.findToken());
    xhr.setRequestHeader("X-File-Name", encode(file.name));
    xhr.setRequestHeader("Content-Type", "application/octet-stream");
    xhr.send(file);
  });
}

const encode = encodeURIComponent;

export const api = {
  signIn: async (link, confirmation) =>
    session.saveSession(await request("/session", { method: "POST", json: { link, person: confirmation?.person, instead_of: confirmation?.instead_of } })),
  getSession: async () => session.bindToPerson(await request("/session")),
  createPasskeyChallenge: () => request("/session/passkey/options", { method: "POST" }),
  signInWithPasskey: async (credential) => session.saveSession(await request("/session/passkey", { method: "POST", json: { credential } })),
  updateMe: (changes) => request("/me", { method: "PATCH", json: changes }),
  signOut: () => request("/session", { method: "DELETE" }).then(session.clearSession),
  loadState: () => request("/state"),
  listMessages: () => request("/chat/messages?limit=50"),
  listMessagesBefore: (id) => request(`/chat/messages?limit=50&before=${encode(id)}`),
  listMessagesAfter: (id) => request(`/chat/messages?limit=50&after=${encode(id)}`),
  listMessagesAround: (id) => request(`/chat/messages?limit=60&around=${encode(id)}`),
  findMessages: (words) => request(`/chat/search?quotations=true&q=${encode(words)}`), // also replies that only quote
  searchMessages: (words, cursor) => request(`/chat/search?q=${encode(words)}${cursor ? `&cursor=${encode(cursor)}` : ""}`),
  listCommands: (language) => request(`/chat/commands?language=${encode(language)}`),
  sendMessage: (key, text, zone) =>
    request("/chat/messages", { method: "POST", json: { text, zone }, headers: { "Idempotency-Key": key } }),
  sendRecording: (key, sound, zone) =>
    request(`/chat/recordings?zone=${encode(zone)}`, { method: "POST", body: sound, headers: { "Idempotency-Key": key, "Content-Type": sound.type } }),
  createTicket: async (purpose) => (await request("/session/tickets", { method: "POST", json: { purpose } })).ticket,
  recordingUrl: (id, ticket) => `${ROOT}/chat/messages/${encode(id)}/recording?ticket=${encode(ticket)}`,
  exportUrl: (ticket) => `${ROOT}/export?ticket=${encode(ticket)}`,
  retryReply: (id) => request(`/chat/messages/${encode(id)}/retry`, { method: "POST" }),
  pressButton: (id, command) => request(`/chat/messages/${encode(id)}/press`, { method: "POST", json: { command } }),
  editMessage: (id, text) => request(`/chat/messages/${encode(id)}`, { method: "PATCH", json: { text } }),
  stopReply: (id) => request(`/chat/messages/${encode(id)}/stop`, { method: "POST" }),
  loadReceipt: (id) => request(`/chat/messages/${encode(id)}/receipt`),
  notify: (subscription) => request("/proactive/push", { method: "PUT", json: subscription }),
  listDeletions: () => request("/forget/done"),
  learnNow: () => request("/learned/now", { method: "POST" }),
  listLearned: (before) => request(`/learned?limit=20${before ? `&before=${encode(before)}` : ""}`),
  listUnconfirmed: (limit) => request(`/memories?status=unconfirmed&sort=newest&limit=${limit}`),
  searchBeliefs: (words) => request(`/memories?limit=20&q=${encode(words)}`),
  getBelief: (id) => request(`/memories/${encode(id)}`),
  sendVerdict: ({ id, etag }, verdict) => request(`/memories/${encode(id)}/verdict`, { method: "POST", json: { verdict }, headers: ifMatch(etag) }),
  openEvents: (after, handlers) => openStream(`${ROOT}/chat/events?after=${encode(after)}`, { "Accept-Language": language.value, [CSRF_HEADER]: session.findToken() }, handlers),
};

/** Downloads the export of all data; a ticket in the URL replaces the headers of the page's own requests. */
export async function downloadExport() {
  const link = document.createElement("a");
  link.href = api.exportUrl(await api.createTicket("export"));
  link.download = "";
  link.click();
}
