// What was done: day by day as sentences, and beneath them the audit log with status, duration and cost.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { channelName, formatDay, formatShortDay, formatTime, isToday, language, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { Section, ErrorMessage, useAction, Loading } from "./form_parts.js";
import { formatUsd, formatUse } from "./spending.js";

const KINDS = [["", "audit_everything"], ["model", "audit_model"], ["tool", "audit_tool"], ["deletion", "audit_deletion"],
  ["unasked", "audit_unasked"], ["reminder", "audit_reminder"], ["import", "audit_import"], ["merge", "audit_merge"], ["question", "audit_question"], ["failure", "audit_failure"], ["stranger", "audit_stranger"]];
const STATUSES = [["", "audit_any"], ["ok", "audit_ok"], ["error", "audit_error"], ["denied", "audit_denied"]];
const DELETIONS = { forget: "audit_forget", purge: "audit_purge", retain: "audit_retain" };
const DELETED = { purge: "audit_did_purge", retain: "audit_did_retain" };
/** @type {Record<string, string>} */
const CHANGES = { set_reminder: "audit_did_set", schedule_action: "audit_did_set", set_goal: "audit_did_goal", update_task: "audit_did_change", update_goal: "audit_did_change" };
/** @type {Record<string, string>} */
const KEPT = { log_measurement: "audit_did_keep_number", note: "audit_did_keep_note" };
const LOOKUPS = new Set(["measurements", "diary", "list_tasks", "list_goals", "search_memory", "web_search", "read_page", "weather", "convert_currency", "places", "current_time", "calculate"]);
const REPLY = "reply"; // the purpose of the calls that answer
const ANSWERING = new Set([REPLY, "classify"]); // the purposes of the calls that a reply takes
const MAX_DAY_PAGES = 20; // how many pages are read at once to have a whole day
/** @type {Record<string, string>} */
const STATES = { "tool/asked": "tool_status_asked", "import/running": "bring_import_running", "import/undone": "bring_import_undone" }; // what is not done, though nothing failed
const TITLES = { reminder: "audit_one_reminder", merge: "audit_one_merge", failure: "audit_one_failure" };

export function AuditSection() {
  const [filter, setFilter] = useState({ kind: "", status: "" });
  const select = (name, label, options) => html`<label class="chip-choice">${t(label)} <select value=${filter[name]} onChange=${({ target }) => setFilter({ ...filter, [name]: target.value })}>
    ${options.map(([value, phrase]) => html`<option key=${value} value=${value}>${t(phrase)}</option>`)}</select></label>`;
  return html`<${Section} id="audit" title=${t("settings_audit")} lead=${t("settings_audit_lead")}>
    <p class="choices">${select("kind", "audit_kind", KINDS)}${select("status", "audit_status", STATUSES)}</p>
    <${AuditTrail} key=${`${filter.kind} ${filter.status}`} filter=${filter} /></${Section}>`;
}

/** All that was done as a story by day; what is filtered as a table. */
function AuditTrail({ filter }) {
  const [page, setPage] = useState(null);
  const [actionError, isBusy, run] = useAction();
  const isMounted = useRef(true);
  const isStory = !filter.kind && !filter.status;
  const load = (cursor) => run(async () => {
    let loaded = await settingsApi.audit(filter, cursor);
    for (let pages = 1; isStory && loaded.next && isOneDay(loaded.items) && pages < MAX_DAY_PAGES; pages++) {
      const more = await settingsApi.audit(filter, loaded.next);
      loaded = { items: [...loaded.items, ...more.items], next: more.next };
    }
    if (isMounted.current) setPage((before) => ({ items: [...(cursor ? before.items : []), ...loaded.items], next: loaded.next }));
  });
  useEffect(() => {
    load();
    return () => void (isMounted.current = false);
  }, []);
  if (!page) return actionError ? html`<${ErrorMessage} text=${actionError} />` : html`<${Loading} />`;
  return html`${!page.items.length && html`<p class="empty">${t(isStory ? "audit_none" : "audit_none_such")}</p>`}
    ${page.items.length > 0 && (isStory ? groupByDay(page).map((each) => html`<${Day} key=${each.day} ...${each} />`) : html`<${Table} records=${page.items} />`)}
    ${page.next && html`<button class="quiet" disabled=${isBusy} onClick=${() => load(page.next)}>${t("settings_more")}</button>`}<${ErrorMessage} text=${actionError} />`;
}

