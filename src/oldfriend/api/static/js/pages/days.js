// Days: the calendar, with the diary and the numbers beside it.
import { useEffect, useState } from "../../vendor/hooks.js";
import { showMessage } from "../chat.js";
import { PlainText, ReplyText } from "../chat/message_text.js";
import { SESSION_GAP_MS } from "../chat/message.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { request } from "../api.js";
import { Diary, DiaryOfDay } from "../days/diary.js";
import { Numbers } from "../days/numbers.js";
import { Tabs } from "../days/tabs.js";
import * as beliefList from "../memory/belief_list.js";
import { formatStatus } from "../memory/labels.js";
import { useLiveUpdates } from "../live_updates.js";
import { NotFound } from "../not_found.js";
import { followLink, navigate, subpath } from "../router.js";
import * as store from "../store.js";
import { channelName, formatDay, formatWeekday, language, t, formatTime } from "../i18n.js";

const MONTH = /^\d{4}-\d{2}$/;
const MAX_DUE = 2; // due items shown in a cell
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export default function Days() {
  const route = subpath.value;
  if (route === "diary") return html`<div class="days"><${Diary} /></div>`;
  const [view, ...rest] = route.split("/");
  if (view === "numbers") return html`<div class="days"><${Numbers} name=${rest.join("/")} /></div>`;
  const isDate = !route || ((DAY.test(route) || MONTH.test(route)) && Number.isFinite(Date.parse(route)));
  if (!isDate) return html`<${NotFound} to="/days" label=${t("days_calendar")} />`;
  if (DAY.test(route)) return html`<div class="days"><${Day} key=${route} day=${route} /></div>`;
  const today = new Date();
  const month = MONTH.test(route) ? route : `${today.getFullYear()}-${String(today.getMonth() + 1).padStart(2, "0")}`;
  return html`<div class="days"><${Month} key=${month} month=${month} /></div>`;
}

/** The response of a GET request, loaded again when there is news: [response, error]. The response is null until loaded; if loading fails, the last one stays. @param {string} path */
function useResponse(path) {
  const [response, setResponse] = useState(null);
  const [error, setError] = useState("");
  const updates = useLiveUpdates([store.messages.value.length, store.learned.value]);
  useEffect(() => {
    let isCurrent = true;
    request(path).then(
      (loaded) => isCurrent && (setResponse(loaded), setError("")),
      (failure) => isCurrent && setError(failure.message || t("lost")),
    );
    return () => (isCurrent = false);
  }, [path, store.rewriteCount.value, updates]);
  return [response, error];
}

function Month({ month }) {
  const [response, error] = useResponse(`/days/months/${month}`);
  const first = new Date(`${month}-01T00:00`);
  const daysByDate = new Map((response?.days ?? []).map((each) => [each.day, each]));
  const max = Math.max(1, ...[...daysByDate.values()].map((each) => each.messages));
  return html`<${Tabs} current="/days" /><header class="month-head">
      <h2>${new Intl.DateTimeFormat(language.value, { month: "long", year: "numeric" }).format(first)}</h2>
      <p class="choices">
        <button aria-label=${t("days_before")} disabled=${!response?.first || response.first >= month} onClick=${() => navigate(`/days/${addMonths(month, -1)}`)}>‹</button>
        <button aria-label=${t("days_after")} disabled=${!response || response.last <= month} onClick=${() => navigate(`/days/${addMonths(month, 1)}`)}>›</button>
        ${response?.first && html`<label class="meta">${t("days_month")} <input type="month" min=${response.first} max=${response.last} value=${month}
          onChange=${({ target }) => MONTH.test(target.value) && navigate(`/days/${target.value}`)} /></label>`}</p></header>
    <${Year} month=${month} />
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    ${response && !response.first && html`<p class="empty">${t("days_none")}</p>`}
    <table class="month" aria-label=${t("days_calendar")}><thead><tr>${listWeekdays().map((each) => html`<th key=${each} scope="col">${each}</th>`)}</tr></thead>
      <tbody>${listWeeks(first).map((week) => html`<tr key=${week[0]}>${week.map((day) => html`<td key=${day} class=${day.startsWith(month) ? "" : "is-outside"}
        aria-current=${day === response?.today ? "date" : null}>${day.startsWith(month) && html`<${Cell} day=${day} summary=${daysByDate.get(day)} max=${max} />`}</td>`)}</tr>`)}</tbody></table>`;
}

