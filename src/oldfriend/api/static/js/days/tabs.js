// The tabs of Days: calendar, diary, numbers.
import { html } from "../html.js";
import { followLink } from "../router.js";
import { t } from "../i18n.js";

const VIEWS = [["/days", "days_calendar"], ["/days/diary", "diary_title"], ["/days/numbers", "numbers_title"]];

/** @param {{at: string}} given the address of the view that is open */
export function Tabs({ at }) {
  return html`<nav class="views" aria-label=${t("days_views")}>${VIEWS.map(([address, words]) =>
    html`<a key=${address} href=${address} aria-current=${address === at ? "page" : null} onClick=${followLink}>${t(words)}</a>`)}</nav>`;
}

/** A day of the calendar as it is written here, in its own year without it. @param {string} day */
export const atNoon = (day) => `${day}T12:00`;

/** Today by the clocks of the browser. */
export function today() {
  const now = new Date();
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}-${String(now.getDate()).padStart(2, "0")}`;
}
