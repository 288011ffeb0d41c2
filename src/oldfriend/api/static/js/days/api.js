// Requests of the diary and of numbers.
import { request } from "../api.js";

const at = encodeURIComponent;

export const daysApi = {
  entries: ({ day, tag, cursor }) => {
    const query = new URLSearchParams({ limit: "20" });
    if (day) for (const name of ["from", "to"]) query.set(name, day);
    if (tag) query.set("tag", tag);
    if (cursor) query.set("cursor", cursor);
    return request(`/diary?${query}`);
  },
  write: (text, day) => request("/diary", { method: "POST", json: { text, ...(day && { day }) } }),
  rewrite: (id, text) => request(`/diary/${at(id)}`, { method: "PATCH", json: { text } }),
  remove: (id) => request(`/diary/${at(id)}`, { method: "DELETE" }),
  measures: () => request("/measurements"),
  series: (name, from) => request(`/measurements/${at(name)}${from ? `?from=${from}` : ""}`),
  measure: (items) => request("/measurements", { method: "POST", json: { items } }),
  unmeasure: (id) => request(`/measurements/${at(id)}`, { method: "DELETE" }),
};
