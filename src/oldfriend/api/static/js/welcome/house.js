// What the first run asks of the house.
import { ask } from "../api.js";

export const house = {
  foresee: (text) => ask("/drafts/cost", { method: "POST", json: { text } }),
  draft: (text, withModel) => ask("/drafts", { method: "POST", json: { text, with_model: withModel } }),
};
