// What the diary and the numbers ask of the house.
import { ask } from "../api.js";

const at = encodeURIComponent;

export const house = {
  entries: ({ day, tag, cursor }) => {
    const query = new URLSearchParams({ limit: "20" });
    if (day) for (const name of ["from", "to"]) query.set(name, day);
    if (tag) query.set("tag", tag);
    if (cursor) query.set("cursor", cursor);
    return ask(`/diary?${query}`);
  },
  write: (text, day) => ask("/diary", { method: "POST", json: { text, ...(day && { day }) } }),
  rewrite: (id, text) => ask(`/diary/${at(id)}`, { method: "PATCH", json: { text } }),
  remove: (id) => ask(`/diary/${at(id)}`, { method: "DELETE" }),
  measures: () => ask("/measurements"),
  series: (name, from) => ask(`/measurements/${at(name)}${from ? `?from=${from}` : ""}`),
  measure: (items) => ask("/measurements", { method: "POST", json: { items } }),
  unmeasure: (id) => ask(`/measurements/${at(id)}`, { method: "DELETE" }),
};