function Table({ records }) {
  return html`<div class="scrolled"><table class="audit"><caption class="visually-hidden">${t("settings_audit")}</caption>
    <thead><tr>${["audit_what", "audit_when", "audit_took", "audit_cost"].map((phrase) => html`<th key=${phrase} scope="col" class=${phrase === "audit_took" ? "took" : ""}>${t(phrase)}</th>`)}</tr></thead>
    <tbody>${records.map((each, index) => html`<${Row} key=${index} record=${each} />`)}</tbody></table></div>`;
}

/** @param {any} record */
const findDay = ({ at }) => at.slice(0, "2026-12-31".length);

/** Whether records, newest first, are of one day. @param {any[]} records */
const isOneDay = (records) => records.length > 0 && findDay(records[0]) === findDay(records.at(-1));

/** The records by day, newest first; the last day is complete if no page comes after.
 * @param {{items: any[], next: string | null}} page */
function groupByDay({ items, next }) {
  /** @type {Map<string, any[]>} */
  const days = new Map();
  for (const record of items) {
    const day = findDay(record);
    days.set(day, [...(days.get(day) ?? []), record]);
  }
  return [...days].map(([day, records], index) => ({ day, records, isComplete: !next || index < days.size - 1 }));
}

/** A day: what was done as sentences, its replies in one line, and all of it on opening.
 * @param {{day: string, records: any[], isComplete: boolean}} props */
function Day({ day, records, isComplete }) {
  const [isOpen, setOpen] = useState(false);
  const calls = records.filter(({ kind }) => kind === "model");
  const replies = new Set(calls.filter(({ why }) => why === REPLY).map(({ turn }) => turn)).size;
  const costs = calls.filter(({ dollars }) => dollars !== null);
  const cost = costs.length > 0 && formatUsd(costs.reduce((sum, { dollars }) => sum + dollars, 0));
  const spent = [replies > 0 && t("audit_replied", { count: replies }), calls.some(({ why }) => !ANSWERING.has(why)) && t("audit_thought"), cost].filter(Boolean).join(" · ");
  const part = !isComplete && t("audit_part");
  return html`<section class="audit-day"><h4>${isToday(records[0].at) ? t("audit_today") : formatDay(`${day}T12:00`)}</h4>
    <ul role="list">${countDeeds(records).map(({ record, count }, index) => html`<${Deed} key=${index} record=${record} count=${count} />`)}
      ${spent && html`<li class="meta">${[spent, part].filter(Boolean).join(" · ")}</li>`}</ul>
    <details class="hint" onToggle=${({ currentTarget }) => setOpen(currentTarget.open)}><summary>${[t("audit_details", { count: records.length }), part].filter(Boolean).join(" · ")}</summary>
      ${isOpen && html`<${Table} records=${records} />`}</details></section>`;
}

/** What was done, without the calls of models that went well and what was only asked; what reads the same stands once, with how often it was done.
 * @param {any[]} records */
function countDeeds(records) {
  /** @type {Map<string, {record: any, count: number}>} */
  const deeds = new Map();
  for (const record of records.filter(({ kind, status, ending }) => (kind !== "model" || status !== "ok") && !(kind === "tool" && ending === "asked"))) {
    const sentence = [formatDeed(record), record.ending, record.question].join("/");
    deeds.set(sentence, { record: deeds.get(sentence)?.record ?? record, count: (deeds.get(sentence)?.count ?? 0) + 1 });
  }
  return [...deeds.values()];
}

/** What was done, as a sentence with its time and how often. @param {{record: any, count: number}} props */
function Deed({ record, count }) {
  const { status, ending, kind } = record;
  return html`<li><span>${formatDeed(record)}</span> <span class="where">${[formatTime(record.at), count > 1 && `× ${count}`].filter(Boolean).join(" · ")}</span><${Ending} kind=${kind} status=${status} ending=${ending} />
    ${record.given > 0 && html`<${Given} question=${record.question} count=${record.given} />`}</li>`;
}

/** How it ended, if it is not simply done. @param {{kind: string, status: string, ending: string}} props */
function Ending({ kind, status, ending }) {
  const state = STATES[`${kind}/${ending}`];
  if (status !== "ok") return html` <span class="pill bad">${formatEnding(kind, status, ending)}</span>`;
  return state ? html` <span class="pill">${t(state)}</span>` : null;
}

const formatEnding = (kind, status, ending) => t(kind === "tool" ? `tool_status_${ending.replaceAll(" ", "_")}` : `audit_${status}`, {}, ending);

