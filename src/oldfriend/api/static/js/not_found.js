// The page of an unknown address.
import { html } from "./html.js";
import { followLink } from "./router.js";
import { t } from "./i18n.js";

/** @param {{to?: string, label?: string}} given where it leads, and how that is called */
export function NotFound({ to = "/", label = t("nowhere_chat") }) {
  return html`<div class="nowhere"><h2>${t("nowhere_title")}</h2><p class="lead">${t("nowhere")}</p>
    <p><a href=${to} onClick=${followLink}>${label}</a></p></div>`;
}
