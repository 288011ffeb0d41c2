// The question whether two names are one entity.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { merge, separate } from "../memory/decisions.js";
import { memoryApi as memory } from "../memory/api.js";
import { t } from "../i18n.js";

/** The question, with its two answers. @param {{about: {id: string, name: string, same_as: string | null}}} given */
export function SameQuestion({ about }) {
  const [other, setOther] = useState(null);
  useEffect(() => {
    if (about.same_as) memory.one(about.same_as).then(setOther, () => setOther(null));
  }, [about.same_as]);
  if (!other) return html`<p class="pill">${t("status_tentative")}</p>`;
  return html`<p class="taken-back"><span>${t("people_same", { one: about.name, other: other.text })}</span>
    <button onClick=${() => merge(other, { id: about.id, text: about.name })}>${t("people_same_yes")}</button>
    <button onClick=${() => separate(other, about.id)}>${t("people_same_no")}</button></p>`;
}
