// The row of one belief: its sentence, its quotes, how sure it is, and its actions.
import { showMessage } from "../chat.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { followLink } from "../router.js";
import { channelName, formatShortDay, t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { openForget, sendVerdict, reject } from "./decisions.js";
import { dropRepeatedQuotes, formatFrequency, formatStatus, formatOwnTime } from "./labels.js";

const HERE = "web"; // where most is said: not worth a word
const TURNED = {
  new: "memory_turned_new", changed: "memory_turned_changed", gone: "memory_turned_gone", changed_later: "memory_turned_changed_later",
  gone_later: "memory_turned_gone_later",
};
const SPARK = { width: 96, height: 24 };

/** @param {{belief: any}} given */
export function BeliefRow({ belief }) {
  const status = formatStatus(belief);
  const turn = beliefList.changeMarks.value.get(belief.id);
  const [words] = dropRepeatedQuotes(belief.words).toSorted((one, other) => Number(other.supports ?? true) - Number(one.supports ?? true));
  const [time, often] = [formatOwnTime(belief), formatFrequency(belief)];
  return html`<article class=${`belief line line-${belief.kind} ${belief.ended_at ? "is-over" : ""} ${turn ? `is-turned turned-${turn}` : ""}`}>
    <${KindIcon} kind=${belief.kind} />
    <div class="line-body">
      <p class="text"><a href=${`/memory/${belief.id}`} onClick=${followLink}>${belief.sentence}</a>
        ${belief.is_pinned && html` <span class="pill pill-pinned">${t("memory_pinned")}</span>`}
        ${turn && html` <span class="pill pill-turned">${t(TURNED[turn])}</span>`}
        ${status && turn !== "gone" && html` <span class="pill">${status}</span>`}</p>
      <p class="line-why">${time && html`<span>${time}</span>`}${words && html`<${Quotes} words=${words} hasDate=${!time} />`}${often && html`<span>${often}</span>`}${
        belief.kind === "pattern" && belief.course.length > 1 && html`<${Spark} belief=${belief} />`}</p>
    </div>
    ${!beliefList.day.value && !belief.ended_at && html`<${Choices} belief=${belief} />`}
  </article>`;
}

/** Where something was just called wrong: the way back, in its place. @param {{belief: any, undo: () => void}} given */
export function RejectedRow({ belief, undo }) {
  return html`<article class="belief line is-taken-back"><p class="taken-back"><span role="status">${t("wrong_done", { text: belief.sentence })}</span>
    <button onClick=${undo}>${t("undo")}</button></p></article>`;
}

/** Words that speak for it or against it; they lead to where they were said. */
export function Quotes({ words, hasDate = true }) {
  const where = [words.role === "person" ? "" : words.speaker, hasDate && formatShortDay(words.at), words.channel !== HERE && words.channel && channelName(words.channel)].filter(Boolean).join(" · ");
  return html`<button class="words" onClick=${() => showMessage(words.message)}>
    ${!words.supports && html`<span class="pill">${t("memory_against")}</span> `}<q>${words.quote}</q> <span class="where">${where}</span></button>`;
}

function Choices({ belief }) {
  if (belief.kind === "summary") return null;
  return html`<span class="choices on-row">
    ${belief.is_by_person ? "" : html`<button class="quiet" onClick=${() => sendVerdict(belief, "confirm")}>${t("keep")}</button>`}
    <button class="quiet" onClick=${() => reject(belief)}>${t("wrong")}</button>
    <button class="quiet" onClick=${() => sendVerdict(belief, belief.is_pinned ? "unpin" : "pin")}>${t(belief.is_pinned ? "memory_unpin" : "memory_pin")}</button>
    <button class="quiet" onClick=${() => openForget(belief)}>${t("forget")}</button></span>`;
}

/** How strong it was over time, in a stroke. */
function Spark({ belief }) {
  const { course } = belief;
  const [first, last] = [Date.parse(course[0].at), Date.parse(course.at(-1).at)];
  const most = Math.max(2, ...course.map((each) => each.strength));
  const x = (each) => 3 + ((Date.parse(each.at) - first) / Math.max(1, last - first)) * (SPARK.width - 6);
  const y = (each) => SPARK.height - 3 - ((each.strength - 1) / Math.max(0.5, most - 1)) * (SPARK.height - 6);
  const line = course.map((each, place) => `${place ? "L" : "M"}${x(each).toFixed(1)} ${y(each).toFixed(1)}`).join("");
  const told = t("memory_strength_told", { from: course[0].strength.toFixed(1), to: course.at(-1).strength.toFixed(1), when: formatShortDay(course[0].at) });
  return html`<svg class="spark" viewBox=${`0 0 ${SPARK.width} ${SPARK.height}`} width=${SPARK.width} height=${SPARK.height} role="img" aria-label=${told}>
    <path d=${line} /><circle cx=${x(course.at(-1))} cy=${y(course.at(-1))} r="2.5" /></svg>`;
}
