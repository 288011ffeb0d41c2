// Requests of the Memory page.
import { api, request, ifMatch } from "../api.js";

const at = encodeURIComponent;
const LIMIT = 100;

/** @param {any} filters @param {{day: string | null, by: string}} when */
function queryOf(filters, { day, by }) {
  const query = new URLSearchParams({ sort: filters.sort, limit: String(LIMIT) });
  for (const kind of filters.kinds) query.append("kind", kind);
  for (const status of filters.statuses) query.append("status", status);
  for (const name of ["subject", "tag", "q"]) if (filters[name]) query.set(name, filters[name]);
  for (const name of ["pinned", "ended"]) if (filters[name]) query.set(name, "true");
  if (day) query.set(by === "said" ? "said_until" : "as_of", day);
  return query;
}

export const memoryApi = {
  page(filters, when, cursor, signal) {
    const query = queryOf(filters, when);
    if (cursor) query.set("cursor", cursor);
    return request(`/memories?${query}`, { signal });
  },
  tasks: () => request("/tasks"),
  addTask: (words) => request("/tasks", { method: "POST", json: { words } }),
  changeTask: (id, change) => request(`/tasks/${at(id)}`, { method: "PATCH", json: change }),
  goals: () => request("/goals"),
  addGoal: (text) => request("/goals", { method: "POST", json: { text } }),
  changeGoal: (id, change) => request(`/goals/${at(id)}`, { method: "PATCH", json: change }),
  watches: () => request("/watches"),
  addWatch: (watch) => request("/watches", { method: "POST", json: watch }),
  endWatch: (id) => request(`/watches/${at(id)}`, { method: "DELETE" }),
  one: api.belief,
  history: (id) => request(`/memories/${at(id)}/history`),
  days: () => request("/memories/days"),
  daysSaid: () => request("/memories/days/said"),
  tags: () => request("/memories/tags"),
  moods: () => request("/memories/moods"),
  thinking: (cursor) => request(`/reflections${cursor ? `?cursor=${at(cursor)}` : ""}`),
  thought: (id) => request(`/reflections/${at(id)}`),
  difference: (since, until, cursor, signal) =>
    request(`/memories/difference?since=${at(since)}&until=${at(until)}&limit=100${cursor ? `&cursor=${at(cursor)}` : ""}`, { signal }),
  differenceOf: (since, until, ids, signal) =>
    request(`/memories/difference?since=${at(since)}&until=${at(until)}&limit=100${ids.map((id) => `&id=${at(id)}`).join("")}`, { signal }),
  judge: api.judge,
  putRight: (id, corrected, etag) =>
    request(`/memories/${at(id)}`, { method: "PATCH", json: corrected, headers: ifMatch(etag) }),
  merge: ({ id, etag }, other) => request(`/memories/${at(id)}/merge`, { method: "POST", json: { other }, headers: ifMatch(etag) }),
  separate: ({ id, etag }, other) => request(`/memories/${at(id)}/separate`, { method: "POST", json: { other }, headers: ifMatch(etag) }),
  alike: (kinds, words) =>
    request(`/memories?limit=12&q=${at(words)}${kinds.map((kind) => `&kind=${kind}`).join("")}`),
  said: (words) => request(`/chat/search?limit=20&q=${at(words)}`),
};