/** The months of the year, colored by the number of messages; if this month is empty, a link to the latest that is not. @param {{month: string}} props */
function Year({ month }) {
  const year = Number(month.slice(0, 4));
  const [response] = useResponse(`/days/years/${year}`);
  const monthsByName = new Map((response?.months ?? []).map((each) => [each.month, each]));
  const max = Math.max(1, ...[...monthsByName.values()].map((each) => each.messages));
  const names = new Intl.DateTimeFormat(language.value, { month: "short" });
  const yearLink = (otherYear, label, text) => html`<a href=${`/days/${otherYear}-${month.slice(5)}`} aria-label=${label} title=${label} onClick=${followLink}>${text}</a>`;
  const isEmpty = response && !monthsByName.has(month);
  return html`<nav class="year" aria-label=${t("days_year", { year: String(year) })}>
    ${response?.first && response.first < year ? yearLink(year - 1, t("days_year_before"), "‹") : html`<span></span>`}
    <ol role="list">${Array.from({ length: 12 }, (_, index) => {
      const name = `${year}-${String(index + 1).padStart(2, "0")}`;
      const { messages = 0, happened = 0 } = monthsByName.get(name) ?? {};
      return html`<li key=${name}><a href=${`/days/${name}`} class=${`heat-${heatLevel(messages, max)}`} aria-current=${name === month ? "true" : null} onClick=${followLink}
        title=${t("days_month_told", { messages, happened })} aria-label=${`${names.format(new Date(2024, index, 1))}: ${t("days_month_told", { messages, happened })}`}>
        <span aria-hidden="true"></span>${names.format(new Date(2024, index, 1))}</a></li>`;
    })}</ol>
    ${response && response.last > year ? yearLink(year + 1, t("days_year_after"), "›") : html`<span></span>`}</nav>
    ${isEmpty && (response.latest || (response.first && response.first < year)) && html`<p class="empty">${t("days_month_empty")} <a href=${`/days/${response.latest ?? `${year - 1}-12`}`} onClick=${followLink}>${t("days_month_latest")}</a></p>`}`;
}

/** The heat level of a number of messages, 1 to 4 on a logarithmic scale; 0 for none. @param {number} messages @param {number} max */
const heatLevel = (messages, max) => messages && 1 + Math.round((3 * Math.log1p(messages)) / Math.log1p(max));

function Cell({ day, summary, max }) {
  const number = Number(day.slice(8));
  if (!summary) return html`<span><span class="number">${number}</span></span>`;
  const description = [t("days_cell", { day: formatDay(`${day}T12:00`), count: summary.messages }), ...summary.happened.map((each) => each.text), ...summary.due.map(formatDueItem), ...summary.planned.map((each) => formatPlan(each, day))];
  const due = [...summary.due, ...summary.planned];
  return html`<a href=${`/days/${day}`} onClick=${followLink}><span class="visually-hidden">${description.join("; ")}</span><span class="cell" aria-hidden="true">
    <span class="number">${number}</span>
    ${summary.messages > 0 && html`<span class=${`said-much heat-${heatLevel(summary.messages, max)}`}></span>`}
    ${summary.happened.map((each) => html`<span key=${each.id} class=${`happened ${impactClass(each)}`} lang=${each.text_language}>${each.text}</span>`)}
    ${summary.more > 0 && html`<span class="meta">${t("days_more", { count: summary.more })}</span>`}
    ${due.slice(0, MAX_DUE).map((each) => html`<span key=${each.id} class="happened is-due"><${KindIcon} kind=${iconOf(each)} /> <span lang=${each.text_language}>${each.text}</span></span>`)}
    ${due.length > MAX_DUE && html`<span class="meta">${t("days_more", { count: due.length - MAX_DUE })}</span>`}</span></a>`;
}

