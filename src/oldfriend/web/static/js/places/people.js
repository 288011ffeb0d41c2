// people.
import { html } from "../html.js";
import { t } from "../words.js";

export default function People() {
  return html`<h2>${t("place_people")}</h2>`;
}
