// The preview of a calendar file: what is to come, what of it is new, and the result.
import { html } from "../html.js";
import { followLink } from "../router.js";
import { t, formatTime, formatWeekday } from "../i18n.js";
import { importCalendar, dismissCalendar } from "./api.js";

const SHOWN = 12;

export function Calendar({ calendar, attempt }) {
  const { file, items, unused, is_preview } = calendar;
  const count = (state) => items.filter((each) => each.state === state).length;
  const [added, known, full] = ["new", "known", "full"].map(count);
  return html`<li class="parcel">
    <p class="parcel-name">${file.name}</p>
    ${is_preview
      ? html`<p>${t("bring_calendar", { count: items.length, added })}</p>`
      : html`<p class="good" role="status">${added ? t("bring_calendar_done", { added }) : t("bring_nothing_new")}</p>`}
    ${is_preview && html`<ul>${items.slice(0, SHOWN).map((each, at) => html`<li key=${at}>${each.text}
        <span class="meta">${[whenOf(each), each.state === "known" && t("bring_calendar_there")].filter(Boolean).join(" · ")}</span></li>`)}</ul>`}
    ${is_preview && items.length > SHOWN && html`<p class="meta">${t("bring_others", { count: items.length - SHOWN })}</p>`}
    ${!is_preview && known > 0 && html`<p class="meta">${t("bring_known", { count: known })}</p>`}
    ${full > 0 && html`<p class="meta">${t("bring_calendar_full", { count: full })}</p>`}
    ${unused.length > 0 && html`<p class="meta">${t("bring_calendar_over", { count: unused.length })}</p>`}
    <p class="parcel-choices">
      ${is_preview && added > 0 && html`<button class="primary" onClick=${() => attempt(() => importCalendar(file))}>${t("bring_calendar_add", { added })}</button>`}
      ${!is_preview && html`<a href="/memory" onClick=${followLink}>${t("bring_see_at", { place: t("tasks_title") })}</a>`}
      <button class="quiet" onClick=${() => dismissCalendar(file)}>${t(is_preview && added ? "bring_put_away" : "close")}</button></p>
  </li>`;
}

/** @param {{due: string | null}} entry */
const whenOf = ({ due }) => (due ? `${formatWeekday(due)}, ${formatTime(due)}` : t("tasks_todo"));
