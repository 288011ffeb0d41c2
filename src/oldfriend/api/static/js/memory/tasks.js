// Reminders and to-dos: adding in plain words, changing, putting off, ending.
import { useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { html } from "../html.js";
import { t, formatTime, formatWeekday } from "../i18n.js";
import { ActionStatus, useRowActions } from "./undo_toast.js";
import * as beliefList from "./belief_list.js";
import { memoryApi } from "./api.js";

const ENDED = { done: "tasks_done_told", cancelled: "tasks_cancelled_told" }; // what is said of it
const EVENING = 19; // from then on "this evening" is not offered
const FEW = 5;

const tasks = signal(null);

async function read() {
  const page = await memoryApi.tasks().catch(() => null);
  if (page) tasks.value = page.items;
}

export function Tasks() {
  const desk = useRowActions(read);
  const [isAll, setIsAll] = useState(false);
  const change = async (task, what) => {
    const after = await desk.run(() => memoryApi.changeTask(task.id, what));
    if (!after) return;
    const reopen = () => memoryApi.changeTask(task.id, { action: "reopen" });
    const moveBack = () => memoryApi.changeTask(task.id, { action: "change", due: task.due });
    if (what.action === "change") desk.tell(t("tasks_moved", { text: after.text, when: whenOf(after) }), moveBack);
    else if (what.action === "snooze") desk.tell(t("tasks_moved", { text: after.text, when: whenOf(after) }));
    else if (after.status in ENDED) desk.tell(t(ENDED[after.status], { text: after.text }), reopen);
  };
  if (!tasks.value || beliefList.isFiltered.value || beliefList.day.value) return null;
  const shown = isAll ? tasks.value : tasks.value.slice(0, FEW);
  return html`<section class="tasks" aria-labelledby="tasks-title">
    <h3 id="tasks-title" tabindex="-1" ref=${desk.title}>${t("tasks_title")}</h3>
    ${shown.length > 0 && html`<ul role="list">${shown.map((each) => html`<${Task} key=${each.id} task=${each} change=${(what) => change(each, what)} />`)}</ul>`}
    ${!shown.length && html`<p class="empty">${t("tasks_none")}</p>`}
    ${shown.length < tasks.value.length && html`<button class="quiet" onClick=${() => setIsAll(true)}>${t("tasks_all", { count: tasks.value.length })}</button>`}
    <${Add} desk=${desk} /><${ActionStatus} desk=${desk} />
  </section>`;
}

/** @param {{task: any, change: (what: any) => unknown}} given */
function Task({ task, change }) {
  const [isOpen, setIsOpen] = useState(false);
  const name = `task-${task.id.slice(0, 8)}`;
  const later = (choice) => (setIsOpen(false), change({ action: "snooze", later: choice }));
  const move = (due) => (setIsOpen(false), change({ action: task.rrule ? "snooze" : "change", due }));
  const isEvening = new Date().getHours() < EVENING;
  return html`<li class="task">
    <div class="task-told"><p class="text" id=${name}>${task.text}</p>
      <p class="meta">${[task.status === "asking" ? task.question : whenOf(task), repeatsOf(task), task.project && t("tasks_project", { project: task.project })].filter(Boolean).join(" · ")}</p></div>
    <p class="choices">
      <button class="quiet" aria-describedby=${name} onClick=${() => change({ action: "done" })}>${t("tasks_done")}</button>
      ${task.kind === "reminder" && task.status !== "asking" &&
      html`<button class="quiet" aria-describedby=${name} aria-expanded=${isOpen} onClick=${() => setIsOpen(!isOpen)}>${t("tasks_later")}</button>`}
      <button class="quiet" aria-describedby=${name} onClick=${() => change({ action: "cancel" })}>${t("tasks_cancel")}</button></p>
    ${isOpen && html`<div class="choices task-later" role="group" aria-label=${t("tasks_later")}>
      <button onClick=${() => later("10m")}>${t("tasks_10m")}</button>
      ${isEvening && html`<button onClick=${() => later("evening")}>${t("tasks_evening")}</button>`}
      <button onClick=${() => later("tomorrow")}>${t("tasks_tomorrow")}</button>
      <${Another} move=${move} /></div>`}
  </li>`;
}

/** A time of one's own, by the clock of this browser. @param {{move: (due: string) => unknown}} given */
function Another({ move }) {
  const [when, setWhen] = useState("");
  const send = (event) => {
    event.preventDefault();
    if (when) move(new Date(when).toISOString());
  };
  return html`<form class="task-another" onSubmit=${send}><input type="datetime-local" value=${when} aria-label=${t("tasks_another")} onInput=${({ target }) => setWhen(target.value)} />
    <button disabled=${!when}>${t("tasks_move")}</button></form>`;
}

/** One line in plain words, and what is said about it; one goes on writing where that asks. @param {{desk: ReturnType<typeof useRowActions>}} given */
function Add({ desk }) {
  const [words, setWords] = useState("");
  const add = async (event) => {
    event.preventDefault();
    if (!words.trim()) return;
    const page = await desk.run(() => memoryApi.addTask(words.trim()));
    if (!page) return;
    setWords("");
    desk.say(page.answer);
  };
  return html`<form class="task-add" onSubmit=${add}>
    <input value=${words} maxlength="300" placeholder=${t("tasks_example")} aria-label=${t("tasks_add_label")} onInput=${({ target }) => setWords(target.value)} />
    <button disabled=${!words.trim()}>${t("tasks_add")}</button></form>`;
}

/** When it is due, or was. @param {any} task */
function whenOf({ due, is_date_only, status, kind, rrule }) {
  if (!due) return kind === "todo" ? t("tasks_todo") : "";
  const isToday = new Date(due).toDateString() === new Date().toDateString();
  const day = isToday ? t("tasks_today") : formatWeekday(due);
  const when = is_date_only && !rrule ? day : `${day}, ${formatTime(due)}`;
  return t(status === "delivered" ? "tasks_was_due" : "tasks_due", { when });
}

/** How it repeats, as it was said; else how often. @param {any} task */
function repeatsOf({ rrule, repeats }) {
  const often = /FREQ=([A-Z]+)/.exec(rrule ?? "");
  return often && (repeats || t(`tasks_every_${often[1].toLowerCase()}`));
}
