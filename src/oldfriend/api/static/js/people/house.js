// What the People place asks of the house.
import { ask } from "../api.js";
import { language } from "../words.js";

const at = encodeURIComponent;

export const house = {
  list(part, kinds, cursor) {
    const query = new URLSearchParams({ limit: "100", language: language.value });
    if (part) query.set("q", part);
    for (const kind of kinds) query.append("kind", kind);
    if (cursor) query.set("cursor", cursor);
    return ask(`/people?${query}`);
  },
  one: (id) => ask(`/people/${at(id)}?language=${at(language.value)}`),
  graph: () => ask("/people/graph"),
};
