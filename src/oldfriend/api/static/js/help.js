// The help sheet: keys and commands.
import { useEffect } from "../vendor/hooks.js";
import { listCommands, readCommands } from "./chat/commands.js";
import { html } from "./html.js";
import { KEYS } from "./keys.js";
import { t } from "./i18n.js";

export function Help() {
  useEffect(() => void readCommands(), []);
  return html`<h2 id="drawer-title">${t("help")}</h2>
    <h3 id="help-commands">${t("commands")}</h3><p class="meta">${t("help_commands")}</p>
    <dl class="help-list" aria-labelledby="help-commands">${listCommands().map(([command, told]) => html`<div key=${command}>
      <dt><kbd>${command}</kbd></dt><dd>${told}</dd></div>`)}</dl>
    <h3 id="help-keys">${t("help_keys")}</h3>
    <dl class="help-list" aria-labelledby="help-keys">${KEYS.map(([keys, told]) => html`<div key=${told}>
      <dt>${keys.map((key, at) => html`${at > 0 && " "}<kbd key=${key}>${key}</kbd>`)}</dt><dd>${t(told)}</dd></div>`)}</dl>`;
}
