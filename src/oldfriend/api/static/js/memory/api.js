// Requests of the Memory page.
import { api, request, ifMatch } from "../api.js";

const encode = encodeURIComponent;
const PAGE_SIZE = 100;

/** The query of a filtered list of beliefs, as of a day ("learned" or "said" by then). @param {any} filters @param {{day: string | null, by: string}} asOf */
function buildQuery(filters, { day, by }) {
  const query = new URLSearchParams({ sort: filters.sort, limit: String(PAGE_SIZE) });
  for (const kind of filters.kinds) query.append("kind", kind);
  for (const status of filters.statuses) query.append("status", status);
  for (const name of ["subject", "tag", "q"]) if (filters[name]) query.set(name, filters[name]);
  for (const name of ["pinned", "ended"]) if (filters[name]) query.set(name, "true");
  if (day) query.set(by === "said" ? "said_until" : "as_of", day);
  return query;
}

export const memoryApi = {
  beliefs(filters, asOf, cursor, signal) {
    const query = buildQuery(filters, asOf);
    if (cursor) query.set("cursor", cursor);
    return request(`/memories?${query}`, { signal });
  },
  tasks: () => request("/tasks"),
  addTask: (text) => request("/tasks", { method: "POST", json: { words: text } }),
  changeTask: (id, change) => request(`/tasks/${encode(id)}`, { method: "PATCH", json: change }),
  goals: () => request("/goals"),
  addGoal: (text) => request("/goals", { method: "POST", json: { text } }),
  changeGoal: (id, change) => request(`/goals/${encode(id)}`, { method: "PATCH", json: change }),
  watches: () => request("/watches"),
  addWatch: (watch) => request("/watches", { method: "POST", json: watch }),
  endWatch: (id) => request(`/watches/${encode(id)}`, { method: "DELETE" }),
  belief: api.getBelief,
  history: (id) => request(`/memories/${encode(id)}/history`),
  learnedDays: () => request("/memories/days"),
  saidDays: () => request("/memories/days/said"),
  tags: () => request("/memories/tags"),
  moods: () => request("/memories/moods"),
  reflections: (cursor) => request(`/reflections${cursor ? `?cursor=${encode(cursor)}` : ""}`),
  reflection: (id) => request(`/reflections/${encode(id)}`),
  changes: (since, until, cursor, signal) =>
    request(`/memories/difference?since=${encode(since)}&until=${encode(until)}&limit=100${cursor ? `&cursor=${encode(cursor)}` : ""}`, { signal }),
  changesOf: (since, until, ids, signal) =>
    request(`/memories/difference?since=${encode(since)}&until=${encode(until)}&limit=100${ids.map((id) => `&id=${encode(id)}`).join("")}`, { signal }),
  sendVerdict: api.sendVerdict,
  correct: (id, corrected, etag) =>
    request(`/memories/${encode(id)}`, { method: "PATCH", json: corrected, headers: ifMatch(etag) }),
  merge: ({ id, etag }, other) => request(`/memories/${encode(id)}/merge`, { method: "POST", json: { other }, headers: ifMatch(etag) }),
  separate: ({ id, etag }, other) => request(`/memories/${encode(id)}/separate`, { method: "POST", json: { other }, headers: ifMatch(etag) }),
  findSimilar: (kinds, query) =>
    request(`/memories?limit=12&q=${encode(query)}${kinds.map((kind) => `&kind=${kind}`).join("")}`),
  searchMessages: (query) => request(`/chat/search?limit=20&q=${encode(query)}`),
};
