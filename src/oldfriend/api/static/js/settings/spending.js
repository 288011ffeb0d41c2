// Spending: limits and what was spent on what.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { language, t } from "../i18n.js";
import { SettingField } from "./install_settings.js";
import { settingsApi } from "./api.js";
import { Section, useLoaded, Loading } from "./form_parts.js";

const DAYS = 30;
const WIDE = 620, HIGH = 96;

/** @param {number | null} dollars */
export function formatUsd(dollars) {
  if (dollars === null) return t("settings_unknown");
  const digits = dollars > 0 && dollars < 0.01 ? 4 : 2;
  return new Intl.NumberFormat(language.value, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(dollars);
}

/** What a sum cost; what has no known price is told in tokens. */
function cost({ dollars, unpriced_tokens }) {
  const unpriced = unpriced_tokens ? t("settings_unpriced", { tokens: unpriced_tokens }) : "";
  if (!unpriced) return formatUsd(dollars);
  return dollars ? `${formatUsd(dollars)} + ${unpriced}` : unpriced;
}

const PURPOSES = {
  reply: "settings_for_reply", classify: "settings_for_classify", extract: "settings_for_extract", adjudicate: "settings_for_adjudicate", reflect: "settings_for_reflect", slow_tick: "settings_for_slow_tick", proactive: "settings_for_proactive",
  describe: "settings_for_describe", summary: "settings_for_summary", test: "settings_for_test", embedding: "settings_for_embedding", transcription: "settings_for_transcription", speech: "settings_for_speech",
};
/** What a model is called for. @param {string} purpose */
export const formatUse = (purpose) => (PURPOSES[purpose] ? t(PURPOSES[purpose]) : purpose.replaceAll("_", " "));

export function SpendingSection() {
  const [told, problem, again] = useLoaded(() => settingsApi.spending(DAYS));
  return html`<${Section} id="spending" title=${t("settings_spending")} lead=${t("settings_spending_lead")}>
    <${SettingField} name="budget.background_per_day" kind="number" step="0.01" unit="$" label=${t("settings_background")} hint=${t("settings_background_hint")} />
    <${SettingField} name="budget.background_unpriced_tokens_per_day" kind="number" step="1000" unit=${t("settings_unit_tokens")} label=${t("settings_background_unpriced")} hint=${t("settings_background_unpriced_hint")} />
    <${SettingField} name="budget.all_per_day" kind="number" step="0.01" unit="$" label=${t("settings_everything")} hint=${t("settings_everything_hint")} />
    ${told ? html`<${Spent} told=${told} />` : html`<${Loading} problem=${problem} again=${again} />`}</${Section}>`;
}

function Spent({ told }) {
  const [by, setBy] = useState("by_purpose");
  if (!told.total.calls) return html`<p class="empty">${t("settings_nothing_spent")}</p>`;
  const rows = by === "by_purpose" ? told.by_purpose.map((each) => ({ ...each, heading: formatUse(each.heading) })) : told[by];
  return html`${told.left.filter(({ dollars }) => dollars !== null).map(({ purpose, dollars, unpriced_tokens, is_used_up }) => html`<p key=${purpose} class=${is_used_up ? "bad" : ""}>
      ${t(purpose === "background" ? "settings_left_background" : "settings_left_everything", { money: formatUsd(dollars) })}${told.total.unpriced_tokens && unpriced_tokens !== null ? ` ${t("settings_left_unpriced", { tokens: unpriced_tokens })}` : ""}</p>`)}
    <${Days} days=${told.by_day} />
    <div class="tabs" role="group" aria-label=${t("settings_spent_by")}>${[["by_purpose", t("settings_by_purpose")], ["by_model", t("settings_by_model")], ["by_day", t("settings_by_day")]].map(([name, words]) =>
      html`<button key=${name} aria-pressed=${by === name} onClick=${() => setBy(name)}>${words}</button>`)}</div>
    <div class="scrolled"><table><caption class="visually-hidden">${t("settings_spent_by")}</caption>
      <thead><tr><th scope="col"></th><th scope="col">${t("settings_calls")}</th><th scope="col">${t("settings_tokens_in_out")}</th><th scope="col">${t("settings_cost")}</th></tr></thead>
      <tbody>${[...rows, { ...told.total, heading: t("settings_together") }].map((each) => html`<tr key=${each.heading}><th scope="row">${each.heading}</th>
        <td>${each.calls.toLocaleString()}</td><td>${each.tokens_in.toLocaleString()} / ${each.tokens_out.toLocaleString()}</td><td>${cost(each)}</td></tr>`)}</tbody></table></div>`;
}

/** A bar for each day, the highest as high as there is room. */
function Days({ days }) {
  const most = Math.max(...days.map(({ dollars }) => dollars ?? 0));
  if (!most) return null;
  const byDay = Object.fromEntries(days.map((each) => [each.heading, each.dollars ?? 0]));
  const today = new Date();
  const shown = Array.from({ length: DAYS }, (_, back) => new Date(today.getFullYear(), today.getMonth(), today.getDate() - (DAYS - 1 - back)))
    .map((day) => `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`);
  const step = WIDE / DAYS;
  return html`<svg class="days-spent" viewBox=${`0 0 ${WIDE} ${HIGH}`} role="img" aria-label=${t("settings_chart", { money: formatUsd(most) })}>
    <path class="ground" d=${`M0 ${HIGH - 0.5}H${WIDE}`} />
    ${shown.map((day, place) => html`<rect key=${day} x=${place * step + 3} width=${step - 6} y=${HIGH - 1 - ((byDay[day] ?? 0) / most) * (HIGH - 8)} height=${((byDay[day] ?? 0) / most) * (HIGH - 8)} rx="2">
      <title>${day}: ${formatUsd(byDay[day] ?? 0)}</title></rect>`)}</svg>`;
}
