// Tools: which there are, what switches them on, and how they went.
import { html } from "../html.js";
import * as store from "../store.js";
import { formatShortDay, t } from "../i18n.js";
import { SettingField } from "./install_settings.js";
import { settingsApi } from "./api.js";
import { Section, useLoaded, Loading } from "./form_parts.js";

const SEARCHES = [["none", "tools_search_off"], ["searxng", "SearXNG"], ["brave", "Brave"], ["tavily", "Tavily"]];
const COSTS = { free: "tools_free", network: "tools_network", paid: "tools_paid" };
const GOOD = ["done", "reused"];

export function ToolsSection() {
  const [told, problem, again] = useLoaded(settingsApi.tools);
  return html`<${Section} id="tools" title=${t("settings_tools")} lead=${t("settings_tools_lead")}>
    ${store.me.value.is_owner && html`<${Outside} />`}
    ${told ? html`<${Tools} tools=${told.tools} /><${Missing} limitations=${told.limitations} /><${Recent} uses=${told.recent} />` : html`<${Loading} problem=${problem} again=${again} />`}</${Section}>`;
}

/** What may be looked up outside: each tells somebody else what is looked up. */
function Outside() {
  return html`<h4>${t("tools_outside")}</h4><p class="hint">${t("tools_outside_hint")}</p>
    <${SettingField} name="web.pages" kind="toggle" label=${t("tools_pages")} hint=${t("tools_pages_hint")} />
    <${SettingField} name="web.weather" kind="toggle" label=${t("tools_weather")} hint=${t("tools_weather_hint")} />
    <${SettingField} name="web.currency" kind="toggle" label=${t("tools_currency")} hint=${t("tools_currency_hint")} />
    <${SettingField} name="web.places" kind="toggle" label=${t("tools_places")} hint=${t("tools_places_hint")} />
    <${SettingField} name="web.search" kind="choice" label=${t("tools_search")} hint=${t("tools_search_hint")} options=${SEARCHES.map(([value, words]) => [value, value === "none" ? t(words) : words])} />
    <${SettingField} name="web.asks_before_paid" kind="toggle" label=${t("tools_asks_paid")} />`;
}

function Tools({ tools }) {
  const often = ({ uses, done, last_at: last }) =>
    uses ? t("tools_used", { uses, done, when: formatShortDay(last) }) : t("tools_unused");
  return html`<h4>${t("tools_here")}</h4><ul role="list" class="list">${tools.map((each) => html`<li key=${each.name}>
    <div class="deed"><strong>${each.label}</strong><p class="hint">${often(each)}</p></div>
    <span class="pills"><span class="pill">${t(COSTS[each.cost])}</span>${each.asks_first && html`<span class="pill">${t("tools_asks")}</span>`}</span></li>`)}</ul>`;
}

function Missing({ limitations }) {
  if (!limitations.length) return null;
  return html`<h4>${t("tools_missing")}</h4><p class="hint">${t("tools_missing_hint")}</p>
    <ul role="list" class="list">${limitations.map((each) => html`<li key=${each.title}><div class="deed"><strong>${each.title}</strong>
      <p class="hint">${[each.description, each.plan, formatShortDay(each.noted_at)].filter(Boolean).join(" · ")}</p></div></li>`)}</ul>`;
}

function Recent({ uses }) {
  if (!uses.length) return null;
  const isGood = ({ status }) => GOOD.includes(status);
  return html`<h4>${t("tools_recent")}</h4><ul role="list" class="list">${uses.map((each) => html`<li key=${each.at + each.turn + each.name}>
    <div class="deed"><strong>${each.label}</strong><p class="hint">${[formatShortDay(each.at), each.was_useful && t("tools_useful")].filter(Boolean).join(" · ")}</p>
      ${each.result && html`<p class="hint clamped">${each.result}</p>`}
      ${each.sources.length > 0 && html`<p class="hint">${each.sources.map(({ provider, url }) => (/^https?:/.test(url) ? html`<a key=${url} href=${url} target="_blank" rel="noreferrer noopener">${provider}</a> ` : `${provider} `))}</p>`}</div>
    <span class=${`pill ${isGood(each) ? "good" : "bad"}`}>${t(`tool_status_${each.status.replaceAll(" ", "_")}`, {}, each.status)}</span></li>`)}</ul>`;
}
