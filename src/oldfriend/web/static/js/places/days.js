// days.
import { html } from "../html.js";
import { t } from "../words.js";

export default function Days() {
  return html`<h2>${t("place_days")}</h2>`;
}
