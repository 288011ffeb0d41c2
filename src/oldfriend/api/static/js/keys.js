// Keyboard shortcuts; the help sheet lists them.
import { openSearch } from "./chat.js";
import { findAddress, navigate, currentPage, MAIN_PAGES } from "./router.js";
import * as store from "./store.js";

const IS_MAC = /Mac|iP(hone|ad)/.test(navigator.platform); // there Alt writes other characters
const MODIFIER = IS_MAC ? "⌘" : "Ctrl";

/** All keys, as they are told: what is pressed, and the phrase for what it does. @type {[string[], string][]} */
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

/** Show what can be done by keys and commands. */
export function openHelp() {
  const opener = store.drawer.value?.opener ?? document.activeElement;
  store.drawer.value = { kind: "help", opener };
}

/** To a place; to where one writes, if that is the talk. @param {string} name */
function visit(name) {
  if (currentPage.value !== name || name !== "chat") navigate(findAddress(name));
  else document.getElementById("say")?.focus();
}

/** @param {KeyboardEvent} event */
function findDeed({ key, code, altKey, ctrlKey, metaKey, target }) {
  const isCommand = IS_MAC ? metaKey : ctrlKey && !altKey;
  if (isCommand && key.toLowerCase() === "k") return openSearch;
  if (isCommand && key === "/") return openHelp;
  const isWriting = /** @type {HTMLElement} */ (target).matches?.("input, textarea, select");
  if (key === "?" && !isWriting && !altKey && !ctrlKey && !metaKey) return openHelp;
  const isPlace = IS_MAC ? ctrlKey && !altKey && !metaKey : altKey && !ctrlKey && !metaKey;
  const name = isPlace && MAIN_PAGES[Number(/^Digit([1-9])$/.exec(code)?.[1]) - 1];
  return name ? () => visit(name) : null;
}

addEventListener("keydown", (event) => {
  const deed = !event.defaultPrevented && !event.isComposing && store.phase.value === "open" && findDeed(event);
  if (!deed) return;
  event.preventDefault();
  deed();
});
