// Where is one? The places of the page, each at an address of its own.
import { computed, signal } from "../vendor/signals.js";
import { html } from "./html.js";
import { PlaceIcon } from "./icons.js";
import { t } from "./words.js";

/** The places in the order in which they stand; each draws itself, all but the talk where it is opened first. */
export const PLACES = ["chat", "memory", "people", "days", "settings"];
const WITHIN_SETTINGS = ["bring", "forget"]; // are reached from there, and from where they are needed

const path = signal(location.pathname);

/** The place one is at: the first part of the address. */
export const place = computed(() => {
  const name = path.value.split("/")[1] || "chat";
  return [...PLACES, ...WITHIN_SETTINGS, "welcome", "authorize"].includes(name) ? name : "nowhere";
});

/** What stands behind the place in the address, such as an id; "" where nothing does. */
export const within = computed(() => decodeURIComponent(path.value.split("/").slice(2).join("/")));

/** @param {string} name */
export function addressOf(name) {
  return name === "chat" ? "/" : `/${name}`;
}

/** Go to an address of the page. @param {string} address */
export function go(address) {
  history.pushState(null, "", address);
  path.value = location.pathname;
}

addEventListener("popstate", () => (path.value = location.pathname));

export function Places() {
  const current = WITHIN_SETTINGS.includes(place.value) ? "settings" : place.value;
  return html`<nav class="places" aria-label=${t("places")}>
    ${PLACES.map((name) => html`<a key=${name} href=${addressOf(name)} aria-current=${current === name ? "page" : null} onClick=${follow}>
      <${PlaceIcon} name=${name} /><span>${t(`place_${name}`)}</span></a>`)}
  </nav>`;
}

/** Follow a link within the page, unless it is to open elsewhere. @param {MouseEvent} event */
export function follow(event) {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  go(/** @type {HTMLAnchorElement} */ (event.currentTarget).getAttribute("href") ?? "/");
}