/** The kind whose sign a due item has: tasks and goals have that of a promise. @param {{kind: string}} item */
const iconOf = ({ kind }) => (["task", "goal"].includes(kind) ? "commitment" : kind);

/** A task or goal of a day with its time, if it has one; of what goes on longer, until when.
 * @param {{at: string | null, until: string | null, is_all_day: boolean, text: string}} item @param {string} day */
function formatPlan({ at, until, is_all_day: isAllDay, text }, day) {
  const isLastDay = until?.slice(0, day.length) === day;
  if (at) return `${formatTime(at)}${until && isLastDay ? `–${formatTime(until)}` : ""} ${text}`;
  if (!until) return text;
  if (isLastDay && isAllDay) return `${text} · ${t("tasks_all_day")}`;
  return `${text} · ${t("days_until", { when: isLastDay ? formatTime(until) : formatWeekday(isAllDay ? `${until}T12:00` : until) })}`;
}

/** @param {{items: any[], day: string}} props */
function Planned({ items, day }) {
  return html`<section><h3>${t("days_planned")}</h3><ul role="list">${items.map((each) => html`<li key=${each.id} class="happening">
    <${KindIcon} kind=${iconOf(each)} /><a href="/memory" onClick=${followLink}>${formatPlan(each, day)}</a>${each.kind === "goal" && html` <span class="pill">${t("goals_title")}</span>`}</li>`)}</ul></section>`;
}

/** Whether a day is yet to come. @param {string} day */
const isToCome = (day) => new Date(`${day}T00:00`).getTime() > Date.now();

const formatDueItem = (item) => `${t("days_due")}: ${item.text}`;

function Day({ day }) {
  const [response, error] = useResponse(`/days/${day}`);
  const dayLink = (otherDay, label, text) => otherDay && html`<a href=${`/days/${otherDay}`} onClick=${followLink} aria-label=${label}>${text}</a>`;
  return html`<p><a href=${`/days/${day.slice(0, 7)}`} onClick=${followLink}>← ${t("days_calendar")}</a></p>
    <header class="month-head"><h2>${formatDay(`${day}T12:00`)}</h2>
      <p class="choices">${dayLink(response?.before, t("days_said_before"), "‹")}${dayLink(response?.after, t("days_said_after"), "›")}
        ${!isToCome(day) && html`<button onClick=${() => showMemoryAsOf(day)}>${t("days_then")}</button>`}</p></header>
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    ${response && !response.talks.length && !response.happened.length && !response.due.length && !response.planned.length && html`<p class="empty">${t(isToCome(day) ? "days_unplanned" : "days_silent")}</p>`}
    ${response?.planned.length > 0 && html`<${Planned} items=${response.planned} day=${day} />`}
    ${response?.happened.length > 0 && html`<section><h3>${t("days_happened")}</h3><ul role="list">${response.happened.map((each) => html`<li key=${each.id} class="happening">
      <${KindIcon} kind="event" /><a href=${`/memory/${each.id}`} lang=${each.text_language} onClick=${followLink}>${each.text}</a></li>`)}</ul></section>`}
    ${response?.due.length > 0 && html`<section><h3>${t("days_due")}</h3><ul role="list">${response.due.map((each) => html`<li key=${each.id} class="happening">
      <${KindIcon} kind=${each.kind} /><a href=${`/memory/${each.id}`} lang=${each.text_language} onClick=${followLink}>${each.text}</a> ${formatStatus(each) && html`<span class="pill">${formatStatus(each)}</span>`}</li>`)}</ul></section>`}
    ${response?.summaries.length > 0 && html`<section><h3>${t("days_told")}</h3>${response.summaries.map((each) => html`<p key=${each.id} class="told"><${KindIcon} kind="summary" />
      <span lang=${each.text_language}>${each.text}</span></p>`)}</section>`}
    ${response?.talks.length > 0 && !response.summaries.length && !store.state.value?.model && html`<section><h3>${t("days_told")}</h3><p class="meta">${t("days_told_by_model")}</p></section>`}
    ${response?.talks.length > 0 && html`<section><h3>${t("days_talks")}</h3><${Conversations} day=${day} sessions=${joinSessions(response.talks)} /></section>`}
    ${response && html`<${DiaryOfDay} day=${day} />`}`;
}

