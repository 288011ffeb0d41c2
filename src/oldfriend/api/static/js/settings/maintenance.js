// Maintenance, for the owner: failed jobs and the findings of the doctor.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { translateServerText, formatShortDay, t } from "../i18n.js";
import { settingsFile } from "./install_settings.js";
import { settingsApi } from "./api.js";
import { Section, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

export function MaintenanceSection() {
  return html`<${Section} id="upkeep" title=${t("settings_upkeep")}><${FailedJobs} /><${Doctor} />
    <p class="hint">${t("settings_file", { file: settingsFile.value, version: store.state.value.version })}</p></${Section}>`;
}

function FailedJobs() {
  const [jobs, loadError, reload, setJobs] = useLoaded(() => settingsApi.failedJobs());
  const [actionError, , run] = useAction();
  const queueNames = { inbox: t("settings_inbox"), outbox: t("settings_outbox"), agenda: t("settings_agenda") };
  const retry = (id) => run(async () => (await settingsApi.retryJob(id), await reload(), showDone(t("settings_tried_again"))));
  const remove = (id) => run(async () => (await settingsApi.deleteJob(id), await reload(), showDone(t("settings_dropped"))));
  const loadMore = () => run(async () => {
    const page = await settingsApi.failedJobs(jobs.next);
    setJobs({ items: [...jobs.items, ...page.items], next: page.next });
  });
  return html`<h4>${t("settings_parked")}</h4>
    ${!jobs ? html`<${Loading} error=${loadError} reload=${reload} />` : !jobs.items.length ? html`<p class="empty">${t("settings_nothing_parked")}</p>` : html`<ul role="list" class="list letters">${jobs.items.map((each) => html`<li key=${each.id}>
      <span>${queueNames[each.queue]}${each.person ? ` · ${each.person}` : ""} <span class="meta">${t("settings_since", { when: formatShortDay(each.since), count: each.attempts })}</span>
        ${each.error && html`<span class="error">${translateServerText(each.error)}</span>`}</span>
      <span class="choices"><button onClick=${() => retry(each.id)}>${t("settings_retry")}</button>
        <${ConfirmButton} label=${t("settings_drop")} question=${t("settings_drop_ask")} onConfirm=${() => remove(each.id)} /></span></li>`)}</ul>
      ${jobs.next && html`<button class="quiet" onClick=${loadMore}>${t("settings_more")}</button>`}`}<${ErrorMessage} text=${actionError} />`;
}

function Doctor() {
  const [report, setReport] = useState(null);
  const [actionError, isBusy, run] = useAction();
  const check = () => run(async () => setReport(await settingsApi.doctor()));
  return html`<h4>${t("settings_health")}</h4><p class="hint">${t("settings_health_hint")}</p>
    <p class="choices"><button disabled=${isBusy} onClick=${check}>${isBusy ? t("settings_looking") : t("settings_look")}</button></p><${ErrorMessage} text=${actionError} />
    <div role="status">${report && html`<ul role="list" class="findings">${[...report.findings].sort((a, b) => a.is_well - b.is_well).map(({ is_well, message: text }) => html`<li key=${text.text} class=${is_well ? "" : "bad"}>
      <span class="sign">${t(is_well ? "settings_well" : "settings_not_well")}</span> <span>${translateServerText(text)}</span></li>`)}</ul>`}</div>`;
}
