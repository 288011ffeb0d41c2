// Maintenance: failed jobs and the doctor's findings, for the owner.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { translateServerText, formatShortDay, t } from "../i18n.js";
import { settingsFile } from "./install_settings.js";
import { settingsApi } from "./api.js";
import { Section, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

export function MaintenanceSection() {
  return html`<${Section} id="upkeep" title=${t("settings_upkeep")}><${Letters} /><${Doctor} />
    <p class="hint">${t("settings_file", { file: settingsFile.value, version: store.state.value.version })}</p></${Section}>`;
}

function Letters() {
  const [told, problem, again, setTold] = useLoaded(() => settingsApi.letters());
  const [trouble, , run] = useAction();
  const ways = { inbox: t("settings_inbox"), outbox: t("settings_outbox"), agenda: t("settings_agenda") };
  const retry = (id) => run(async () => (await settingsApi.retry(id), await again(), showDone(t("settings_tried_again"))));
  const drop = (id) => run(async () => (await settingsApi.drop(id), await again(), showDone(t("settings_dropped"))));
  const more = () => run(async () => {
    const page = await settingsApi.letters(told.next);
    setTold({ items: [...told.items, ...page.items], next: page.next });
  });
  return html`<h4>${t("settings_parked")}</h4>
    ${!told ? html`<${Loading} problem=${problem} again=${again} />` : !told.items.length ? html`<p class="empty">${t("settings_nothing_parked")}</p>` : html`<ul role="list" class="list letters">${told.items.map((each) => html`<li key=${each.id}>
      <span>${ways[each.queue]}${each.person ? ` · ${each.person}` : ""} <span class="meta">${t("settings_since", { when: formatShortDay(each.since), count: each.attempts })}</span>
        ${each.error && html`<span class="error">${translateServerText(each.error)}</span>`}</span>
      <span class="choices"><button onClick=${() => retry(each.id)}>${t("settings_retry")}</button>
        <${ConfirmButton} label=${t("settings_drop")} ask=${t("settings_drop_ask")} onSure=${() => drop(each.id)} /></span></li>`)}</ul>
      ${told.next && html`<button class="quiet" onClick=${more}>${t("settings_more")}</button>`}`}<${ErrorMessage} text=${trouble} />`;
}

function Doctor() {
  const [told, setTold] = useState(null);
  const [trouble, isBusy, run] = useAction();
  const look = () => run(async () => setTold(await settingsApi.doctor()));
  return html`<h4>${t("settings_health")}</h4><p class="hint">${t("settings_health_hint")}</p>
    <p class="choices"><button disabled=${isBusy} onClick=${look}>${isBusy ? t("settings_looking") : t("settings_look")}</button></p><${ErrorMessage} text=${trouble} />
    <div role="status">${told && html`<ul role="list" class="findings">${[...told.findings].sort((a, b) => a.is_well - b.is_well).map(({ is_well, told: said }) => html`<li key=${said.text} class=${is_well ? "" : "bad"}>
      <span class="sign">${t(is_well ? "settings_well" : "settings_not_well")}</span> <span>${translateServerText(said)}</span></li>`)}</ul>`}</div>`;
}
