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
import { channelName, formatDay, language, t, formatTime } from "../i18n.js";

const MONTH = /^\d{4}-\d{2}$/;
const MOST_DUE = 2; // in a cell
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export default function Days() {
  const where = subpath.value;
  if (where === "diary") return html`<div class="days"><${Diary} /></div>`;
  const [view, ...rest] = where.split("/");
  if (view === "numbers") return html`<div class="days"><${Numbers} name=${rest.join("/")} /></div>`;
  const isDate = !where || ((DAY.test(where) || MONTH.test(where)) && Number.isFinite(Date.parse(where)));
  if (!isDate) return html`<${NotFound} to="/days" label=${t("days_calendar")} />`;
  if (DAY.test(where)) return html`<div class="days"><${Day} key=${where} day=${where} /></div>`;
  const today = new Date();
  const month = MONTH.test(where) ? where : `${today.getFullYear()}-${String(today.getMonth() + 1).padStart(2, "0")}`;
  return html`<div class="days"><${Month} key=${month} month=${month} /></div>`;
}

/** What an address tells; and what to say where it tells nothing. @param {string} path */
function useAsked(path) {
  const [found, setFound] = useState(null);
  const [trouble, setTrouble] = useState("");
  const news = useLiveUpdates([store.messages.value.length, store.learned.value]);
  useEffect(() => {
    let isWanted = true;
    request(path).then(
      (answer) => isWanted && (setFound(answer), setTrouble("")),
      (problem) => isWanted && setTrouble(problem.message || t("lost")),
    );
    return () => (isWanted = false);
  }, [path, store.rewritten.value, news]);
  return [found, trouble];
}

function Month({ month }) {
  const [found, trouble] = useAsked(`/days/months/${month}`);
  const first = new Date(`${month}-01T00:00`);
  const known = new Map((found?.days ?? []).map((each) => [each.day, each]));
  const most = Math.max(1, ...[...known.values()].map((each) => each.messages));
  return html`<${Tabs} at="/days" /><header class="month-head">
      <h2>${new Intl.DateTimeFormat(language.value, { month: "long", year: "numeric" }).format(first)}</h2>
      <p class="choices">
        <button aria-label=${t("days_before")} disabled=${!found?.first || found.first >= month} onClick=${() => navigate(`/days/${shifted(month, -1)}`)}>‹</button>
        <button aria-label=${t("days_after")} disabled=${!found || found.last <= month} onClick=${() => navigate(`/days/${shifted(month, 1)}`)}>›</button>
        ${found?.first && html`<label class="meta">${t("days_month")} <input type="month" min=${found.first} max=${found.last} value=${month}
          onChange=${({ target }) => MONTH.test(target.value) && navigate(`/days/${target.value}`)} /></label>`}</p></header>
    <${Year} month=${month} />
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}
    ${found && !found.first && html`<p class="empty">${t("days_none")}</p>`}
    <table class="month" aria-label=${t("days_calendar")}><thead><tr>${weekdays().map((each) => html`<th key=${each} scope="col">${each}</th>`)}</tr></thead>
      <tbody>${weeksOf(first).map((week) => html`<tr key=${week[0]}>${week.map((day) => html`<td key=${day} class=${day.startsWith(month) ? "" : "is-outside"}
        aria-current=${day === found?.today ? "date" : null}>${day.startsWith(month) && html`<${Cell} day=${day} told=${known.get(day)} most=${most} />`}</td>`)}</tr>`)}</tbody></table>`;
}

