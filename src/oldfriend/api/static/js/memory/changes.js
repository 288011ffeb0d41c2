// What changed between two days, in words.
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

const SETTLE_MS = 250;

/** Two days, and what lies between: at first the last day on which something changed. */
export function Changes() {
  const { items = [], today = "" } = beliefList.learnedDays.value ?? {};
  const [since, setSince] = useState(null);
  const [until, setUntil] = useState(null);
  const [found, setFound] = useState(null);
  const [why, setWhy] = useState("");
  const seen = useRef(store.rewritten.value); // how much had been forgotten when this was read
  const from = since ?? beliefList.day.value ?? items.at(-2)?.day ?? dayBefore(items[0]?.day ?? today);
  const to = until ?? today;
  useEffect(() => {
    if (!from || !to) return undefined;
    if (seen.current !== store.rewritten.value) setFound(null);
    seen.current = store.rewritten.value;
    const asked = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setFound(await memoryApi.difference(from, to, null, asked.signal));
        setWhy("");
      } catch (problem) {
        if (!asked.signal.aborted) setWhy(problem.message || t("lost"));
      }
    }, found ? SETTLE_MS : 0);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [from, to, store.rewritten.value]);
  const readOn = async () => {
    const next = found?.next;
    if (!next || found.isReadingOn) return;
    found.isReadingOn = true;
    const page = await beliefList.tryAction(() => memoryApi.difference(from, to, next));
    if (page && seen.current === store.rewritten.value) setFound({ ...page, items: [...found.items, ...page.items] });
  };
  const Field = (label, value, set) => html`<label>${label} <input type="date" value=${value} min=${items.length ? dayBefore(items[0].day) : ""} max=${today}
    onInput=${({ target }) => target.value && set(target.value)} /></label>`;
  return html`<h3 id="panel-title">${t("memory_what_changed_title")}</h3>
    <div class="two-days">${Field(t("memory_from"), from, setSince)} ${Field(t("memory_to"), to, setUntil)}</div>
    ${why && html`<p class="bad" role="alert">${why}</p>`}
    ${found && html`<p aria-live="polite">${found.items.length
      ? formatChangeCounts(found.counts)
      : t("memory_nothing_changed", { from: formatCalendarDay(from), to: formatCalendarDay(to) })}</p>
      <${VirtualList} items=${found.items} keyOf=${(each) => each.belief.id} total=${found.counts.added + found.counts.changed + found.counts.ended}
        label=${t("memory_what_changed_title")} of=${`${from} ${to}`} onNearEnd=${readOn} draw=${(each) => html`<${Turned} ...${each} />`} />`}`;
}

/** The day before one of the calendar; "" of none. @param {string} iso */
function dayBefore(iso) {
  if (!iso) return "";
  const day = new Date(`${iso}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() - 1);
  return day.toISOString().slice(0, 10);
}

const TURNS = { added: "memory_added", changed: "memory_changed", ended: "memory_ended" };

function Turned({ turn, op, belief, before, at }) {
  const isReworded = turn === "changed" && before && before !== belief.text;
  return html`<article class=${`turned turned-${turn}`}>
    <p class="turned-how"><strong>${t(TURNS[turn])}</strong> <span class="meta">${turn === "added" ? "" : `${formatDecision(op)} · `}${formatDate(at)}</span></p>
    ${isReworded && html`<p class="was"><del>${before}</del></p>`}
    <p><${KindIcon} kind=${belief.kind} /> <a href=${`/memory/${belief.id}`} onClick=${followLink}>${belief.sentence}</a></p>
    ${belief.words[0] && html`<p class="meta">“${belief.words.at(-1).quote}”</p>`}
  </article>`;
}
