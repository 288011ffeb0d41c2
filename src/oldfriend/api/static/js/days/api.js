// Requests of the diary and of the measurements.
import { request } from "../api.js";

const encode = encodeURIComponent;

export const daysApi = {
  entries: ({ day, tag, cursor }) => {
    const query = new URLSearchParams({ limit: "20" });
    if (day) for (const name of ["from", "to"]) query.set(name, day);
    if (tag) query.set("tag", tag);
    if (cursor) query.set("cursor", cursor);
    return request(`/diary?${query}`);
  },
  addEntry: (text, day) => request("/diary", { method: "POST", json: { text, ...(day && { day }) } }),
  editEntry: (id, text) => request(`/diary/${encode(id)}`, { method: "PATCH", json: { text } }),
  deleteEntry: (id) => request(`/diary/${encode(id)}`, { method: "DELETE" }),
  measurements: () => request("/measurements"),
  series: (name, from) => request(`/measurements/${encode(name)}${from ? `?from=${from}` : ""}`),
  addMeasurements: (items) => request("/measurements", { method: "POST", json: { items } }),
  deleteMeasurement: (id) => request(`/measurements/${encode(id)}`, { method: "DELETE" }),
};