/** The year above the month: how much was said in each; where this month is empty, the way to the last that is not. @param {{month: string}} given */
function Year({ month }) {
  const year = Number(month.slice(0, 4));
  const [found] = useAsked(`/days/years/${year}`);
  const known = new Map((found?.months ?? []).map((each) => [each.month, each]));
  const most = Math.max(1, ...[...known.values()].map((each) => each.messages));
  const names = new Intl.DateTimeFormat(language.value, { month: "short" });
  const to = (other, label, mark) => html`<a href=${`/days/${other}-${month.slice(5)}`} aria-label=${label} title=${label} onClick=${followLink}>${mark}</a>`;
  const isEmpty = found && !known.has(month);
  return html`<nav class="year" aria-label=${t("days_year", { year: String(year) })}>
    ${found?.first && found.first < year ? to(year - 1, t("days_year_before"), "‹") : html`<span></span>`}
    <ol role="list">${Array.from({ length: 12 }, (_, place) => {
      const name = `${year}-${String(place + 1).padStart(2, "0")}`;
      const { messages = 0, happened = 0 } = known.get(name) ?? {};
      return html`<li key=${name}><a href=${`/days/${name}`} class=${`heat-${heatOf(messages, most)}`} aria-current=${name === month ? "true" : null} onClick=${followLink}
        title=${t("days_month_told", { messages, happened })} aria-label=${`${names.format(new Date(2024, place, 1))}: ${t("days_month_told", { messages, happened })}`}>
        <span aria-hidden="true"></span>${names.format(new Date(2024, place, 1))}</a></li>`;
    })}</ol>
    ${found && found.last > year ? to(year + 1, t("days_year_after"), "›") : html`<span></span>`}</nav>
    ${isEmpty && (found.latest || (found.first && found.first < year)) && html`<p class="empty">${t("days_month_empty")} <a href=${`/days/${found.latest ?? `${year - 1}-12`}`} onClick=${followLink}>${t("days_month_latest")}</a></p>`}`;
}

/** How much was said, in four steps; 0: nothing. @param {number} messages @param {number} most */
const heatOf = (messages, most) => messages && 1 + Math.round((3 * Math.log1p(messages)) / Math.log1p(most));

function Cell({ day, told, most }) {
  const number = Number(day.slice(8));
  if (!told) return html`<span><span class="number">${number}</span></span>`;
  const inWords = [t("days_cell", { day: formatDay(`${day}T12:00`), count: told.messages }), ...told.happened.map((each) => each.text), ...told.due.map(dueInWords)];
  return html`<a href=${`/days/${day}`} onClick=${followLink}><span class="visually-hidden">${inWords.join("; ")}</span><span class="cell" aria-hidden="true">
    <span class="number">${number}</span>
    ${told.messages > 0 && html`<span class=${`said-much heat-${heatOf(told.messages, most)}`}></span>`}
    ${told.happened.map((each) => html`<span key=${each.id} class=${`happened ${weightOf(each)}`}>${each.text}</span>`)}
    ${told.more > 0 && html`<span class="meta">${t("days_more", { count: told.more })}</span>`}
    ${told.due.slice(0, MOST_DUE).map((each) => html`<span key=${each.id} class="happened is-due"><${KindIcon} kind=${each.kind} /> ${each.text}</span>`)}
    ${told.due.length > MOST_DUE && html`<span class="meta">${t("days_more", { count: told.due.length - MOST_DUE })}</span>`}</span></a>`;
}

const dueInWords = (plan) => `${t("days_due")}: ${plan.text}`;

function Day({ day }) {
  const [found, trouble] = useAsked(`/days/${day}`);
  const to = (other, label, mark) => other && html`<a href=${`/days/${other}`} onClick=${followLink} aria-label=${label}>${mark}</a>`;
  return html`<p><a href=${`/days/${day.slice(0, 7)}`} onClick=${followLink}>← ${t("days_calendar")}</a></p>
    <header class="month-head"><h2>${formatDay(`${day}T12:00`)}</h2>
      <p class="choices">${to(found?.before, t("days_said_before"), "‹")}${to(found?.after, t("days_said_after"), "›")}
        <button onClick=${() => seeAsOf(day)}>${t("days_then")}</button></p></header>
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}
    ${found && !found.talks.length && !found.happened.length && !found.due.length && html`<p class="empty">${t("days_silent")}</p>`}
    ${found?.happened.length > 0 && html`<section><h3>${t("days_happened")}</h3><ul role="list">${found.happened.map((each) => html`<li key=${each.id} class="happening">
      <${KindIcon} kind="event" /><a href=${`/memory/${each.id}`} onClick=${followLink}>${each.text}</a></li>`)}</ul></section>`}
    ${found?.due.length > 0 && html`<section><h3>${t("days_due")}</h3><ul role="list">${found.due.map((each) => html`<li key=${each.id} class="happening">
      <${KindIcon} kind=${each.kind} /><a href=${`/memory/${each.id}`} onClick=${followLink}>${each.text}</a> ${formatStatus(each) && html`<span class="pill">${formatStatus(each)}</span>`}</li>`)}</ul></section>`}
    ${found?.told.length > 0 && html`<section><h3>${t("days_told")}</h3>${found.told.map((each) => html`<p key=${each.id} class="told"><${KindIcon} kind="summary" />
      <span>${each.text}</span></p>`)}</section>`}
    ${found?.talks.length > 0 && !found.told.length && !store.state.value?.model && html`<section><h3>${t("days_told")}</h3><p class="meta">${t("days_told_by_model")}</p></section>`}
    ${found?.talks.length > 0 && html`<section><h3>${t("days_talks")}</h3><${Talks} day=${day} talks=${joined(found.talks)} /></section>`}
    ${found && html`<${DiaryOfDay} day=${day} />`}`;
}

