// settings.
import { html } from "../html.js";
import { t } from "../words.js";

export default function Settings() {
  return html`<h2>${t("place_settings")}</h2>`;
}