/** A record as a sentence about what was done for the person. @param {any} record */
function formatDeed(record) {
  const { kind, what, about, ending } = record;
  if (kind === "tool") return formatToolUse(record);
  if (kind === "reminder") return about ? t("audit_did_remind", { about }) : t("audit_did_remind_gone");
  if (kind === "deletion") return t(DELETED[what] ?? "audit_did_forget");
  if (kind === "unasked") return t("audit_did_speak", { about: t(`impulse_${what}`, {}, what) });
  if (kind === "import" && ending === "done") return t("audit_did_import", { from: channelName(what) });
  if (kind === "question") return t("audit_did_answer", { program: what, question: record.details });
  const [title, by] = formatTitle(record);
  return [title, by].filter(Boolean).join(" · ");
}

/** The use of a tool as a sentence; what was not done is only named. @param {any} record */
function formatToolUse(record) {
  const { label, what, about, status, amount } = record;
  if (status !== "ok") return label;
  if (amount !== null && about) return t("audit_did_count", { amount: formatAmount(record), about });
  if (about) return t(CHANGES[what] ?? "audit_did_about", { label, about });
  return t(KEPT[what] ?? (LOOKUPS.has(what) ? "audit_did_look" : ""), { label }, label);
}

/** The title of an entry, and the model or tool that did it: [title, by]. @param {{kind: string, label: string, what: string, why: string, ending: string}} record */
function formatTitle({ kind, label, what, why, ending }) {
  if (kind === "model") return [formatUse(why), label];
  if (kind === "deletion") return [t(DELETIONS[what] ?? what), ""];
  if (kind === "unasked") return [t("audit_one_unasked"), t(`impulse_${what}`, {}, what)];
  if (kind === "import") return [t("audit_one_import"), channelName(what)];
  if (kind === "merge" && ending === "undone") return [t("audit_one_merge_undone"), ""];
  if (kind === "question") return [t("audit_one_question"), `${what} · ${why}`];
  if (kind === "stranger") return [t("audit_one_stranger"), channelName(what)];
  return kind === "tool" ? [label, ""] : [t(TITLES[kind] ?? kind), ""];
}

/** How much was counted, with its unit. @param {{amount: number, unit: string | null}} record */
const formatAmount = ({ amount, unit }) => `${amount.toLocaleString(language.value)} ${unit ?? ""}`.trim();

/** The reminder or goal that an entry is about, and how much was counted for it. @param {any} record */
function formatSubject({ about, amount, unit }) {
  const counted = amount !== null && `+ ${formatAmount({ amount, unit })}`;
  return [`“${about}”`, counted].filter(Boolean).join(" · ");
}

/** A row of the table, with the error if it failed. */
function Row({ record }) {
  const { kind, label, what, why, status, ending, details } = record;
  const [title, by] = formatTitle({ kind, label, what, why, ending });
  const seconds = record.ms === null ? "–" : t("audit_seconds", { seconds: Math.round(record.ms / 100) / 10 });
  return html`<tr><th scope="row">${title}<${Ending} kind=${kind} status=${status} ending=${ending} />
      ${by && html`<span class="hint">${by}</span>`}${record.about && html`<span class="hint clamped">${formatSubject(record)}</span>`}
      ${details && html`<span class="hint clamped">${details === "by: rules" ? t("audit_by_rules") : details}</span>`}
      ${record.asked && html`<span class="hint">${t("audit_asked", { where: channelName(record.asked_by) })}</span>`}
      ${record.given > 0 && html`<${Given} question=${record.question} count=${record.given} />`}</th>
    <td>${formatShortDay(record.at)}</td><td class="took">${seconds}</td><td>${record.dollars === null ? "–" : formatUsd(record.dollars)}</td></tr>`;
}

/** What a program was given, loaded when it is opened. */
function Given({ question, count }) {
  const [given, setGiven] = useState(null);
  const [actionError, , run] = useAction();
  const load = ({ target }) => target.open && !given && run(async () => setGiven((await settingsApi.programQuestion(question)).given));
  return html`<details class="hint" onToggle=${load}><summary>${t("audit_given", { count })}</summary>
    ${given && html`<ul>${given.map((each) => html`<li key=${each.id}><q>${each.text}</q>
      <span class="where">${[each.at && formatShortDay(each.at), each.channel && channelName(each.channel)].filter(Boolean).join(" · ")}</span></li>`)}</ul>`}
    ${given && given.length < count && html`<p>${t("audit_given_gone")}</p>`}<${ErrorMessage} text=${actionError} /></details>`;
}
