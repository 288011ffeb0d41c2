// The preview of a calendar file: what is to come, what of it is new, and the result.
import { html } from "../html.js";
import { followLink } from "../router.js";
import { formatTaskTime } from "../memory/labels.js";
import { t } from "../i18n.js";
import { importCalendar, dismissCalendar } from "./api.js";

const MAX_SHOWN = 12;
/** @type {Record<string, string>} */
const NOTES = { known: "bring_calendar_there", moved: "bring_calendar_moves", ended: "bring_calendar_ends" };

export function Calendar({ calendar, attempt }) {
  const { file, items, unused, is_preview } = calendar;
  const count = (state) => items.filter((each) => each.state === state).length;
  const [fresh, moved, ended, known, full] = ["new", "moved", "ended", "known", "full"].map(count);
  const added = fresh + moved;
  const changed = added + ended;
  const changes = [moved && t("bring_calendar_moving", { count: moved }), ended && t("bring_calendar_ending", { count: ended })];
  return html`<li class="parcel">
    <p class="parcel-name">${file.name}</p>
    ${is_preview
      ? html`<p>${[t("bring_calendar", { count: items.length - ended, added: fresh }), ...changes].filter(Boolean).join(" · ")}</p>`
      : html`<p class="good" role="status">${[added && t("bring_calendar_done", { added }), ended && t("bring_calendar_ended", { count: ended }), !changed && t("bring_nothing_new")].filter(Boolean).join(" ")}</p>`}
    ${is_preview && html`<ul role="list">${items.toSorted(compareDue).slice(0, MAX_SHOWN).map((each, index) => html`<li key=${index}>${each.text}${" "}
        <span class="meta">${[formatDue(each), each.state in NOTES && t(NOTES[each.state])].filter(Boolean).join(" · ")}</span></li>`)}</ul>`}
    ${is_preview && items.length > MAX_SHOWN && html`<p class="meta">${t("bring_others", { count: items.length - MAX_SHOWN })}</p>`}
    ${!is_preview && known > 0 && html`<p class="meta">${t("bring_known", { count: known })}</p>`}
    ${full > 0 && html`<p class="meta">${t("bring_calendar_full", { count: full })}</p>`}
    ${unused.length > 0 && html`<p class="meta">${t("bring_calendar_over", { count: unused.length })}</p>
      <ul role="list" class="meta">${unused.slice(0, MAX_SHOWN).map((line, index) => html`<li key=${index}>${findTitle(line)}</li>`)}</ul>`}
    <p class="parcel-choices">
      ${is_preview && changed > 0 && html`<button class="primary" onClick=${() => attempt(() => importCalendar(file))}>${fresh ? t("bring_calendar_add", { added }) : t("bring_calendar_change", { count: changed })}</button>`}
      ${!is_preview && html`<a href="/memory" onClick=${followLink}>${t("bring_see_at", { place: t("tasks_title") })}</a>`}
      <button class="quiet" onClick=${() => dismissCalendar(file)}>${t(is_preview && changed ? "bring_put_away" : "close")}</button></p>
  </li>`;
}

/** The order of entries by time; those without one come last. @param {{due: string | null}} one @param {{due: string | null}} other */
const compareDue = (one, other) => (one.due ? Date.parse(one.due) : Infinity) - (other.due ? Date.parse(other.due) : Infinity) || 0;

/** The title in a line about an entry that is not used; the reason behind it is English. @param {string} line */
const findTitle = (line) => line.slice(0, Math.max(line.lastIndexOf(": "), 0)) || line;

/** @param {any} entry */
const formatDue = (entry) => (entry.due ? formatTaskTime(entry) : t("tasks_todo"));
