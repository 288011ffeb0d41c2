// Three views of one's days: the calendar, the diary, and the numbers.
import { html } from "../html.js";
import { follow } from "../places.js";
import { t } from "../words.js";

const VIEWS = [["/days", "days_calendar"], ["/days/diary", "diary_title"], ["/days/numbers", "numbers_title"]];

/** @param {{at: string}} given the address of the view that is open */
export function Views({ at }) {
  return html`<nav class="views" aria-label=${t("days_views")}>${VIEWS.map(([address, words]) =>
    html`<a key=${address} href=${address} aria-current=${address === at ? "page" : null} onClick=${follow}>${t(words)}</a>`)}</nav>`;
}

/** A day of the calendar as it is written here, in its own year without it. @param {string} day */
export const noonOf = (day) => `${day}T12:00`;

/** Today by the clocks of the browser. */
export function today() {
  const now = new Date();
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}-${String(now.getDate()).padStart(2, "0")}`;
}
