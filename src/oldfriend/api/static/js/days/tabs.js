// The tabs of Days: calendar, diary, numbers.
import { html } from "../html.js";
import { followLink } from "../router.js";
import { t } from "../i18n.js";

const VIEWS = [["/days", "days_calendar"], ["/days/diary", "diary_title"], ["/days/numbers", "numbers_title"]];

/** @param {{current: string}} props the URL path of the open tab */
export function Tabs({ current }) {
  return html`<nav class="views" aria-label=${t("days_views")}>${VIEWS.map(([address, phrase]) =>
    html`<a key=${address} href=${address} aria-current=${address === current ? "page" : null} onClick=${followLink}>${t(phrase)}</a>`)}</nav>`;
}

/** Noon of an ISO date, without a time zone, so that it formats as the same day everywhere. @param {string} day */
export const atNoon = (day) => `${day}T12:00`;

/** Today as an ISO date, in the browser's time zone. */
export function today() {
  const now = new Date();
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}-${String(now.getDate()).padStart(2, "0")}`;
}
