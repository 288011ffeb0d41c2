// Beside the list: one thing that is believed, with every decision about it, by whom, from which words.
import { useEffect, useState } from "../../vendor/hooks.js";
import { showWords } from "../chat.js";
import { useReturn } from "../focus.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { follow } from "../places.js";
import * as store from "../store.js";
import { channelName, dayOf, shortDayOf, t } from "../words.js";
import * as book from "./book.js";
import { Course } from "./chart.js";
import { foresee, judge, reject, separate } from "./deciding.js";
import { Edit, Merge } from "./mending.js";
import { Words } from "./line.js";
import { deed, eachOnce, standingOf, statusOf, timeOfIt } from "./telling.js";

const MOST_WORDS = 12;
const WHO = {
  you: "memory_you", rules: "memory_rules", "a model": "memory_a_model", "the calendar": "memory_the_calendar", "an undo": "memory_an_undo",
  "its reflection": "memory_its_reflection", "its thinking": "memory_its_thinking",
};

/** @param {{id: string}} given */
export function Panel({ id }) {
  const [shown, setShown] = useState(null);
  const [why, setWhy] = useState("");
  const [doing, setDoing] = useState("");
  const [title, comeBack] = useReturn(doing !== "");
  const read = async () => {
    try {
      const [belief, history] = await book.oneWithHistory(id);
      setShown({ belief, steps: history.steps });
      setWhy("");
      return belief;
    } catch (problem) {
      setWhy(problem.message || t("lost"));
      return null;
    }
  };
  useEffect(() => setDoing(""), [id]);
  useEffect(() => void read(), [id, store.learned.value]);
  if (why) return html`<p class="bad" role="alert">${why}</p>`;
  if (!shown || !shown.belief.id.endsWith(id.slice(-8))) return null;
  const { belief, steps } = shown;
  const after = async (changed) => {
    comeBack();
    setDoing("");
    if (changed && changed.id !== belief.id) book.openOne(changed.id);
    else await read();
    if (changed) book.read(book.book.value?.items.length ?? 0);
  };
  const status = statusOf(belief);
  const time = timeOfIt(belief);
  return html`<p class="panel-kind"><${KindIcon} kind=${belief.kind} /> ${t(`kind_${belief.kind}`)}${time && ` · ${time}`}</p>
    <h3 id="panel-title" class="panel-text" tabindex="-1" ref=${title}>${belief.sentence}</h3>
    <p class="meta">${standingOf(belief)} ${status && html`<span class="pill">${status}</span>`} ${belief.is_pinned && html`<span class="pill pill-pinned">${t("memory_pinned")}</span>`}</p>
    ${belief.tags.length > 0 && html`<p class="tags">${belief.tags.map((tag) => html`<span class="pill" key=${tag}># ${tag}</span>`)}</p>`}
    ${doing === "" && belief.kind !== "summary" && html`<${Deeds} belief=${belief} after=${after} setDoing=${setDoing} />`}
    ${doing === "edit" && html`<${Edit} belief=${belief} after=${after} again=${read} />`}
    ${doing === "merge" && html`<${Merge} belief=${belief} after=${after} />`}
    ${belief.course.length > 1 && html`<h4>${t("memory_strength")}</h4><${Course} course=${belief.course} />`}
    <${Evidence} belief=${belief} />
    <${History} id=${belief.id} steps=${steps} />
    <${Details} belief=${belief} />`;
}

function Deeds({ belief, after, setDoing }) {
  if (belief.ended_at) {
    return html`<p class="choices">
      ${belief.merged_into && html`<button onClick=${async () => after(await separate({ id: belief.merged_into }, belief.id) && belief)}>${t("memory_separate")}</button>`}
      ${["rejected", "deprecated", "expired"].includes(belief.status) && html`<button onClick=${async () => after(await judge(belief, "confirm"))}>${t("memory_believe_again")}</button>`}
      <button onClick=${() => foresee(belief)}>${t("forget")}</button></p>`;
  }
  return html`<p class="choices deeds">
    ${!belief.is_by_person && html`<button onClick=${async () => after(await judge(belief, "confirm"))}>${t("keep")}</button>`}
    <button onClick=${async () => { await reject(belief); after(belief); }}>${t("wrong")}</button>
    <button onClick=${() => setDoing("edit")}>${t("edit")}</button>
    <button onClick=${async () => after(await judge(belief, belief.is_pinned ? "unpin" : "pin"))}>${t(belief.is_pinned ? "memory_unpin" : "memory_pin")}</button>
    <button onClick=${() => setDoing("merge")}>${t("memory_merge")}</button>
    <button onClick=${() => foresee(belief)}>${t("forget")}</button></p>`;
}

function Evidence({ belief }) {
  if (!belief.words.length) return html`<p class="empty">${t(belief.is_by_person ? "learned_you" : "memory_no_words")}</p>`;
  return html`<h4>${t("memory_because")}</h4>
    ${eachOnce(belief.words).slice(-MOST_WORDS).map((words) => html`<${Words} key=${words.message + words.quote} words=${words} />`)}`;
}

function History({ id, steps }) {
  const own = steps.find((step) => step.id === id)?.at ?? "";
  const isOlder = (other) => Date.parse(steps.find((step) => step.id === other)?.at) < Date.parse(own);
  return html`<h4>${t("memory_history")}</h4>
    <ol class="steps" role="list">${steps.map((step, place) => html`<li key=${place} class=${step.id === id ? "" : "of-another"}>
      <p><strong>${deed(step.op)}</strong> <span class="meta">${t("memory_by", { who: byWhom(step.by), when: dayOf(step.at) })}</span></p>
      ${step.id === id
        ? html`<p>${step.text}</p>`
        : html`<p><span class="pill">${t(isOlder(step.id) ? "memory_older" : "memory_newer")}</span> <a href=${`/memory/${step.id}`} onClick=${follow}>${step.text}</a></p>`}
      ${step.because.slice(0, 2).map((message) => html`<button class="words" key=${message.id} onClick=${() => showWords(message.id)}>
        <q>${message.text}</q> <span class="where">${shortDayOf(message.at)} · ${channelName(message.channel)}</span></button>`)}
    </li>`)}</ol>`;
}

/** Who has decided, as the house tells it: who, and in brackets by which version. */
function byWhom(by) {
  const who = by.replace(/ \(.*\)$/, "");
  return who in WHO ? t(WHO[who]) : who;
}

function Details({ belief }) {
  const rows = [
    ["id", belief.id], [t("memory_confidence"), belief.confidence === null ? "–" : `${Math.round(belief.confidence * 100)} %`],
    [t("memory_strength"), belief.strength ?? "–"], [t("memory_key"), [belief.key, belief.value].filter(Boolean).join(": ") || "–"],
    [t("memory_impact"), belief.impact || "–"], [t("memory_learned_at"), shortDayOf(belief.learned_at)],
  ];
  return html`<details class="details"><summary>${t("memory_details")}</summary>
    <dl>${rows.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl></details>`;
}