/** The messages of a day, by conversation. @param {{day: string, sessions: any[]}} props */
function Conversations({ day, sessions }) {
  const [response, error] = useResponse(`/days/${day}/messages`);
  const messagesOf = (session, next) => (response?.items ?? []).filter(({ at }) => Date.parse(at) >= Date.parse(session.began_at) && (!next || Date.parse(at) < Date.parse(next.began_at)));
  return html`${error && html`<p class="bad" role="alert">${error}</p>`}
    ${sessions.map((session, index) => html`<article class="day-talk" key=${session.session + session.first}>
      <p class="meta">${[...new Set([formatTime(session.began_at), formatTime(session.ended_at)])].join("–")} · ${channelName(session.title)} · ${t("days_messages", { count: session.messages })}${" "}
        <button class="quiet" onClick=${() => showMessage(session.first)}>${t("days_in_chat")}</button></p>
      <ul role="list">${messagesOf(session, sessions[index + 1]).map((message) => html`<li key=${message.id} class=${message.role === "person" ? "is-mine" : ""}>
        <span class="meta">${message.role === "person" ? t("you") : message.speaker}</span>
        ${message.is_markdown ? html`<${ReplyText} text=${message.text} />` : html`<p class="bubble"><${PlainText} text=${message.text} /></p>`}</li>`)}</ul></article>`)}
    ${response?.has_more && html`<p class="meta">${t("days_more_said")}</p>`}`;
}

/** Sessions of the same channel without a gap of SESSION_GAP_MS between them, joined into one, as long conversations are split into several sessions.
 * @param {{channel: string, title: string, began_at: string, ended_at: string, messages: number}[]} sessions oldest first */
function joinSessions(sessions) {
  const joinedSessions = [];
  for (const session of sessions) {
    const previous = joinedSessions.at(-1);
    const isContinued = previous?.channel === session.channel && previous.title === session.title && Date.parse(session.began_at) - Date.parse(previous.ended_at) < SESSION_GAP_MS;
    if (isContinued) joinedSessions[joinedSessions.length - 1] = { ...previous, ended_at: session.ended_at, messages: previous.messages + session.messages };
    else joinedSessions.push(session);
  }
  return joinedSessions;
}

/** Open the Memory page as of a day. @param {string} day */
function showMemoryAsOf(day) {
  beliefList.day.value = day;
  navigate("/memory");
}

const impactClass = ({ impact }) => (impact <= -4 ? "is-heavy" : impact >= 4 ? "is-bright" : "");

/** The weeks of a month as lists of seven ISO dates, Monday first; the first and last include days of other months. @param {Date} first */
function listWeeks(first) {
  const start = new Date(first.getFullYear(), first.getMonth(), 1 - ((first.getDay() + 6) % 7));
  const last = new Date(first.getFullYear(), first.getMonth() + 1, 0);
  const weeks = [];
  for (const day = start; day <= last; ) {
    weeks.push(Array.from({ length: 7 }, () => {
      const isoDay = `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`;
      day.setDate(day.getDate() + 1);
      return isoDay;
    }));
  }
  return weeks;
}

function listWeekdays() {
  const format = new Intl.DateTimeFormat(language.value, { weekday: "short" });
  return Array.from({ length: 7 }, (_, day) => format.format(new Date(2024, 0, 1 + day)));
}

/** A month some months later, as YYYY-MM. @param {string} month @param {number} count */
function addMonths(month, count) {
  const day = new Date(Number(month.slice(0, 4)), Number(month.slice(5)) - 1 + count, 1);
  return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}`;
}
