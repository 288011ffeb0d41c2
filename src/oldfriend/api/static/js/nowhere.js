// An address at which there is nothing: it says so, and leads back.
import { html } from "./html.js";
import { follow } from "./places.js";
import { t } from "./words.js";

/** @param {{to?: string, label?: string}} given where it leads, and how that is called */
export function Nowhere({ to = "/", label = t("nowhere_chat") }) {
  return html`<div class="nowhere"><h2>${t("nowhere_title")}</h2><p class="lead">${t("nowhere")}</p>
    <p><a href=${to} onClick=${follow}>${label}</a></p></div>`;
}
