// The changes between two days, as a list with old and new text.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { followLink } from "../router.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { memoryApi } from "./api.js";
import { VirtualList } from "../virtual_list.js";
import { formatCalendarDay, formatDecision, formatDate, formatChangeCounts } from "./labels.js";

const DEBOUNCE_MS = 250;

/** Two date fields and the changes between them; by default, those of the last day on which something changed. */
export function Changes() {
  const { items = [], today = "" } = beliefList.learnedDays.value ?? {};
  const [since, setSince] = useState(null);
  const [until, setUntil] = useState(null);
  const [page, setPage] = useState(null);
  const [error, setError] = useState("");
  const loadedRewrite = useRef(store.rewriteCount.value); // value of store.rewriteCount at the last load: a change means that something was forgotten
  const from = since ?? beliefList.day.value ?? items.at(-2)?.day ?? previousDay(items[0]?.day ?? today);
  const to = until ?? today;
  useEffect(() => {
    if (!from || !to) return undefined;
    if (loadedRewrite.current !== store.rewriteCount.value) setPage(null);
    loadedRewrite.current = store.rewriteCount.value;
    const request = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setPage(await memoryApi.changes(from, to, null, request.signal));
        setError("");
      } catch (failure) {
        if (!request.signal.aborted) setError(failure.message || t("lost"));
      }
    }, page ? DEBOUNCE_MS : 0);
    return () => {
      clearTimeout(timer);
      request.abort();
    };
  }, [from, to, store.rewriteCount.value]);
  const loadMore = async () => {
    const next = page?.next;
    if (!next || page.isLoadingMore) return;
    page.isLoadingMore = true;
    const more = await beliefList.tryAction(() => memoryApi.changes(from, to, next));
    if (more && loadedRewrite.current === store.rewriteCount.value) setPage({ ...more, items: [...page.items, ...more.items] });
  };
  const Field = (label, value, set) => html`<label>${label} <input type="date" value=${value} min=${items.length ? previousDay(items[0].day) : ""} max=${today}
    onInput=${({ target }) => target.value && set(target.value)} /></label>`;
  return html`<h3 id="panel-title">${t("memory_what_changed_title")}</h3>
    <div class="two-days">${Field(t("memory_from"), from, setSince)} ${Field(t("memory_to"), to, setUntil)}</div>
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    ${page && html`<p aria-live="polite">${page.items.length
      ? formatChangeCounts(page.counts)
      : t("memory_nothing_changed", { from: formatCalendarDay(from), to: formatCalendarDay(to) })}</p>
      <${VirtualList} items=${page.items} keyOf=${(each) => each.belief.id} total=${page.counts.added + page.counts.changed + page.counts.ended}
        label=${t("memory_what_changed_title")} listKey=${`${from} ${to}`} onNearEnd=${loadMore} renderRow=${(each) => html`<${Change} ...${each} />`} />`}`;
}

/** The ISO date before another; "" for "". @param {string} iso */
function previousDay(iso) {
  if (!iso) return "";
  const day = new Date(`${iso}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() - 1);
  return day.toISOString().slice(0, 10);
}

const CHANGE_LABELS = { added: "memory_added", changed: "memory_changed", ended: "memory_ended" };

function Change({ turn, op, belief, before, at }) {
  const isReworded = turn === "changed" && before && before !== belief.text;
  return html`<article class=${`turned turned-${turn}`}>
    <p class="turned-how"><strong>${t(CHANGE_LABELS[turn])}</strong> <span class="meta">${turn === "added" ? "" : `${formatDecision(op)} · `}${formatDate(at)}</span></p>
    ${isReworded && html`<p class="was"><del>${before}</del></p>`}
    <p><${KindIcon} kind=${belief.kind} /> <a href=${`/memory/${belief.id}`} onClick=${followLink}>${belief.sentence}</a></p>
    ${belief.words[0] && html`<p class="meta">“${belief.words.at(-1).quote}”</p>`}
  </article>`;
}
