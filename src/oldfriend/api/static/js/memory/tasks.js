// Reminders and to-dos: adding in plain words, changing, snoozing, ending.
import { useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { html } from "../html.js";
import { findOtherZone, formatLocal, formatWeekday, isToday, language, t } from "../i18n.js";
import { ActionStatus, useRowActions } from "./undo_toast.js";
import * as beliefList from "./belief_list.js";
import { memoryApi } from "./api.js";
import { formatTaskTime } from "./labels.js";

const ENDED_PHRASES = { done: "tasks_done_told", cancelled: "tasks_cancelled_told" }; // message after ending a task
const EVENING_HOUR = 19; // hour from which on "this evening" is not offered
const SHORT_LIST = 5;
const MS_PER_DAY = 86_400_000;
const WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const WORKDAYS = WEEKDAYS.slice(0, 5).toSorted().join();
const A_MONDAY = Date.UTC(2024, 0, 1);

const tasks = signal(null);

async function load() {
  const page = await memoryApi.tasks().catch(() => null);
  if (page) tasks.value = page.items;
}

export function Tasks() {
  const actions = useRowActions(load);
  const [isAll, setIsAll] = useState(false);
  const change = async (task, changes) => {
    const changed = await actions.run(() => memoryApi.changeTask(task.id, changes));
    if (!changed) return;
    const reopen = () => memoryApi.changeTask(task.id, { action: "reopen" });
    const moveBack = () => memoryApi.changeTask(task.id, { action: "change", due: task.due });
    const isMoved = ["change", "snooze", "answer"].includes(changes.action);
    if (isMoved) actions.showRowStatus(t("tasks_moved", { text: changed.text, when: formatWhen(changed) }), changes.action === "change" && canMoveBack(task) ? moveBack : undefined);
    else if (changed.status in ENDED_PHRASES) actions.showRowStatus(t(ENDED_PHRASES[changed.status], { text: changed.text }), reopen);
  };
  if (!tasks.value || beliefList.isFiltered.value || beliefList.day.value) return null;
  const visible = isAll ? tasks.value : tasks.value.slice(0, SHORT_LIST);
  return html`<section class="tasks" aria-labelledby="tasks-title">
    <h3 id="tasks-title" tabindex="-1" ref=${actions.heading}>${t("tasks_title")}</h3>
    ${visible.length > 0 && html`<ul role="list">${visible.map((each) => html`<${Task} key=${each.id} task=${each} change=${(changes) => change(each, changes)} />`)}</ul>`}
    ${!visible.length && html`<p class="empty">${t("tasks_none")}</p>`}
    ${visible.length < tasks.value.length && html`<button class="quiet" onClick=${() => setIsAll(true)}>${t("tasks_all", { count: tasks.value.length })}</button>`}
    <${Add} actions=${actions} /><${ActionStatus} actions=${actions} />
  </section>`;
}

/** @param {{task: any, change: (changes: any) => unknown}} props */
function Task({ task, change }) {
  const [isOpen, setIsOpen] = useState(false);
  const name = `task-${task.id.slice(0, 8)}`;
  const snooze = (choice) => (setIsOpen(false), change({ action: "snooze", later: choice }));
  const move = (due) => (setIsOpen(false), change({ action: task.rrule ? "snooze" : "change", due }));
  const isBeforeEvening = Number(formatLocal(new Date()).slice(11, 13)) < EVENING_HOUR;
  return html`<li class="task">
    <div class="task-told"><p class="text" id=${name}>${task.text}</p>
      <p class="meta">${[task.status === "asking" ? task.question : formatWhen(task), formatRepetition(task), task.project && t("tasks_project", { project: task.project })].filter(Boolean).join(" · ")}</p></div>
    ${task.choices.length > 0 && html`<p class="choices task-answers" role="group" aria-labelledby=${name}>${task.choices.map(({ label, answer }) =>
      html`<button key=${answer} onClick=${() => change({ action: "answer", words: answer })}>${label}</button>`)}</p>`}
    <p class="choices">
      <button class="quiet" aria-describedby=${name} onClick=${() => change({ action: "done" })}>${t("tasks_done")}</button>
      ${task.kind === "reminder" && task.status !== "asking" &&
      html`<button class="quiet" aria-describedby=${name} aria-expanded=${isOpen} onClick=${() => setIsOpen(!isOpen)}>${t("tasks_later")}</button>`}
      <button class="quiet" aria-describedby=${name} onClick=${() => change({ action: "cancel" })}>${t("tasks_cancel")}</button></p>
    ${isOpen && html`<div class="choices task-later" role="group" aria-label=${t("tasks_later")}>
      <button onClick=${() => snooze("10m")}>${t("tasks_10m")}</button>
      ${isBeforeEvening && html`<button onClick=${() => snooze("evening")}>${t("tasks_evening")}</button>`}
      <button onClick=${() => snooze("tomorrow")}>${t("tasks_tomorrow")}</button>
      <${CustomTime} move=${move} /></div>`}
  </li>`;
}

/** Whether the time before a change can be given again just as it was. @param {any} task */
const canMoveBack = ({ due, is_date_only, status }) => !is_date_only && status === "open" && new Date(due) > new Date();

/** The form that moves a task to any time, in the person's time zone, which is named where the browser's clock shows another. @param {{move: (due: string) => unknown}} props */
function CustomTime({ move }) {
  const [when, setWhen] = useState("");
  const send = (event) => {
    event.preventDefault();
    if (when) move(when);
  };
  const otherZone = findOtherZone();
  return html`<form class="task-another" onSubmit=${send}><input type="datetime-local" min=${formatLocal(new Date())} aria-describedby=${otherZone && "task-zone"} value=${when} aria-label=${t("tasks_another")} onInput=${({ target }) => setWhen(target.value)} />
    <button disabled=${!when}>${t("tasks_move")}</button>${otherZone && html`<span class="hint" id="task-zone">${t("tasks_zone", { zone: otherZone })}</span>`}</form>`;
}

/** The form that adds a task in plain words and shows the answer to it. @param {{actions: ReturnType<typeof useRowActions>}} props */
function Add({ actions }) {
  const [draft, setDraft] = useState("");
  const add = async (event) => {
    event.preventDefault();
    if (!draft.trim()) return;
    const page = await actions.run(() => memoryApi.addTask(draft.trim()));
    if (!page) return;
    setDraft("");
    actions.showStatus(page.answer);
  };
  return html`<form class="task-add" onSubmit=${add}>
    <input value=${draft} maxlength="300" placeholder=${t("tasks_example")} aria-label=${t("tasks_add_label")} onInput=${({ target }) => setDraft(target.value)} />
    <button disabled=${!draft.trim()}>${t("tasks_add")}</button></form>`;
}

/** When a task is or was due; "" without a time. @param {any} task */
function formatWhen(task) {
  const { due, until, is_date_only: isDateOnly, status, kind, rrule } = task;
  if (!due) return kind === "todo" ? t("tasks_todo") : "";
  const when = formatTaskTime(task, isToday(due) ? t("tasks_today") : formatWeekday(due), isDateOnly && !rrule);
  const isOver = !until || new Date(task.is_all_day ? `${until}T23:59:59` : until) < new Date();
  return t(status === "delivered" && isOver ? "tasks_was_due" : "tasks_due", { when });
}

/** How a task repeats, in the person's words if known; "" if it does not. @param {any} task */
function formatRepetition({ rrule, repeats }) {
  if (!rrule || repeats) return repeats ?? "";
  const { FREQ: frequency, INTERVAL: interval = "1", BYDAY: weekdays = "", BYSETPOS: position } = Object.fromEntries(rrule.split(";").map((part) => part.split("=")));
  const isEachWeek = !position && (frequency === "WEEKLY" || frequency === "DAILY"); // not "the first Monday of a month"
  const days = isEachWeek && /^[A-Z]{2}(,[A-Z]{2})*$/.test(weekdays) ? weekdays.split(",") : [];
  if (Number(interval) > 1) return [t(`tasks_every_few_${frequency.toLowerCase()}`, { count: Number(interval) }), days.length > 0 && formatWeekdays(days)].filter(Boolean).join(", ");
  if (!days.length || days.length === WEEKDAYS.length) return t(`tasks_every_${days.length ? "daily" : frequency.toLowerCase()}`);
  return days.toSorted().join() === WORKDAYS ? t("tasks_every_workday") : t("tasks_every_on", { days: formatWeekdays(days) });
}

/** Names of weekdays, joined. @param {string[]} days such as "MO" */
function formatWeekdays(days) {
  const format = new Intl.DateTimeFormat(language.value, { weekday: "long", timeZone: "UTC" });
  const names = WEEKDAYS.filter((each) => days.includes(each)).map((each) => format.format(A_MONDAY + WEEKDAYS.indexOf(each) * MS_PER_DAY));
  return new Intl.ListFormat(language.value, { type: "conjunction" }).format(names);
}
