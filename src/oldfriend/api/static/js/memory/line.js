// One thing that is believed, as a row: what it says, its words, how sure, and what one can do about it.
import { showWords } from "../chat.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { follow } from "../places.js";
import { channelName, shortDayOf, t } from "../words.js";
import * as book from "./book.js";
import { foresee, judge, reject } from "./deciding.js";
import { eachOnce, standingOf, statusOf, timeOfIt } from "./telling.js";

const MOST_WORDS = 2;
const SPARK = { width: 96, height: 24 };

/** @param {{belief: any}} given */
export function Line({ belief }) {
  const status = statusOf(belief);
  const time = timeOfIt(belief);
  const standing = standingOf(belief);
  return html`<article class=${`belief line line-${belief.kind} ${belief.ended_at ? "is-over" : ""}`}>
    <${KindIcon} kind=${belief.kind} />
    <div class="line-body">
      ${time && html`<p class="line-time">${time}</p>`}
      <p class="text"><a href=${`/memory/${belief.id}`} onClick=${follow}>${belief.text}</a>
        ${belief.is_pinned && html` <span class="pill pill-pinned">${t("memory_pinned")}</span>`}
        ${status && html` <span class="pill">${status}</span>`}</p>
      ${belief.kind === "pattern" && belief.course.length > 1 && html`<${Spark} belief=${belief} />`}
      ${eachOnce(belief.words).slice(0, MOST_WORDS).map((words) => html`<${Words} key=${words.message + words.quote} words=${words} />`)}
      <p class="line-foot">${standing && html`<span class="meta">${standing}</span>`}
        ${!book.day.value && !belief.ended_at && html`<${Choices} belief=${belief} />`}</p>
    </div>
  </article>`;
}

/** Words that speak for it or against it; they lead to where they were said. */
export function Words({ words }) {
  const where = [words.role === "person" ? "" : words.speaker, shortDayOf(words.at), words.channel && channelName(words.channel)].filter(Boolean).join(" · ");
  return html`<button class="words" onClick=${() => showWords(words.message)}>
    ${!words.supports && html`<span class="pill">${t("memory_against")}</span> `}<q>${words.quote}</q> <span class="where">${where}</span></button>`;
}

function Choices({ belief }) {
  if (belief.kind === "summary") return null;
  return html`<span class="choices on-row">
    ${belief.is_by_person ? "" : html`<button class="quiet" onClick=${() => judge(belief, "confirm")}>${t("keep")}</button>`}
    <button class="quiet" onClick=${() => reject(belief)}>${t("wrong")}</button>
    <button class="quiet" onClick=${() => judge(belief, belief.is_pinned ? "unpin" : "pin")}>${t(belief.is_pinned ? "memory_unpin" : "memory_pin")}</button>
    <button class="quiet" onClick=${() => foresee(belief)}>${t("forget")}</button></span>`;
}

/** How strong it was over time, in a stroke. */
function Spark({ belief }) {
  const { course } = belief;
  const [first, last] = [Date.parse(course[0].at), Date.parse(course.at(-1).at)];
  const most = Math.max(2, ...course.map((each) => each.strength));
  const x = (each) => 3 + ((Date.parse(each.at) - first) / Math.max(1, last - first)) * (SPARK.width - 6);
  const y = (each) => SPARK.height - 3 - ((each.strength - 1) / Math.max(0.5, most - 1)) * (SPARK.height - 6);
  const line = course.map((each, place) => `${place ? "L" : "M"}${x(each).toFixed(1)} ${y(each).toFixed(1)}`).join("");
  const told = t("memory_strength_told", { from: course[0].strength.toFixed(1), to: course.at(-1).strength.toFixed(1), when: shortDayOf(course[0].at) });
  return html`<svg class="spark" viewBox=${`0 0 ${SPARK.width} ${SPARK.height}`} width=${SPARK.width} height=${SPARK.height} role="img" aria-label=${told}>
    <path d=${line} /><circle cx=${x(course.at(-1))} cy=${y(course.at(-1))} r="2.5" /></svg>`;
}
