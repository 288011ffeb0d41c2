// Goals, watched pages and numbers: progress, changing, ending.
import { useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { useFocus } from "../focus.js";
import { html } from "../html.js";
import { language, t, formatTime, formatWeekday } from "../i18n.js";
import { ActionStatus, useRowActions } from "./undo_toast.js";
import * as beliefList from "./belief_list.js";
import { memoryApi } from "./api.js";

const RHYTHMS = { day: "goals_day", week: "goals_week", month: "goals_month", year: "goals_year" };
const CONDITIONS = { changes: "watches_changes", below: "watches_below", above: "watches_above" };

const goals = signal(null);
const watches = signal(null);

async function read() {
  const [wanted, watched] = await Promise.all([memoryApi.goals(), memoryApi.watches()].map((each) => each.catch(() => null)));
  if (wanted) goals.value = wanted.items;
  if (watched) watches.value = watched.items;
}

export function Goals() {
  const desk = useRowActions(read);
  if (!goals.value || beliefList.isFiltered.value || beliefList.day.value) return null;
  return html`<section class="tasks" aria-labelledby="goals-title">
    <h3 id="goals-title" tabindex="-1" ref=${desk.title}>${t("goals_title")}</h3>
    ${goals.value.length > 0 && html`<ul role="list">${goals.value.map((each) => html`<${Goal} key=${each.id} goal=${each} desk=${desk} />`)}</ul>`}
    <${Add} desk=${desk} />
    ${watches.value?.length > 0 && html`<h3 id="watches-title">${t("watches_title")}</h3>
      <ul role="list" aria-labelledby="watches-title">${watches.value.map((each) => html`<${Watch} key=${each.id} watch=${each} desk=${desk} />`)}</ul>`}
    <${ActionStatus} desk=${desk} />
  </section>`;
}

/** @param {{goal: any, desk: ReturnType<typeof useRowActions>}} given */
function Goal({ goal, desk }) {
  const [isOpen, setIsOpen] = useState(false);
  const name = `goal-${goal.id.slice(0, 8)}`;
  const act = (action, more = {}) => desk.run(() => memoryApi.changeGoal(goal.id, { action, ...more }));
  const end = async (action, told) => {
    if (await act(action)) desk.tell(t(told, { text: goal.text }), () => memoryApi.changeGoal(goal.id, { action: "reopen" }));
  };
  const count = async () => (await act("did")) && desk.tell(t("goals_counted", { text: goal.text }));
  const change = async (wishes) => (await act("change", wishes)) && (setIsOpen(false), desk.tell(t("goals_changed", { text: goal.text })));
  return html`<li class="task">
    <div class="task-told"><p class="text" id=${name}>${goal.text}</p><p class="meta">${standing(goal)}</p></div>
    <p class="choices">
      <button class="quiet" aria-describedby=${name} onClick=${count}>${t("goals_did")}</button>
      <button class="quiet" aria-describedby=${name} onClick=${() => end("done", "goals_reached_told")}>${t("goals_reached")}</button>
      <button class="quiet" aria-describedby=${name} aria-expanded=${isOpen} onClick=${() => setIsOpen(!isOpen)}>${t("goals_change")}</button>
      <button class="quiet" aria-describedby=${name} onClick=${() => end("drop", "goals_dropped_told")}>${t("goals_drop")}</button></p>
    ${isOpen && html`<${Change} goal=${goal} save=${change} close=${() => setIsOpen(false)} />`}
  </li>`;
}

/** How far it is, until when, and what comes next. @param {any} goal */
function standing({ times, period, done_in_period: done, told, deadline, next_action: next }) {
  const far = times ? t(RHYTHMS[period], { done, times }) : told ? t("goals_told", { count: told }) : "";
  return [far, deadline && t("goals_by", { when: formatWeekday(deadline) }), next && t("goals_next", { what: next })].filter(Boolean).join(" · ");
}

/** Until when it is wanted, and what is the next step. @param {{goal: any, save: (wishes: any) => void, close: () => void}} given */
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

/** A goal in plain words, once one wants to write one. @param {{desk: ReturnType<typeof useRowActions>}} given */
function Add({ desk }) {
  const [words, setWords] = useState(null);
  const field = useFocus(words !== null);
  const add = async (event) => {
    event.preventDefault();
    const text = words.trim();
    if (text && (await desk.run(() => memoryApi.addGoal(text)))) (setWords(null), desk.tell(t("goals_set", { text })));
  };
  if (words === null) return html`<p><button class="quiet" onClick=${() => setWords("")}>${t("goals_add")}</button></p>`;
  return html`<form class="task-add" onSubmit=${add} onKeyDown=${({ key }) => key === "Escape" && setWords(null)}>
    <input ref=${field} value=${words} maxlength="300" placeholder=${t("goals_example")} aria-label=${t("goals_add_label")} onInput=${({ target }) => setWords(target.value)} />
    <button disabled=${!words.trim()}>${t("tasks_add")}</button></form>`;
}

/** @param {{watch: any, desk: ReturnType<typeof useRowActions>}} given */
function Watch({ watch, desk }) {
  const { id, url, text, condition, threshold, amount, measure, unit, next_check: next } = watch;
  const name = `watch-${id.slice(0, 8)}`;
  const price = (value) => `${value.toLocaleString(language.value)} ${unit}`.trim();
  const told = t(measure ? `watches_number_${condition}` : CONDITIONS[condition], { price: threshold === null ? "" : price(threshold) });
  const again = () => memoryApi.addWatch({ url, ...(condition === "changes" ? {} : { [condition]: threshold }) });
  const end = async () => (await desk.run(() => memoryApi.endWatch(id))) && desk.tell(t("watches_ended", { text }), again);
  const meta = [told, amount !== null && t("watches_amount", { price: price(amount) }),
    next && t("watches_next", { when: `${formatWeekday(next)}, ${formatTime(next)}` })];
  return html`<li class="task"><div class="task-told"><p class="text" id=${name}>${text}</p>
      <p class="meta">${!measure && text !== url && html`<span class="address">${url}</span> · `}${meta.filter(Boolean).join(" · ")}</p></div>
    <p class="choices"><button class="quiet" aria-describedby=${name} onClick=${end}>${t("watches_end")}</button></p></li>`;
}
