// Requests of the People page.
import { request } from "../api.js";
import { language } from "../i18n.js";

const at = encodeURIComponent;

export const peopleApi = {
  list(part, kinds, cursor) {
    const query = new URLSearchParams({ limit: "100", language: language.value });
    if (part) query.set("q", part);
    for (const kind of kinds) query.append("kind", kind);
    if (cursor) query.set("cursor", cursor);
    return request(`/people?${query}`);
  },
  one: (id) => request(`/people/${at(id)}?language=${at(language.value)}`),
  graph: () => request("/people/graph"),
};
