// What the Memory place asks of the house.
import { api, ask, asSeen } from "../api.js";

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

export const house = {
  page(filters, when, cursor, signal) {
    const query = queryOf(filters, when);
    if (cursor) query.set("cursor", cursor);
    return ask(`/memories?${query}`, { signal });
  },
  tasks: () => ask("/tasks"),
  addTask: (words) => ask("/tasks", { method: "POST", json: { words } }),
  changeTask: (id, change) => ask(`/tasks/${at(id)}`, { method: "PATCH", json: change }),
  goals: () => ask("/goals"),
  addGoal: (text) => ask("/goals", { method: "POST", json: { text } }),
  changeGoal: (id, change) => ask(`/goals/${at(id)}`, { method: "PATCH", json: change }),
  watches: () => ask("/watches"),
  addWatch: (watch) => ask("/watches", { method: "POST", json: watch }),
  endWatch: (id) => ask(`/watches/${at(id)}`, { method: "DELETE" }),
  one: api.belief,
  history: (id) => ask(`/memories/${at(id)}/history`),
  days: () => ask("/memories/days"),
  daysSaid: () => ask("/memories/days/said"),
  tags: () => ask("/memories/tags"),
  moods: () => ask("/memories/moods"),
  thinking: (cursor) => ask(`/reflections${cursor ? `?cursor=${at(cursor)}` : ""}`),
  thought: (id) => ask(`/reflections/${at(id)}`),
  difference: (since, until, cursor, signal) =>
    ask(`/memories/difference?since=${at(since)}&until=${at(until)}&limit=100${cursor ? `&cursor=${at(cursor)}` : ""}`, { signal }),
  differenceOf: (since, until, ids, signal) =>
    ask(`/memories/difference?since=${at(since)}&until=${at(until)}&limit=100${ids.map((id) => `&id=${at(id)}`).join("")}`, { signal }),
  judge: api.judge,
  putRight: (id, corrected, etag) =>
    ask(`/memories/${at(id)}`, { method: "PATCH", json: corrected, headers: asSeen(etag) }),
  merge: ({ id, etag }, other) => ask(`/memories/${at(id)}/merge`, { method: "POST", json: { other }, headers: asSeen(etag) }),
  separate: ({ id, etag }, other) => ask(`/memories/${at(id)}/separate`, { method: "POST", json: { other }, headers: asSeen(etag) }),
  alike: (kinds, words) =>
    ask(`/memories?limit=12&q=${at(words)}${kinds.map((kind) => `&kind=${kind}`).join("")}`),
  said: (words) => ask(`/chat/search?limit=20&q=${at(words)}`),
};
