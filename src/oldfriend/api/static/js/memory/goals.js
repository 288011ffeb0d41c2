// Goals, watched pages and numbers: progress, changing, ending.
import { useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { useFocus } from "../focus.js";
import { html } from "../html.js";
import { language, t, formatTime, formatWeekday } from "../i18n.js";
import { ActionStatus, useRowActions } from "./undo_toast.js";
import * as beliefList from "./belief_list.js";
import { memoryApi } from "./api.js";

const PERIODS = { day: "goals_day", week: "goals_week", month: "goals_month", year: "goals_year" };
const CONDITIONS = { changes: "watches_changes", below: "watches_below", above: "watches_above" };
const NUMBER_CONDITIONS = { above: "watches_number_above", below: "watches_number_below" };

const goals = signal(null);
const watches = signal(null);

async function loadAll() {
  const [goalPage, watchPage] = await Promise.all([memoryApi.goals(), memoryApi.watches()].map((each) => each.catch(() => null)));
  if (goalPage) goals.value = goalPage.items;
  if (watchPage) watches.value = watchPage.items;
}

export function Goals() {
  const actions = useRowActions(loadAll);
  if (!goals.value || beliefList.isFiltered.value || beliefList.day.value) return null;
  return html`<section class="tasks" aria-labelledby="goals-title">
    <h3 id="goals-title" tabindex="-1" ref=${actions.heading}>${t("goals_title")}</h3>
    ${goals.value.length > 0 && html`<ul role="list">${goals.value.map((each) => html`<${Goal} key=${each.id} goal=${each} actions=${actions} />`)}</ul>`}
    <${Add} actions=${actions} />
    ${watches.value?.length > 0 && html`<h3 id="watches-title">${t("watches_title")}</h3>
      <ul role="list" aria-labelledby="watches-title">${watches.value.map((each) => html`<${Watch} key=${each.id} watch=${each} actions=${actions} />`)}</ul>`}
    <${ActionStatus} actions=${actions} />
  </section>`;
}

/** @param {{goal: any, actions: ReturnType<typeof useRowActions>}} props */
function Goal({ goal, actions }) {
  const [isOpen, setIsOpen] = useState(false);
  const name = `goal-${goal.id.slice(0, 8)}`;
  const act = (action, more = {}) => actions.run(() => memoryApi.changeGoal(goal.id, { action, ...more }));
  const end = async (action, phrase) => {
    if (await act(action)) actions.showRowStatus(t(phrase, { text: goal.text }), () => memoryApi.changeGoal(goal.id, { action: "reopen" }));
  };
  const countProgress = async () => (await act("did")) && actions.showRowStatus(t("goals_counted", { text: goal.text }));
  const change = async (changes) => (await act("change", changes)) && (setIsOpen(false), actions.showRowStatus(t("goals_changed", { text: goal.text })));
  return html`<li class="task">
    <div class="task-told"><p class="text" id=${name}>${goal.text}</p><p class="meta">${formatProgress(goal)}</p></div>
    <p class="choices">
      <button class="quiet" aria-describedby=${name} onClick=${countProgress}>${t("goals_did")}</button>
      <button class="quiet" aria-describedby=${name} onClick=${() => end("done", "goals_reached_told")}>${t("goals_reached")}</button>
      <button class="quiet" aria-describedby=${name} aria-expanded=${isOpen} onClick=${() => setIsOpen(!isOpen)}>${t("goals_change")}</button>
      <button class="quiet" aria-describedby=${name} onClick=${() => end("drop", "goals_dropped_told")}>${t("goals_drop")}</button></p>
    ${isOpen && html`<${Change} goal=${goal} save=${change} close=${() => setIsOpen(false)} />`}
  </li>`;
}

/** The line below a goal: progress, deadline and next action. @param {any} goal */
function formatProgress({ times, period, done_in_period: done, told: mentions, deadline, next_action: next, ...total }) {
  const counted = mentions ? t("goals_told", { count: mentions }) : "";
  const progress = times ? t(PERIODS[period], { done, times }) : total.amount_wanted === null ? counted : formatTotal(total);
  return [progress, deadline && t("goals_by", { when: formatWeekday(deadline) }), next && t("goals_next", { what: next })].filter(Boolean).join(" · ");
}

/** How much of an amount is reached that is wanted in all. @param {any} total */
function formatTotal({ amount_done: done, amount_wanted: wanted, unit }) {
  const format = (amount) => amount.toLocaleString(language.value);
  return t("goals_total", { done: format(done), wanted: format(wanted), unit });
}

/** The form that changes a goal's deadline and next action. @param {{goal: any, save: (changes: any) => void, close: () => void}} props */
function Change({ goal, save, close }) {
  const [deadline, setDeadline] = useState(goal.deadline?.slice(0, 10) ?? "");
  const [next, setNext] = useState(goal.next_action);
  const field = useFocus();
  const submit = (event) => {
    event.preventDefault();
    save({ next_action: next.trim(), deadline: deadline || null });
  };
  return html`<form class="goal-change" onSubmit=${submit} onKeyDown=${({ key }) => key === "Escape" && close()}>
    <label>${t("goals_next_label")} <input ref=${field} value=${next} maxlength="300" onInput=${({ target }) => setNext(target.value)} /></label>
    <label>${t("goals_deadline")} <input type="date" value=${deadline} onInput=${({ target }) => setDeadline(target.value)} /></label>
    <button>${t("save")}</button><button type="button" class="quiet" onClick=${close}>${t("cancel")}</button></form>`;
}

/** The button, then the form, that adds a goal in plain words. @param {{actions: ReturnType<typeof useRowActions>}} props */
function Add({ actions }) {
  const [draft, setDraft] = useState(null);
  const field = useFocus(draft !== null);
  const add = async (event) => {
    event.preventDefault();
    const text = draft.trim();
    if (text && (await actions.run(() => memoryApi.addGoal(text)))) (setDraft(null), actions.showRowStatus(t("goals_set", { text })));
  };
  if (draft === null) return html`<p><button class="quiet" onClick=${() => setDraft("")}>${t("goals_add")}</button></p>`;
  return html`<form class="task-add" onSubmit=${add} onKeyDown=${({ key }) => key === "Escape" && setDraft(null)}>
    <input ref=${field} value=${draft} maxlength="300" placeholder=${t("goals_example")} aria-label=${t("goals_add_label")} onInput=${({ target }) => setDraft(target.value)} />
    <button disabled=${!draft.trim()}>${t("tasks_add")}</button></form>`;
}

/** @param {{watch: any, actions: ReturnType<typeof useRowActions>}} props */
function Watch({ watch, actions }) {
  const { id, url, text, condition, threshold, amount, measure, unit, next_check: next } = watch;
  const name = `watch-${id.slice(0, 8)}`;
  const formatPrice = (value) => `${value.toLocaleString(language.value)} ${unit}`.trim();
  const description = t((measure ? NUMBER_CONDITIONS : CONDITIONS)[condition], { price: threshold === null ? "" : formatPrice(threshold) });
  const addAgain = () => memoryApi.addWatch({ url, ...(condition === "changes" ? {} : { [condition]: threshold }) });
  const end = async () => (await actions.run(() => memoryApi.endWatch(id))) && actions.showRowStatus(t("watches_ended", { text }), addAgain);
  const meta = [description, amount !== null && t("watches_amount", { price: formatPrice(amount) }),
    next && t("watches_next", { when: `${formatWeekday(next)}, ${formatTime(next)}` })];
  return html`<li class="task"><div class="task-told"><p class="text" id=${name}>${text}</p>
      <p class="meta">${!measure && text !== url && html`<span class="address">${url}</span> · `}${meta.filter(Boolean).join(" · ")}</p></div>
    <p class="choices"><button class="quiet" aria-describedby=${name} onClick=${end}>${t("watches_end")}</button></p></li>`;
}
