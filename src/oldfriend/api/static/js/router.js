// The router: which page an address belongs to, and the navigation.
import { computed, signal } from "../vendor/signals.js";
import { html } from "./html.js";
import { PageIcon } from "./icons.js";
import { t } from "./i18n.js";

/** The main pages in the order of the navigation; all but the chat are loaded on demand. */
export const MAIN_PAGES = ["chat", "memory", "people", "days", "settings"];
const SETTINGS_SUBPAGES = ["bring", "forget"]; // reached from Settings and by links in other pages

const path = signal(location.pathname);

/** The current page: the first segment of the path; "nowhere" if it is unknown. */
export const currentPage = computed(() => {
  const name = path.value.split("/")[1] || "chat";
  return [...MAIN_PAGES, ...SETTINGS_SUBPAGES, "welcome", "authorize"].includes(name) ? name : "nowhere";
});

/** The path after the page's name, such as an id; "" if there is none. */
export const subpath = computed(() => decodeURIComponent(path.value.split("/").slice(2).join("/")));

/** @param {string} name */
export function findAddress(name) {
  return name === "chat" ? "/" : `/${name}`;
}

/** Navigates to a path within the app. @param {string} address */
export function navigate(address) {
  history.pushState(null, "", address);
  path.value = location.pathname;
}

addEventListener("popstate", () => (path.value = location.pathname));

export function Navigation() {
  const current = SETTINGS_SUBPAGES.includes(currentPage.value) ? "settings" : currentPage.value;
  return html`<nav class="places" aria-label=${t("places")}>
    ${MAIN_PAGES.map((name) => html`<a key=${name} href=${findAddress(name)} aria-current=${current === name ? "page" : null} onClick=${followLink}>
      <${PageIcon} name=${name} /><span>${t(`place_${name}`)}</span></a>`)}
  </nav>`;
}

/** Click handler that navigates within the app; leaves clicks with a modifier or another button to the browser.
 * @param {MouseEvent} event */
export function followLink(event) {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  navigate(/** @type {HTMLAnchorElement} */ (event.currentTarget).getAttribute("href") ?? "/");
}
