// How far imported messages are learned from, and what a model could read better.
import { html } from "../html.js";
import { t } from "../i18n.js";
import { pauseReading, readWithModel, resumeReading } from "./api.js";

/** What something costs, to read. @param {{cost_usd: number | null}} likely */
export function formatCost(likely) {
  if (likely.cost_usd === null) return t("bring_cost_unknown");
  if (likely.cost_usd === 0) return t("bring_cost_nothing");
  return t("bring_cost_about", { cost: formatUsd(likely.cost_usd) });
}

/** @param {number} usd */
export function formatUsd(usd) {
  return `$${usd.toFixed(usd < 0.1 ? 3 : 2)}`;
}

export function LearningProgress({ old, attempt }) {
  const likely = old.likely_cost;
  if (!old.waiting && !old.failed && !(likely && old.by_rules)) return null;
  return html`<section><h3>${t("bring_old")}</h3>
    ${old.waiting > 0 && html`<p>${t("bring_old_waiting", { count: old.waiting })} ${" "}
      ${old.is_paused
        ? html`<button class="quiet" onClick=${() => attempt(resumeReading)}>${t("bring_go_on")}</button>`
        : html`<button class="quiet" onClick=${() => attempt(pauseReading)}>${t("bring_pause")}</button>`}</p>`}
    ${old.failed > 0 && html`<p>${t("bring_old_failed", { count: old.failed })} ${" "}
      <button class="quiet" onClick=${() => attempt(resumeReading)}>${t("bring_go_on")}</button></p>`}
    ${likely && html`<p>${t("bring_old_rules", { count: old.by_rules, messages: old.messages })}</p>
      <p><button onClick=${() => attempt(readWithModel)}>
        ${t("bring_old_model", { model: likely.model, tokens: likely.tokens, cost: formatCost(likely) })}</button>
      ${likely.left_today_usd !== null && html` <span class="meta">${t("bring_left_today", { left: formatUsd(likely.left_today_usd) })}</span>`}</p>`}
  </section>`;
}
