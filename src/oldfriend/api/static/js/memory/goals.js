// Goals, watched pages and numbers: progress, changing, ending.
import { useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { showMessage } from "../chat.js";
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
  const [open, setOpen] = useState(""); // the form that is open: "amount", "change" or ""
  const toggle = (form) => setOpen(open === form ? "" : form);
  const close = () => setOpen("");
  const name = `goal-${goal.id.slice(0, 8)}`;
  const act = (action, more = {}) => actions.run(() => memoryApi.changeGoal(goal.id, { action, ...more }));
  const end = async (action, phrase) => {
    if (await act(action)) actions.showRowStatus(t(phrase, { text: goal.text }), () => memoryApi.changeGoal(goal.id, { action: "reopen" }));
  };
  const undoCount = () => memoryApi.changeGoal(goal.id, { action: "undo" });
  const countProgress = async (more = {}) => (await act("did", more)) && (close(), actions.showRowStatus(t("goals_counted", { text: goal.text }), undoCount));
  const takeBack = async (step) => (await act("undo", { step: step.id })) && actions.showRowStatus(t("goals_taken_back", { text: goal.text }));
  const isAmount = goal.amount_wanted !== null; // of which a press does not tell how much it was
  const change = async (changes) => {
    const changed = await act("change", changes);
    if (changed) (close(), actions.showRowStatus(t("goals_changed", { text: changed.text })));
  };
  return html`<li class="task">
    <div class="task-told"><p class="text" id=${name}>${goal.text}</p><p class="meta">${formatProgress(goal)}</p></div>
    <p class="choices">
      <button class="quiet" aria-describedby=${name} aria-expanded=${isAmount ? open === "amount" : null} onClick=${() => (isAmount ? toggle("amount") : countProgress())}>${t("goals_did")}</button>
      <button class="quiet" aria-describedby=${name} onClick=${() => end("done", "goals_reached_told")}>${t("goals_reached")}</button>
      <button class="quiet" aria-describedby=${name} aria-expanded=${open === "change"} onClick=${() => toggle("change")}>${t("goals_change")}</button>
      <button class="quiet" aria-describedby=${name} onClick=${() => end("drop", "goals_dropped_told")}>${t("goals_drop")}</button></p>
    ${open === "amount" && html`<${Amount} unit=${goal.unit} save=${(amount) => countProgress({ amount })} close=${close} />`}
    ${open === "change" && html`<${Change} goal=${goal} save=${change} close=${close} />`}
    ${goal.steps.length > 0 && html`<details class="goal-change"><summary>${t("goals_steps")}</summary><ul role="list">${goal.steps.map((step) =>
      html`<${Step} key=${step.id} step=${step} unit=${goal.unit} takeBack=${takeBack} />`)}</ul></details>`}
  </li>`;
}

/** Something that was counted for a goal, with the way to its message. @param {{step: any, unit: string | null, takeBack: (step: any) => void}} props */
function Step({ step, unit, takeBack }) {
  const amount = step.amount === null ? "" : `${step.amount.toLocaleString(language.value)} ${unit ?? "×"} · `;
  const name = `step-${step.id}`;
  return html`<li><span class="meta" id=${name}>${amount}${formatWeekday(step.at)}, ${formatTime(step.at)}</span>
    ${step.message && html` <button class="quiet" aria-describedby=${name} onClick=${() => showMessage(step.message)}>${t("days_in_chat")}</button>`}
    ${" "}<button class="quiet" aria-describedby=${name} onClick=${() => takeBack(step)}>${t("goals_take_back")}</button></li>`;
}

/** The form that asks how much was done. @param {{unit: string, save: (amount: number) => void, close: () => void}} props */
function Amount({ unit, save, close }) {
  const [amount, setAmount] = useState("");
  const field = useFocus();
  const submit = (event) => {
    event.preventDefault();
    save(Number(amount));
  };
  return html`<form class="goal-change" onSubmit=${submit} onKeyDown=${({ key }) => key === "Escape" && close()}>
    <label>${t("goals_amount", { unit })} <input ref=${field} type="number" min="0.01" step="any" required value=${amount} onInput=${({ target }) => setAmount(target.value)} /></label>
    <button>${t("save")}</button><button type="button" class="quiet" onClick=${close}>${t("cancel")}</button></form>`;
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

/** The form that changes a goal's text, deadline and next action. @param {{goal: any, save: (changes: any) => void, close: () => void}} props */
function Change({ goal, save, close }) {
  const [text, setText] = useState(goal.text);
  const [deadline, setDeadline] = useState(goal.deadline?.slice(0, 10) ?? "");
  const [next, setNext] = useState(goal.next_action);
  const field = useFocus();
  const submit = (event) => {
    event.preventDefault();
    save({ text: text.trim(), next_action: next.trim(), deadline: deadline || null });
  };
  return html`<form class="goal-change" onSubmit=${submit} onKeyDown=${({ key }) => key === "Escape" && close()}>
    <label>${t("goals_add_label")} <input ref=${field} value=${text} required maxlength="300" onInput=${({ target }) => setText(target.value)} /></label>
    <label>${t("goals_next_label")} <input value=${next} maxlength="300" onInput=${({ target }) => setNext(target.value)} /></label>
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
