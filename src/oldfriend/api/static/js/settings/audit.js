// The audit log: model calls, tools, deletions and so on, each with its status, duration and cost.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { channelName, formatShortDay, language, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { Section, ErrorMessage, useAction, Loading } from "./form_parts.js";
import { formatUsd, formatUse } from "./spending.js";

const KINDS = [["", "audit_everything"], ["model", "audit_model"], ["tool", "audit_tool"], ["deletion", "audit_deletion"],
  ["unasked", "audit_unasked"], ["reminder", "audit_reminder"], ["import", "audit_import"], ["merge", "audit_merge"], ["question", "audit_question"], ["failure", "audit_failure"], ["stranger", "audit_stranger"]];
const STATUSES = [["", "audit_any"], ["ok", "audit_ok"], ["error", "audit_error"], ["denied", "audit_denied"]];
const DELETIONS = { forget: "audit_forget", purge: "audit_purge", retain: "audit_retain" };
const TITLES = { reminder: "audit_one_reminder", merge: "audit_one_merge", failure: "audit_one_failure" };

export function AuditSection() {
  const [filter, setFilter] = useState({ kind: "", status: "" });
  const select = (name, label, options) => html`<label class="chip-choice">${t(label)} <select value=${filter[name]} onChange=${({ target }) => setFilter({ ...filter, [name]: target.value })}>
    ${options.map(([value, phrase]) => html`<option key=${value} value=${value}>${t(phrase)}</option>`)}</select></label>`;
  return html`<${Section} id="audit" title=${t("settings_audit")} lead=${t("settings_audit_lead")}>
    <p class="choices">${select("kind", "audit_kind", KINDS)}${select("status", "audit_status", STATUSES)}</p>
    <${AuditTable} key=${`${filter.kind} ${filter.status}`} filter=${filter} /></${Section}>`;
}

function AuditTable({ filter }) {
  const [page, setPage] = useState(null);
  const [actionError, isBusy, run] = useAction();
  const isMounted = useRef(true);
  const load = (cursor) => run(async () => {
    const loaded = await settingsApi.audit(filter, cursor);
    if (isMounted.current) setPage((before) => ({ items: [...(cursor ? before.items : []), ...loaded.items], next: loaded.next }));
  });
  useEffect(() => {
    load();
    return () => void (isMounted.current = false);
  }, []);
  if (!page) return actionError ? html`<${ErrorMessage} text=${actionError} />` : html`<${Loading} />`;
  return html`${!page.items.length && html`<p class="empty">${t(filter.kind || filter.status ? "audit_none_such" : "audit_none")}</p>`}
    ${page.items.length > 0 && html`<div class="scrolled"><table class="audit"><caption class="visually-hidden">${t("settings_audit")}</caption>
      <thead><tr>${["audit_what", "audit_when", "audit_took", "audit_cost"].map((phrase) => html`<th key=${phrase} scope="col" class=${phrase === "audit_took" ? "took" : ""}>${t(phrase)}</th>`)}</tr></thead>
      <tbody>${page.items.map((each, index) => html`<${Row} key=${index} record=${each} />`)}</tbody></table></div>`}
    ${page.next && html`<button class="quiet" disabled=${isBusy} onClick=${() => load(page.next)}>${t("settings_more")}</button>`}<${ErrorMessage} text=${actionError} />`;
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

/** The reminder or goal that an entry is about, and how much was counted for it. @param {any} record */
function formatSubject({ about, amount, unit }) {
  const counted = amount !== null && `+ ${amount.toLocaleString(language.value)} ${unit ?? ""}`.trim();
  return [`“${about}”`, counted].filter(Boolean).join(" · ");
}

/** A row of the table, with the error if it failed. */
function Row({ record }) {
  const { kind, label, what, why, status, ending, details } = record;
  const [title, by] = formatTitle({ kind, label, what, why, ending });
  const seconds = record.ms === null ? "–" : t("audit_seconds", { seconds: Math.round(record.ms / 100) / 10 });
  return html`<tr><th scope="row">${title}${status !== "ok" && html` <span class="pill bad">${t(kind === "tool" ? `tool_status_${record.ending.replaceAll(" ", "_")}` : `audit_${status}`, {}, record.ending)}</span>`}
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
