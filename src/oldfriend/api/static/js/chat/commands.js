// Slash commands offered while typing: the page's own and those of every channel.
import { signal } from "../../vendor/signals.js";
import { api } from "../api.js";
import { language, t } from "../i18n.js";

export const WHY = "/why"; // these commands open something instead of being sent as a message
export const FORGET = "/forget";
export const PURGE = "/purge";
export const EXPORT = "/export";
export const HELP = "/help";
const PAGE_COMMANDS = [[WHY, "command_why"], [FORGET, "command_forget"], [HELP, "command_help"]];
const channelCommands = signal({ language: "", commands: [] });

/** Loads the channel commands in the language of the page; a failed request keeps the loaded ones. */
export async function loadCommands() {
  const requestedLanguage = language.value;
  if (channelCommands.value.language === requestedLanguage) return;
  try {
    channelCommands.value = { language: requestedLanguage, commands: await api.listCommands(requestedLanguage) };
  } catch {
    // the page's own commands are still offered
  }
}

/** Returns all commands with their descriptions. @returns {[string, string][]} */
export function listCommands() {
  const pageCommands = PAGE_COMMANDS.map(([command, phrase]) => [command, t(phrase)]);
  const names = pageCommands.map(([command]) => command);
  return [...pageCommands, ...channelCommands.value.commands.filter(({ command }) => !names.includes(command)).map(({ command, does }) => [command, does])];
}
