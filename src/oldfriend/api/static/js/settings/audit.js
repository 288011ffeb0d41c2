// The audit log: what was done for the person, by what, why, how it ended and at what cost.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { channelName, formatShortDay, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { Section, ErrorMessage, useAction, Loading } from "./form_parts.js";
import { formatUsd, formatUse as purposeOf } from "./spending.js";

const KINDS = [["", "audit_everything"], ["model", "audit_model"], ["tool", "audit_tool"], ["deletion", "audit_deletion"],
  ["unasked", "audit_unasked"], ["reminder", "audit_reminder"], ["import", "audit_import"], ["merge", "audit_merge"], ["failure", "audit_failure"], ["stranger", "audit_stranger"]];
const STATUSES = [["", "audit_any"], ["ok", "audit_ok"], ["error", "audit_error"], ["denied", "audit_denied"]];
const DELETIONS = { forget: "audit_forget", purge: "audit_purge", retain: "audit_retain" };

export function AuditSection() {
  const [wanted, setWanted] = useState({ kind: "", status: "" });
  const select = (name, label, options) => html`<label class="chip-choice">${t(label)} <select value=${wanted[name]} onChange=${({ target }) => setWanted({ ...wanted, [name]: target.value })}>
    ${options.map(([value, words]) => html`<option key=${value} value=${value}>${t(words)}</option>`)}</select></label>`;
  return html`<${Section} id="audit" title=${t("settings_audit")} lead=${t("settings_audit_lead")}>
    <p class="choices">${select("kind", "audit_kind", KINDS)}${select("status", "audit_status", STATUSES)}</p>
    <${Trail} key=${`${wanted.kind} ${wanted.status}`} wanted=${wanted} /></${Section}>`;
}

function Trail({ wanted }) {
  const [page, setPage] = useState(null);
  const [trouble, isBusy, run] = useAction();
  const isHere = useRef(true);
  const read = (cursor) => run(async () => {
    const more = await settingsApi.audit(wanted, cursor);
    if (isHere.current) setPage((before) => ({ items: [...(cursor ? before.items : []), ...more.items], next: more.next }));
  });
  useEffect(() => {
    read();
    return () => void (isHere.current = false);
  }, []);
  if (!page) return trouble ? html`<${ErrorMessage} text=${trouble} />` : html`<${Loading} />`;
  return html`${!page.items.length && html`<p class="empty">${t(wanted.kind || wanted.status ? "audit_none_such" : "audit_none")}</p>`}
    ${page.items.length > 0 && html`<div class="scrolled"><table class="audit"><caption class="visually-hidden">${t("settings_audit")}</caption>
      <thead><tr>${["audit_what", "audit_when", "audit_took", "audit_cost"].map((words) => html`<th key=${words} scope="col" class=${words === "audit_took" ? "took" : ""}>${t(words)}</th>`)}</tr></thead>
      <tbody>${page.items.map((each, at) => html`<${Row} key=${at} record=${each} />`)}</tbody></table></div>`}
    ${page.next && html`<button class="quiet" disabled=${isBusy} onClick=${() => read(page.next)}>${t("settings_more")}</button>`}<${ErrorMessage} text=${trouble} />`;
}

/** What was done, and by what. @param {{kind: string, label: string, what: string, why: string}} record */
function titleOf({ kind, label, what, why }) {
  if (kind === "model") return [purposeOf(why), label];
  if (kind === "deletion") return [t(DELETIONS[what] ?? what), ""];
  if (kind === "unasked") return [t("audit_one_unasked"), t(`impulse_${what}`, {}, what)];
  if (kind === "import") return [t("audit_one_import"), channelName(what)];
  if (kind === "stranger") return [t("audit_one_stranger"), channelName(what)];
  return kind === "tool" ? [label, ""] : [t(`audit_one_${kind}`), ""];
}

/** What it was and by whom; why it went wrong, where it did. */
function Row({ record }) {
  const { kind, label, what, why, status, details } = record;
  const [title, by] = titleOf({ kind, label, what, why });
  const seconds = record.ms === null ? "–" : t("audit_seconds", { seconds: Math.round(record.ms / 100) / 10 });
  return html`<tr><th scope="row">${title}${status !== "ok" && html` <span class="pill bad">${t(kind === "tool" ? `tool_status_${record.ending.replaceAll(" ", "_")}` : `audit_${status}`, {}, record.ending)}</span>`}
      ${by && html`<span class="hint">${by}</span>`}${details && html`<span class="hint clamped">${details}</span>`}</th>
    <td>${formatShortDay(record.at)}</td><td class="took">${seconds}</td><td>${record.dollars === null ? "–" : formatUsd(record.dollars)}</td></tr>`;
}
