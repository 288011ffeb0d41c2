// Models that can be connected at once: of servers on this machine, and of providers whose key is stored.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { translateServerText, t } from "../i18n.js";
import { loadSettings, findWritten } from "./install_settings.js";
import { settingsApi } from "./api.js";
import { showDone, ErrorMessage, useAction } from "./form_parts.js";

/** @typedef {{name: string, good_for: import("../i18n.js").ServerText, parameters: number | null, context_length: number | null, has_tools: boolean | null, stays_here: boolean}} FoundModel */
/** @typedef {{provider: string, base_url: string, suggested: string | null, models: FoundModel[]}} FoundServer */

/** The list of available models; a model is tested before it is saved. @param {{models: any, writes: string[], reload: () => Promise<unknown>}} props */
export function AvailableModels({ models, writes, reload }) {
  const [actionError, isBusy, run] = useAction();
  const [testedName, setTestedName] = useState("");
  /** @type {any[]} */
  const providersWithKey = models.providers.filter(({ key_in, usual }) => key_in && usual.main);
  if (!models.found.length && !providersWithKey.length) return null;
  const use = (model) =>
    run(async () => {
      setTestedName(model.name);
      const result = await settingsApi.testModel("main", model);
      if (!result.works) throw new Error(translateServerText(result.message));
      const previous = findWritten(writes);
      await settingsApi.useModel("main", model);
      await Promise.all([reload(), loadSettings()]);
      showDone(t("settings_saved", { what: t("settings_use_main") }), async () => (await settingsApi.saveSettings(previous), await Promise.all([reload(), loadSettings()])));
    });
  const button = (model, isMain) => html`<button class=${isMain ? "main" : "quiet"} disabled=${isBusy} aria-label=${`${t("settings_use")}: ${model.name}`} onClick=${() => use(model)}>${t("settings_use")}</button>`;
  return html`<div class="at-hand">
    ${models.found.map((server, index) => html`<${Server} key=${server.base_url} server=${server} isFirst=${index === 0} button=${button} />`)}
    ${providersWithKey.map(({ name, key_in, usual }) => html`<section key=${name}><h4>${t("settings_found_key", { provider: name, where: key_in })}</h4>
      <ul role="list"><li><span><strong>${usual.main}</strong> <span class="hint">${t("settings_leaves", { what: t("settings_sent_said"), provider: name })}</span></span>
        ${button({ provider: name, name: usual.main }, !models.found.length)}</li></ul></section>`)}
    <p role="status">${isBusy ? t("settings_trying_model", { model: testedName }) : ""}</p><${ErrorMessage} text=${actionError} /></div>`;
}

/** @param {{server: FoundServer, isFirst: boolean, button: (model: object, isMain: boolean) => unknown}} props */
function Server({ server, isFirst, button }) {
  const { provider, base_url, suggested, models } = server;
  const isChatModel = ({ good_for }) => good_for.code !== "fit_search";
  return html`<section><h4>${t("settings_found_here", { provider, address: base_url })}</h4>
    <ul role="list">${models.map((model) => html`<li key=${model.name}><span><strong>${model.name}</strong> <span class="hint">${describeModel(model, provider)}</span></span>
      ${isChatModel(model) && button({ provider, name: model.name, base_url }, isFirst && model.name === suggested)}</li>`)}</ul></section>`;
}

/** One line about a model: what it is good for, its size, and whether data leaves this machine. @param {FoundModel} model @param {string} provider */
function describeModel({ good_for, parameters, context_length, has_tools, stays_here }, provider) {
  const isChatModel = good_for.code !== "fit_search";
  const leaves = !stays_here && isChatModel && t("settings_leaves", { what: t("settings_sent_said"), provider });
  return [
    translateServerText(good_for),
    parameters && t("settings_parameters", { count: Math.round(parameters / 1e8) / 10 }),
    context_length && t("settings_context", { tokens: context_length }),
    has_tools === false && isChatModel && t("settings_no_tools"),
    leaves,
  ].filter(Boolean).join(" · ");
}
