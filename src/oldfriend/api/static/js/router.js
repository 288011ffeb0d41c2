// The router: which page an address belongs to, and the navigation.
import { computed, signal } from "../vendor/signals.js";
import { html } from "./html.js";
import { PlaceIcon } from "./icons.js";
import { t } from "./i18n.js";

/** The places in the order in which they stand; each draws itself, all but the talk where it is opened first. */
export const MAIN_PAGES = ["chat", "memory", "people", "days", "settings"];
const WITHIN_SETTINGS = ["bring", "forget"]; // are reached from there, and from where they are needed

const path = signal(location.pathname);

/** The place one is at: the first part of the address. */
export const currentPage = computed(() => {
  const name = path.value.split("/")[1] || "chat";
  return [...MAIN_PAGES, ...WITHIN_SETTINGS, "welcome", "authorize"].includes(name) ? name : "nowhere";
});

/** What stands behind the place in the address, such as an id; "" where nothing does. */
export const subpath = computed(() => decodeURIComponent(path.value.split("/").slice(2).join("/")));

/** @param {string} name */
export function findAddress(name) {
  return name === "chat" ? "/" : `/${name}`;
}

/** Go to an address of the page. @param {string} address */
export function navigate(address) {
  history.pushState(null, "", address);
  path.value = location.pathname;
}

addEventListener("popstate", () => (path.value = location.pathname));

export function Navigation() {
  const current = WITHIN_SETTINGS.includes(currentPage.value) ? "settings" : currentPage.value;
  return html`<nav class="places" aria-label=${t("places")}>
    ${MAIN_PAGES.map((name) => html`<a key=${name} href=${findAddress(name)} aria-current=${current === name ? "page" : null} onClick=${followLink}>
      <${PlaceIcon} name=${name} /><span>${t(`place_${name}`)}</span></a>`)}
  </nav>`;
}

/** Follow a link within the page, unless it is to open elsewhere. @param {MouseEvent} event */
export function followLink(event) {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  navigate(/** @type {HTMLAnchorElement} */ (event.currentTarget).getAttribute("href") ?? "/");
}