/** What was said on a day, talk by talk. @param {{day: string, talks: any[]}} given */
function Talks({ day, talks }) {
  const [said, trouble] = useAsked(`/days/${day}/messages`);
  const of = (talk, next) => (said?.items ?? []).filter(({ at }) => Date.parse(at) >= Date.parse(talk.began_at) && (!next || Date.parse(at) < Date.parse(next.began_at)));
  return html`${trouble && html`<p class="bad" role="alert">${trouble}</p>`}
    ${talks.map((talk, place) => html`<article class="day-talk" key=${talk.session + talk.first}>
      <p class="meta">${[...new Set([formatTime(talk.began_at), formatTime(talk.ended_at)])].join("–")} · ${channelName(talk.title)} · ${t("days_messages", { count: talk.messages })}${" "}
        <button class="quiet" onClick=${() => showMessage(talk.first)}>${t("days_in_chat")}</button></p>
      <ul role="list">${of(talk, talks[place + 1]).map((message) => html`<li key=${message.id} class=${message.role === "person" ? "is-mine" : ""}>
        <span class="meta">${message.role === "person" ? t("you") : message.speaker}</span>
        ${message.is_markdown ? html`<${ReplyText} text=${message.text} />` : html`<p class="bubble"><${PlainText} text=${message.text} /></p>`}</li>`)}</ul></article>`)}
    ${said?.has_more && html`<p class="meta">${t("days_more_said")}</p>`}`;
}

/** Talks, with what went on without a pause as one: it was only cut to be read.
 * @param {{channel: string, title: string, began_at: string, ended_at: string, messages: number}[]} talks oldest first */
function joined(talks) {
  const whole = [];
  for (const talk of talks) {
    const before = whole.at(-1);
    const goesOn = before?.channel === talk.channel && before.title === talk.title && Date.parse(talk.began_at) - Date.parse(before.ended_at) < SESSION_GAP_MS;
    if (goesOn) whole[whole.length - 1] = { ...before, ended_at: talk.ended_at, messages: before.messages + talk.messages };
    else whole.push(talk);
  }
  return whole;
}

/** What was believed on a day. @param {string} day */
function seeAsOf(day) {
  beliefList.day.value = day;
  navigate("/memory");
}

const weightOf = ({ impact }) => (impact <= -4 ? "is-heavy" : impact >= 4 ? "is-bright" : "");

/** The days of a month in whole weeks, Monday first. @param {Date} first */
function weeksOf(first) {
  const start = new Date(first.getFullYear(), first.getMonth(), 1 - ((first.getDay() + 6) % 7));
  const last = new Date(first.getFullYear(), first.getMonth() + 1, 0);
  const weeks = [];
  for (const day = start; day <= last; ) {
    weeks.push(Array.from({ length: 7 }, () => {
      const written = `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`;
      day.setDate(day.getDate() + 1);
      return written;
    }));
  }
  return weeks;
}

function weekdays() {
  const format = new Intl.DateTimeFormat(language.value, { weekday: "short" });
  return Array.from({ length: 7 }, (_, day) => format.format(new Date(2024, 0, 1 + day)));
}

/** @param {string} month @param {number} by */
function shifted(month, by) {
  const day = new Date(Number(month.slice(0, 4)), Number(month.slice(5)) - 1 + by, 1);
  return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}`;
}
