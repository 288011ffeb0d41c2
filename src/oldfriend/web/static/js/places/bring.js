// bring.
import { html } from "../html.js";
import { t } from "../words.js";

export default function Bring() {
  return html`<h2>${t("place_bring")}</h2>`;
}
