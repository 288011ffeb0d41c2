// The panel of one belief: its actions, quotes, and every decision about it.
import { useEffect, useState } from "../../vendor/hooks.js";
import { showMessage } from "../chat.js";
import { useFocusReturn } from "../focus.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { followLink } from "../router.js";
import * as store from "../store.js";
import { channelName, formatDay, formatShortDay, t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { StrengthChart } from "./chart.js";
import { openForget, sendVerdict, reject, separate } from "./decisions.js";
import { EditForm, MergeForm } from "./edit_form.js";
import { FoldedBeliefs, Quote } from "./belief_row.js";
import { formatDecision, dropRepeatedQuotes, formatConfidence, formatStatus, formatOwnTime } from "./labels.js";

const MAX_QUOTES = 12;
const ACTORS = {
  you: "memory_you", rules: "memory_rules", "a model": "memory_a_model", "the calendar": "memory_the_calendar", "an undo": "memory_an_undo",
  "its reflection": "memory_its_reflection", "its thinking": "memory_its_thinking",
};

/** @param {{id: string}} props */
export function BeliefPanel({ id }) {
  const [loaded, setLoaded] = useState(null);
  const [error, setError] = useState("");
  const [openForm, setOpenForm] = useState("");
  const [title, returnFocus] = useFocusReturn(openForm !== "");
  const load = async () => {
    try {
      const [belief, history] = await beliefList.loadWithHistory(id);
      setLoaded({ belief, steps: history.steps });
      setError("");
      return belief;
    } catch (failure) {
      setError(failure.message || t("lost"));
      return null;
    }
  };
  useEffect(() => setOpenForm(""), [id]);
  useEffect(() => void load(), [id, store.learned.value]);
  if (error) return html`<p class="bad" role="alert">${error}</p>`;
  if (!loaded || !loaded.belief.id.endsWith(id.slice(-8))) return null;
  const { belief, steps } = loaded;
  const onDone = async (changed) => {
    returnFocus();
    setOpenForm("");
    if (changed && changed.id !== belief.id) beliefList.openBelief(changed.id);
    else await load();
    if (changed) beliefList.load(beliefList.beliefs.value?.items.length ?? 0);
  };
  const status = formatStatus(belief);
  const time = formatOwnTime(belief);
  return html`<p class="panel-kind"><${KindIcon} kind=${belief.kind} /> ${t(`kind_${belief.kind}`)}${time && ` · ${time}`}</p>
    <h3 id="panel-title" class="panel-text" lang=${belief.sentence_language} tabindex="-1" ref=${title}>${belief.sentence}</h3>
    <p class="meta">${formatConfidence(belief)} ${status && html`<span class="pill">${status}</span>`} ${belief.is_pinned && html`<span class="pill pill-pinned">${t("memory_pinned")}</span>`}</p>
    ${belief.tags.length > 0 && html`<p class="tags">${belief.tags.map((tag) => html`<span class="pill" key=${tag}># ${tag}</span>`)}</p>`}
    ${openForm === "" && belief.kind !== "summary" && html`<${Actions} belief=${belief} onDone=${onDone} setOpenForm=${setOpenForm} />`}
    ${openForm === "edit" && html`<${EditForm} belief=${belief} onDone=${onDone} reload=${load} />`}
    ${openForm === "merge" && html`<${MergeForm} belief=${belief} onDone=${onDone} />`}
    ${spansDays(belief.course) && html`<h4>${t("memory_strength")}</h4><${StrengthChart} course=${belief.course} />`}
    <${Evidence} belief=${belief} /><${FoldedBeliefs} ids=${belief.folded} />
    <${History} id=${belief.id} steps=${steps} />
    <${Details} belief=${belief} />`;
}

/** Whether a belief was heard of on more than one day. @param {{at: string}[]} course */
const spansDays = (course) => new Set(course.map(({ at }) => new Date(at).toDateString())).size > 1;

function Actions({ belief, onDone, setOpenForm }) {
  if (belief.ended_at) {
    return html`<p class="choices">
      ${belief.merged_into && html`<button onClick=${async () => onDone(await separate({ id: belief.merged_into }, belief.id) && belief)}>${t("memory_separate")}</button>`}
      ${["rejected", "deprecated", "expired"].includes(belief.status) && html`<button onClick=${async () => onDone(await sendVerdict(belief, "confirm"))}>${t("memory_believe_again")}</button>`}
      <button onClick=${() => openForget(belief)}>${t("forget")}</button></p>`;
  }
  return html`<p class="choices deeds">
    ${!belief.is_by_person && html`<button onClick=${async () => onDone(await sendVerdict(belief, "confirm"))}>${t("keep")}</button>`}
    <button onClick=${async () => { await reject(belief); onDone(belief); }}>${t("wrong")}</button>
    <button onClick=${() => setOpenForm("edit")}>${t("edit")}</button>
    <button onClick=${async () => onDone(await sendVerdict(belief, belief.is_pinned ? "unpin" : "pin"))}>${t(belief.is_pinned ? "memory_unpin" : "memory_pin")}</button>
    <button onClick=${() => setOpenForm("merge")}>${t("memory_merge")}</button>
    <button onClick=${() => openForget(belief)}>${t("forget")}</button></p>`;
}

function Evidence({ belief }) {
  if (!belief.words.length) return html`<p class="empty">${t(belief.is_by_person ? "learned_you" : "memory_no_words")}</p>`;
  return html`<h4>${t("memory_because")}</h4>
    ${dropRepeatedQuotes(belief.words).slice(-MAX_QUOTES).map((quote) => html`<${Quote} key=${quote.message + quote.quote} quote=${quote} />`)}`;
}

function History({ id, steps }) {
  const ownTime = steps.find((step) => step.id === id)?.at ?? "";
  const isOlder = (other) => Date.parse(steps.find((step) => step.id === other)?.at) < Date.parse(ownTime);
  return html`<h4>${t("memory_history")}</h4>
    <ol class="steps" role="list">${steps.map((step, index) => html`<li key=${index} class=${step.id === id ? "" : "of-another"}>
      <p><strong>${formatDecision(step.op)}</strong> <span class="meta">${t("memory_by", { who: formatActor(step.by), when: formatDay(step.at) })}</span></p>
      ${step.id === id
        ? html`<p>${step.text}</p>`
        : html`<p><span class="pill">${t(isOlder(step.id) ? "memory_older" : "memory_newer")}</span> <a href=${`/memory/${step.id}`} onClick=${followLink}>${step.text}</a></p>`}
      ${step.because.slice(0, 2).map((message) => html`<button class="words" key=${message.id} onClick=${() => showMessage(message.id)}>
        <q>${message.text}</q> <span class="where">${formatShortDay(message.at)} · ${channelName(message.channel)}</span></button>`)}
    </li>`)}</ol>`;
}

/** The translated name of who decided, from the server's "name (version)". */
function formatActor(by) {
  const who = by.replace(/ \(.*\)$/, "");
  return who in ACTORS ? t(ACTORS[who]) : who;
}

function Details({ belief }) {
  const rows = [
    ["id", belief.id], [t("memory_confidence"), belief.confidence === null ? "–" : `${Math.round(belief.confidence * 100)} %`],
    [t("memory_strength"), belief.strength ?? "–"], [t("memory_key"), [belief.key, belief.value].filter(Boolean).join(": ") || "–"],
    [t("memory_impact"), belief.impact || "–"], [t("memory_learned_at"), formatShortDay(belief.learned_at)],
  ];
  return html`<details class="details"><summary>${t("memory_details")}</summary>
    <dl>${rows.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl></details>`;
}
