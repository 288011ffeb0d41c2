// Keyboard shortcuts; the help sheet lists them.
import { openSearch } from "./chat.js";
import { findAddress, navigate, currentPage, MAIN_PAGES } from "./router.js";
import * as store from "./store.js";

const IS_MAC = /Mac|iP(hone|ad)/.test(navigator.platform); // on a Mac, Alt types other characters
const MODIFIER = IS_MAC ? "⌘" : "Ctrl";

/** All shortcuts: the keys, and the i18n key of what they do. @type {[string[], string][]} */
export const KEYS = [
  [[IS_MAC ? "Ctrl" : "Alt", "1 – 5"], "key_places"],
  [[MODIFIER, "K"], "key_search"],
  [["Enter"], "key_send"],
  [["Shift", "Enter"], "key_line"],
  [["/"], "key_commands"],
  [["↑", "↓"], "key_messages"],
  [["Tab"], "key_buttons"],
  [["←", "→"], "key_slider"],
  [["Esc"], "key_leave"],
  [["?"], "key_help"],
  [[MODIFIER, "/"], "key_help_writing"],
];

/** Opens the help sheet of keys and commands in the drawer. */
export function openHelp() {
  const opener = store.drawer.value?.opener ?? document.activeElement;
  store.drawer.value = { kind: "help", opener };
}

/** Opens a main page; on the chat page, focuses the composer. @param {string} name */
function openPage(name) {
  if (currentPage.value !== name || name !== "chat") navigate(findAddress(name));
  else document.getElementById("say")?.focus();
}

/** @param {KeyboardEvent} event */
function findAction({ key, code, altKey, ctrlKey, metaKey, target }) {
  const isCommand = IS_MAC ? metaKey : ctrlKey && !altKey;
  if (isCommand && key.toLowerCase() === "k") return openSearch;
  if (isCommand && key === "/") return openHelp;
  const isTextInput = /** @type {HTMLElement} */ (target).matches?.("input, textarea, select");
  if (key === "?" && !isTextInput && !altKey && !ctrlKey && !metaKey) return openHelp;
  const isPageShortcut = IS_MAC ? ctrlKey && !altKey && !metaKey : altKey && !ctrlKey && !metaKey;
  const name = isPageShortcut && MAIN_PAGES[Number(/^Digit([1-9])$/.exec(code)?.[1]) - 1];
  return name ? () => openPage(name) : null;
}

addEventListener("keydown", (event) => {
  const action = !event.defaultPrevented && !event.isComposing && store.phase.value === "open" && findAction(event);
  if (!action) return;
  event.preventDefault();
  action();
});
