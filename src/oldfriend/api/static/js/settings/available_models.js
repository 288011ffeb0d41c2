// Models at hand: servers on this machine and providers whose key is stored.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { translateServerText, t } from "../i18n.js";
import { loadSettings, findWritten } from "./install_settings.js";
import { settingsApi } from "./api.js";
import { showDone, ErrorMessage, useAction } from "./form_parts.js";

/** @typedef {{name: string, good_for: import("../i18n.js").Saying, parameters: number | null, context_length: number | null, has_tools: boolean | null, stays_here: boolean}} FoundModel */
/** @typedef {{provider: string, base_url: string, suggested: string | null, models: FoundModel[]}} FoundServer */

/** What could be connected at once; each model is tried before it is kept. @param {{models: any, writes: string[], again: () => Promise<unknown>}} given */
export function AvailableModels({ models, writes, again }) {
  const [trouble, isBusy, run] = useAction();
  const [asked, setAsked] = useState("");
  /** @type {any[]} */
  const keyed = models.providers.filter(({ key_in, usual }) => key_in && usual.main);
  if (!models.found.length && !keyed.length) return null;
  const take = (wanted) =>
    run(async () => {
      setAsked(wanted.name);
      const tried = await settingsApi.tryModel("main", wanted);
      if (!tried.works) throw new Error(translateServerText(tried.told));
      const before = findWritten(writes);
      await settingsApi.useModel("main", wanted);
      await Promise.all([again(), loadSettings()]);
      showDone(t("settings_saved", { what: t("settings_use_main") }), async () => (await settingsApi.choose(before), await Promise.all([again(), loadSettings()])));
    });
  const button = (wanted, isMain) => html`<button class=${isMain ? "main" : "quiet"} disabled=${isBusy} aria-label=${`${t("settings_use")}: ${wanted.name}`} onClick=${() => take(wanted)}>${t("settings_use")}</button>`;
  return html`<div class="at-hand">
    ${models.found.map((server, place) => html`<${Server} key=${server.base_url} server=${server} isFirst=${place === 0} button=${button} />`)}
    ${keyed.map(({ name, key_in, usual }) => html`<section key=${name}><h4>${t("settings_found_key", { provider: name, where: key_in })}</h4>
      <ul role="list"><li><span><strong>${usual.main}</strong> <span class="hint">${t("settings_leaves", { what: t("settings_sent_said"), provider: name })}</span></span>
        ${button({ provider: name, name: usual.main }, !models.found.length)}</li></ul></section>`)}
    <p role="status">${isBusy ? t("settings_trying_model", { model: asked }) : ""}</p><${ErrorMessage} text=${trouble} /></div>`;
}

/** @param {{server: FoundServer, isFirst: boolean, button: (wanted: object, isMain: boolean) => unknown}} given */
function Server({ server, isFirst, button }) {
  const { provider, base_url, suggested, models } = server;
  const isTalker = ({ good_for }) => good_for.code !== "fit_search";
  return html`<section><h4>${t("settings_found_here", { provider, address: base_url })}</h4>
    <ul role="list">${models.map((model) => html`<li key=${model.name}><span><strong>${model.name}</strong> <span class="hint">${aboutModel(model, provider)}</span></span>
      ${isTalker(model) && button({ provider, name: model.name, base_url }, isFirst && model.name === suggested)}</li>`)}</ul></section>`;
}

/** What is known of a model, in a few words. @param {FoundModel} model @param {string} provider */
function aboutModel({ good_for, parameters, context_length, has_tools, stays_here }, provider) {
  const isTalker = good_for.code !== "fit_search";
  const leaves = !stays_here && isTalker && t("settings_leaves", { what: t("settings_sent_said"), provider });
  return [
    translateServerText(good_for),
    parameters && t("settings_parameters", { count: Math.round(parameters / 1e8) / 10 }),
    context_length && t("settings_context", { tokens: context_length }),
    has_tools === false && isTalker && t("settings_no_tools"),
    leaves,
  ].filter(Boolean).join(" · ");
}
