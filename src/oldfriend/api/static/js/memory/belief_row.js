// The row of one belief: its sentence, its quotes, how sure it is, and its actions.
import { useEffect, useState } from "../../vendor/hooks.js";
import { showMessage } from "../chat.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { followLink } from "../router.js";
import { channelName, formatShortDay, isSaidIn, t } from "../i18n.js";
import { memoryApi } from "./api.js";
import * as beliefList from "./belief_list.js";
import { openForget, sendVerdict, reject } from "./decisions.js";
import { dropRepeatedQuotes, formatFrequency, formatStatus, formatOwnTime } from "./labels.js";

const DEFAULT_CHANNEL = "web"; // not named in a quote's source, as most messages come from it
const CHANGE_LABELS = {
  new: "memory_turned_new", changed: "memory_turned_changed", gone: "memory_turned_gone", changed_later: "memory_turned_changed_later",
  gone_later: "memory_turned_gone_later",
};
const SPARK_SIZE = { width: 96, height: 24 };

/** @param {{belief: any}} props */
export function BeliefRow({ belief }) {
  const status = formatStatus(belief);
  const mark = beliefList.changeMarks.value.get(belief.id);
  const [quote] = dropRepeatedQuotes(belief.words).toSorted((a, b) => Number(b.supports ?? true) - Number(a.supports ?? true));
  const [time, frequency] = [formatOwnTime(belief), formatFrequency(belief)];
  return html`<article class=${`belief line line-${belief.kind} ${belief.ended_at ? "is-over" : ""} ${mark ? `is-turned turned-${mark}` : ""}`}>
    <${KindIcon} kind=${belief.kind} />
    <div class="line-body">
      <p class="text"><a href=${`/memory/${belief.id}`} lang=${belief.sentence_language} onClick=${followLink}>${belief.sentence}</a>
        ${belief.is_pinned && html` <span class="pill pill-pinned">${t("memory_pinned")}</span>`}
        ${mark && html` <span class="pill pill-turned">${t(CHANGE_LABELS[mark])}</span>`}
        ${status && mark !== "gone" && html` <span class="pill">${status}</span>`}</p>
      <p class="line-why">${time && html`<span>${time}</span>`}${quote && html`<${Quote} quote=${quote} hasDate=${!time} sentence=${belief.sentence} />`}${frequency && html`<span>${frequency}</span>`}${
        belief.kind === "pattern" && belief.course.length > 1 && html`<${Sparkline} belief=${belief} />`}</p>
      <${FoldedBeliefs} ids=${belief.folded} />
    </div>
    ${!beliefList.day.value && !belief.ended_at && html`<${RowActions} belief=${belief} />`}
  </article>`;
}

/** The row of a belief that was just rejected, with an undo button. @param {{belief: any, undo: () => void}} props */
export function RejectedRow({ belief, undo }) {
  return html`<article class="belief line is-taken-back"><p class="taken-back"><span role="status">${t("wrong_done", { text: belief.sentence })}</span>
    <button onClick=${undo}>${t("undo")}</button></p></article>`;
}

/** What was learned from the same words and says nothing beyond the row above it; loaded once it is opened.
 * @param {{ids: string[]}} props */
export function FoldedBeliefs({ ids }) {
  const [isOpen, setOpen] = useState(false);
  const [beliefs, setBeliefs] = useState([]);
  const [error, setError] = useState("");
  const load = async () => {
    try {
      setBeliefs((await Promise.all(ids.map((id) => memoryApi.belief(id)))).filter((each) => beliefList.day.value || !each.ended_at)); // what ended since stood there on a day of the past
      setError("");
    } catch (failure) {
      setError(failure.message || t("lost"));
    }
  };
  useEffect(() => void (isOpen && load()), [isOpen, ids.join(), beliefList.decisionCount.value]);
  if (!ids.length) return null;
  return html`<details class="folded" open=${isOpen} onToggle=${({ currentTarget }) => setOpen(currentTarget.open)}><summary>${t("memory_folded", { count: ids.length })}</summary>
    ${error && html`<p class="bad" role="alert">${error}</p>`}${isOpen && beliefs.map((each) => html`<${BeliefRow} key=${each.id} belief=${each} />`)}</details>`;
}

/** A quote that supports or contradicts a belief; a click shows its message in the chat. */
export function Quote({ quote, hasDate = true, sentence = "" }) {
  const source = [quote.role === "person" ? "" : quote.speaker, hasDate && formatShortDay(quote.at), quote.channel !== DEFAULT_CHANNEL && quote.channel && channelName(quote.channel)].filter(Boolean).join(" · ");
  return html`<button class="words" onClick=${() => showMessage(quote.message)}>
    ${!quote.supports && html`<span class="pill">${t("memory_against")}</span> `}${isSaidIn(sentence, quote) ? html`<span class="where">${source || t("days_in_chat")}</span>` : html`<q>${quote.quote}</q> <span class="where">${source}</span>`}</button>`;
}

function RowActions({ belief }) {
  if (belief.kind === "summary") return null;
  return html`<span class="choices on-row">
    ${belief.is_by_person ? "" : html`<button class="quiet" onClick=${() => sendVerdict(belief, "confirm")}>${t("keep")}</button>`}
    <button class="quiet" onClick=${() => reject(belief)}>${t("wrong")}</button>
    <button class="quiet" onClick=${() => sendVerdict(belief, belief.is_pinned ? "unpin" : "pin")}>${t(belief.is_pinned ? "memory_unpin" : "memory_pin")}</button>
    <button class="quiet" onClick=${() => openForget(belief)}>${t("forget")}</button></span>`;
}

/** A small line chart of a pattern's strength over time. */
function Sparkline({ belief }) {
  const { course } = belief;
  const [first, last] = [Date.parse(course[0].at), Date.parse(course.at(-1).at)];
  const max = Math.max(2, ...course.map((each) => each.strength));
  const x = (each) => 3 + ((Date.parse(each.at) - first) / Math.max(1, last - first)) * (SPARK_SIZE.width - 6);
  const y = (each) => SPARK_SIZE.height - 3 - ((each.strength - 1) / Math.max(0.5, max - 1)) * (SPARK_SIZE.height - 6);
  const line = course.map((each, index) => `${index ? "L" : "M"}${x(each).toFixed(1)} ${y(each).toFixed(1)}`).join("");
  const label = t("memory_strength_told", { from: course[0].strength.toFixed(1), to: course.at(-1).strength.toFixed(1), when: formatShortDay(course[0].at) });
  return html`<svg class="spark" viewBox=${`0 0 ${SPARK_SIZE.width} ${SPARK_SIZE.height}`} width=${SPARK_SIZE.width} height=${SPARK_SIZE.height} role="img" aria-label=${label}>
    <path d=${line} /><circle cx=${x(course.at(-1))} cy=${y(course.at(-1))} r="2.5" /></svg>`;
}
