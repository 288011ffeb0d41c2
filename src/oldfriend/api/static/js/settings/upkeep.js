// What was set aside, and is everything sound? For the owner.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { inWords, shortDayOf, t } from "../words.js";
import { file } from "./choices.js";
import { house } from "./house.js";
import { Section, Sure, tell, Trouble, useAnswer, useDeed, Waiting } from "./parts.js";

export function UpkeepSection() {
  return html`<${Section} id="upkeep" title=${t("settings_upkeep")}><${Letters} /><${Doctor} />
    <p class="hint">${t("settings_file", { file: file.value, version: store.state.value.version })}</p></${Section}>`;
}

function Letters() {
  const [told, problem, again, setTold] = useAnswer(() => house.letters());
  const [trouble, , run] = useDeed();
  const ways = { inbox: t("settings_inbox"), outbox: t("settings_outbox"), agenda: t("settings_agenda") };
  const retry = (id) => run(async () => (await house.retry(id), await again(), tell(t("settings_tried_again"))));
  const drop = (id) => run(async () => (await house.drop(id), await again(), tell(t("settings_dropped"))));
  const more = () => run(async () => {
    const page = await house.letters(told.next);
    setTold({ items: [...told.items, ...page.items], next: page.next });
  });
  return html`<h4>${t("settings_parked")}</h4>
    ${!told ? html`<${Waiting} problem=${problem} again=${again} />` : !told.items.length ? html`<p class="empty">${t("settings_nothing_parked")}</p>` : html`<ul role="list" class="list letters">${told.items.map((each) => html`<li key=${each.id}>
      <span>${ways[each.queue]}${each.person ? ` · ${each.person}` : ""} <span class="meta">${t("settings_since", { when: shortDayOf(each.since), count: each.attempts })}</span>
        ${each.error && html`<span class="error">${inWords(each.error)}</span>`}</span>
      <span class="choices"><button onClick=${() => retry(each.id)}>${t("settings_retry")}</button>
        <${Sure} label=${t("settings_drop")} ask=${t("settings_drop_ask")} onSure=${() => drop(each.id)} /></span></li>`)}</ul>
      ${told.next && html`<button class="quiet" onClick=${more}>${t("settings_more")}</button>`}`}<${Trouble} text=${trouble} />`;
}

function Doctor() {
  const [told, setTold] = useState(null);
  const [trouble, isBusy, run] = useDeed();
  const look = () => run(async () => setTold(await house.doctor()));
  return html`<h4>${t("settings_health")}</h4><p class="hint">${t("settings_health_hint")}</p>
    <p class="choices"><button disabled=${isBusy} onClick=${look}>${isBusy ? t("settings_looking") : t("settings_look")}</button></p><${Trouble} text=${trouble} />
    <div role="status">${told && html`<ul role="list" class="findings">${[...told.findings].sort((a, b) => a.is_well - b.is_well).map(({ is_well, told: said }) => html`<li key=${said.text} class=${is_well ? "" : "bad"}>
      <span class="sign">${t(is_well ? "settings_well" : "settings_not_well")}</span> <span>${inWords(said)}</span></li>`)}</ul>`}</div>`;
}
