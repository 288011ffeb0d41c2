// An example for newcomers: words, and what is learned from them.
import { html } from "./html.js";
import { KindIcon } from "./icons.js";
import { t } from "./i18n.js";

export function Example() {
  return html`<figure class="sample"><figcaption class="meta">${t("welcome_sample")}</figcaption>
    <div class="said mine"><p class="bubble">${t("welcome_sample_said")}</p></div>
    <div class="belief is-new"><${KindIcon} kind="triple" /><div><p class="text">${t("welcome_sample_learned")}</p><p class="meta"><q>${t("welcome_sample_said")}</q></p></div></div></figure>`;
}
