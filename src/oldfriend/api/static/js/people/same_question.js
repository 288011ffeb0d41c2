// The question whether two names are one entity.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { merge, separate } from "../memory/decisions.js";
import { memoryApi as memory } from "../memory/api.js";
import { t } from "../i18n.js";

/** Asks whether an entity that is in question, or whose name is likely another's, is that one: yes merges them, no separates them.
 * @param {{about: {id: string, name: string, status: string, same_as: string | null, namesake: string | null}}} props */
export function SameQuestion({ about }) {
  const isUncertain = about.status === "uncertain";
  const likely = isUncertain ? about.same_as : about.namesake;
  const [other, setOther] = useState(null);
  useEffect(() => {
    setOther(null);
    if (likely) memory.belief(likely).then(setOther, () => setOther(null));
  }, [likely]);
  if (!other) return isUncertain && html`<p class="pill">${t("status_tentative")}</p>`;
  return html`<p class="taken-back"><span>${t("people_same", { one: about.name, other: other.text })}</span>
    <button onClick=${() => merge(other, { id: about.id, text: about.name })}>${t("people_same_yes")}</button>
    <button onClick=${() => separate(other, about.id)}>${t("people_same_no")}</button></p>`;
}
