// The help sheet: keys and commands.
import { useEffect } from "../vendor/hooks.js";
import { listCommands, loadCommands } from "./chat/commands.js";
import { html } from "./html.js";
import { KEYS } from "./keys.js";
import { t } from "./i18n.js";

export function Help() {
  useEffect(() => void loadCommands(), []);
  return html`<h2 id="drawer-title">${t("help")}</h2>
    <h3 id="help-keys">${t("help_keys")}</h3>
    <dl class="help-list" aria-labelledby="help-keys">${KEYS.map(([keys, phrase]) => html`<div key=${phrase}>
      <dt>${keys.map((key, index) => html`${index > 0 && " "}<kbd key=${key}>${key}</kbd>`)}</dt><dd>${t(phrase)}</dd></div>`)}</dl>
    <h3 id="help-commands">${t("commands")}</h3><p class="meta">${t("help_commands")}</p>
    <dl class="help-list" aria-labelledby="help-commands">${listCommands().map(([command, phrase]) => html`<div key=${command}>
      <dt><kbd>${command}</kbd></dt><dd>${phrase}</dd></div>`)}</dl>`;
}
