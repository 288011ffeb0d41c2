// The companion's reflections between conversations; their prompts and answers are kept for a limited time.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { formatDay, t, formatTime } from "../i18n.js";
import { memoryApi } from "./api.js";

const KINDS = { reflection: "thinking_reflection", "slow tick": "thinking_tick", description: "thinking_description" };

export function Reflections() {
  const [page, setPage] = useState(null);
  const [error, setError] = useState("");
  const load = (cursor) =>
    memoryApi.reflections(cursor).then(
      (page) => (setError(""), setPage((before) => ({ items: [...(cursor ? before.items : []), ...page.items], next: page.next }))),
      (failure) => setError(failure.message || t("lost")),
    );
  useEffect(() => {
    setPage(null);
    load();
  }, [store.rewriteCount.value]);
  return html`<h3 id="panel-title">${t("thinking_title")}</h3><p class="meta">${t("thinking_told")}</p>
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    ${!page && !error && html`<p class="empty" role="status">${t("loading")}</p>`}
    ${page && !page.items.length && html`<p class="empty">${t("thinking_none")}</p>`}
    ${page?.items.map((each) => html`<${Reflection} key=${each.id} reflection=${each} />`)}
    ${page?.next && html`<button class="quiet" onClick=${() => load(page.next)}>${t("earlier")}</button>`}`;
}

/** One reflection: its result, and when opened the prompt and the answer. */
function Reflection({ reflection }) {
  const [details, setDetails] = useState(null);
  const [error, setError] = useState("");
  const open = ({ currentTarget }) =>
    currentTarget.open && !details && memoryApi.reflection(reflection.id).then(setDetails, (failure) => setError(failure.message || t("lost")));
  const result = reflection.error ? t("thinking_in_vain") : t("thinking_came", { learned: reflection.learned, rejected: reflection.rejected });
  return html`<details class="thinking" onToggle=${open}><summary>${t(KINDS[reflection.kind])} <span class="meta">${formatDay(reflection.at)}, ${formatTime(reflection.at)} · ${t(`thinking_why_${reflection.why}`)} · ${result}</span></summary>
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    ${details && html`<h4>${t("thinking_shown")}</h4><ul>${details.shown.map((each, index) => html`<li key=${index}>${each}</li>`)}</ul>
      <h4>${t("thinking_said")}</h4>${details.answered.map((each, index) => html`<pre key=${index} tabindex="0">${each}</pre>`)}
      <p class="meta">${t("thinking_took", { in: reflection.tokens_in, out: reflection.tokens_out })}</p>`}</details>`;
}
