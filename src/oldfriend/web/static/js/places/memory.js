// memory.
import { html } from "../html.js";
import { t } from "../words.js";

export default function Memory() {
  return html`<h2>${t("place_memory")}</h2>`;
}
