// Reflections between conversations and their texts, as long as they are kept.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { formatDay, t, formatTime } from "../i18n.js";
import { memoryApi } from "./api.js";

const KINDS = { reflection: "thinking_reflection", "slow tick": "thinking_tick", description: "thinking_description" };

export function Reflections() {
  const [told, setTold] = useState(null);
  const [why, setWhy] = useState("");
  const read = (cursor) =>
    memoryApi.thinking(cursor).then(
      (page) => (setWhy(""), setTold((before) => ({ items: [...(cursor ? before.items : []), ...page.items], next: page.next }))),
      (problem) => setWhy(problem.message || t("lost")),
    );
  useEffect(() => {
    setTold(null);
    read();
  }, [store.rewritten.value]);
  return html`<h3 id="panel-title">${t("thinking_title")}</h3><p class="meta">${t("thinking_told")}</p>
    ${why && html`<p class="bad" role="alert">${why}</p>`}
    ${!told && !why && html`<p class="empty" role="status">${t("loading")}</p>`}
    ${told && !told.items.length && html`<p class="empty">${t("thinking_none")}</p>`}
    ${told?.items.map((each) => html`<${Once} key=${each.id} tick=${each} />`)}
    ${told?.next && html`<button class="quiet" onClick=${() => read(told.next)}>${t("earlier")}</button>`}`;
}

/** One time: what came of it; opened, what was shown and said. */
function Once({ tick }) {
  const [whole, setWhole] = useState(null);
  const [why, setWhy] = useState("");
  const open = ({ currentTarget }) =>
    currentTarget.open && !whole && memoryApi.thought(tick.id).then(setWhole, (problem) => setWhy(problem.message || t("lost")));
  const came = tick.error ? t("thinking_in_vain") : t("thinking_came", { learned: tick.learned, rejected: tick.rejected });
  return html`<details class="thinking" onToggle=${open}><summary>${t(KINDS[tick.kind])} <span class="meta">${formatDay(tick.at)}, ${formatTime(tick.at)} · ${t(`thinking_why_${tick.why}`)} · ${came}</span></summary>
    ${why && html`<p class="bad" role="alert">${why}</p>`}
    ${whole && html`<h4>${t("thinking_shown")}</h4><ul>${whole.shown.map((each, place) => html`<li key=${place}>${each}</li>`)}</ul>
      <h4>${t("thinking_said")}</h4>${whole.answered.map((each, place) => html`<pre key=${place} tabindex="0">${each}</pre>`)}
      <p class="meta">${t("thinking_took", { in: tick.tokens_in, out: tick.tokens_out })}</p>`}</details>`;
}
