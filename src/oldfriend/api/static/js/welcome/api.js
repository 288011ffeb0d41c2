// Requests of the first run.
import { request } from "../api.js";

export const draftsApi = {
  foresee: (text) => request("/drafts/cost", { method: "POST", json: { text } }),
  draft: (text, withModel) => request("/drafts", { method: "POST", json: { text, with_model: withModel } }),
};
