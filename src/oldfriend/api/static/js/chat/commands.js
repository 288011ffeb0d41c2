// Slash commands offered while typing: the page's own and those of every channel.
import { signal } from "../../vendor/signals.js";
import { api } from "../api.js";
import { language, t } from "../i18n.js";

export const WHY = "/why"; // these open something instead of being said
export const FORGET = "/forget";
export const PURGE = "/purge";
export const EXPORT = "/export";
export const HELP = "/help";
const OWN = [[WHY, "command_why"], [FORGET, "command_forget"], [HELP, "command_help"]];
const everywhere = signal({ language: "", commands: [] });

/** Read what every channel has, in the language of the page; what was read before stays until then. */
export async function readCommands() {
  const wanted = language.value;
  if (everywhere.value.language === wanted) return;
  try {
    everywhere.value = { language: wanted, commands: await api.commands(wanted) };
  } catch {
    // the commands of the page are offered all the same
  }
}

/** All commands with what they do. @returns {[string, string][]} */
export function listCommands() {
  const own = OWN.map(([command, told]) => [command, t(told)]);
  const names = own.map(([command]) => command);
  return [...own, ...everywhere.value.commands.filter(({ command }) => !names.includes(command)).map(({ command, does }) => [command, does])];
}
