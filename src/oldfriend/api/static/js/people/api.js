// Requests of the People page.
import { request } from "../api.js";
import { language } from "../i18n.js";

const encode = encodeURIComponent;

export const peopleApi = {
  list(query, kinds, cursor) {
    const params = new URLSearchParams({ limit: "100", language: language.value });
    if (query) params.set("q", query);
    for (const kind of kinds) params.append("kind", kind);
    if (cursor) params.set("cursor", cursor);
    return request(`/people?${params}`);
  },
  entity: (id) => request(`/people/${encode(id)}?language=${encode(language.value)}`),
  graph: () => request("/people/graph"),
};
