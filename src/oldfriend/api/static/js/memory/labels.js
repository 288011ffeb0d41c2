// Labels of a belief: confidence, frequency, dates and status in words.
import { language, formatShortDay, t } from "../i18n.js";

const SURE = 0.85;
const FAIRLY_SURE = 0.6;
const WHOLE_DAYS = ["23:59:59", "00:00:00"]; // times that stand for a day
const HALF_A_DAY_MS = 12 * 60 * 60_000;
const DEEDS = {
  learned: "memory_op_learned", revised: "memory_op_revised", disputed: "memory_op_disputed",
  superseded: "memory_op_superseded", merged: "memory_op_merged", deprecated: "memory_op_deprecated",
  fulfilled: "memory_op_fulfilled", expired: "memory_op_expired", ended: "memory_op_ended",
  reopened: "memory_op_reopened", corrected: "memory_op_corrected", confirmed: "memory_op_confirmed",
  rejected: "memory_op_rejected", unrejected: "memory_op_unrejected", pinned: "memory_op_pinned", unpinned: "memory_op_unpinned",
  separated: "memory_op_separated", proposed: "memory_op_proposed", withdrawn: "memory_op_withdrawn",
};
const STATUS_NAMES = {
  fulfilled: "memory_status_fulfilled", expired: "memory_status_expired", superseded: "memory_status_superseded",
  merged: "memory_status_merged", deprecated: "memory_status_deprecated", rejected: "memory_status_rejected",
  unconfirmed: "memory_status_unconfirmed", withdrawn: "memory_status_withdrawn",
};

/** What was done to a belief. @param {string} op */
export const formatDecision = (op) => t(DEEDS[op]);

/** A count as it is written here. @param {number} count */
export const formatCount = (count) => count.toLocaleString(language.value);

/** How much it is believed, where there is something to say of it. */
export function formatStatus(belief) {
  if (["tentative", "disputed"].includes(belief.status)) return belief.sentence === belief.text ? t(`status_${belief.status}`) : "";
  if (STATUS_NAMES[belief.status]) return t(STATUS_NAMES[belief.status]);
  return belief.ended_at ? t("memory_status_ended") : "";
}

/** How often it was said and since when; how sure it is, where it is not. */
export function formatConfidence({ kind, confidence, times_seen: seen, first_seen_at: first, is_by_person: isByPerson }) {
  if (kind === "summary" || kind === "entity" || !seen) return isByPerson ? t("memory_by_you") : "";
  const sure = isByPerson ? "memory_by_you" : confidence >= SURE ? "" : confidence >= FAIRLY_SURE ? "memory_fairly_sure" : "memory_unsure";
  const often = seen === 1 ? t("memory_seen_once", { when: formatShortDay(first) }) : t("memory_seen", { count: seen, when: formatShortDay(first) });
  return [sure && t(sure), often].filter(Boolean).join(" · ");
}

/** How often it was said, where that is more than once; or that the person has confirmed it. */
export function formatFrequency({ kind, times_seen: seen, is_by_person: isByPerson }) {
  if (isByPerson) return t("memory_by_you");
  return kind !== "summary" && seen > 1 ? t("memory_seen_often", { count: seen }) : "";
}

/** Its own time: of an event when it was, as far as that is known, of a promise until when, of a summary from when to when. */
export function formatOwnTime({ kind, text = "", happened_at: happened, due_at: due, until_at: until, grain = null, zone = null }) {
  if (kind === "summary") return shortDays(happened, until);
  if (grain && kind === "event" && happened) return periodOf(happened, grain);
  if (kind === "expectation" && due) return grain ? periodOf(due, grain) : dueIn(due, text, zone);
  if (grain && due) return t(findDeadline(due, grain) < Date.now() ? "memory_overdue" : "memory_due", { when: periodOf(due, grain) });
  if (kind === "event" && happened) return shortDays(...fromNoons(happened, until ?? happened));
  if (due) return t(findDeadline(due, grain) < Date.now() ? "memory_overdue" : "memory_due", { when: dueIn(due, text, zone) });
  return "";
}

/** The month or the year of a time, by the clocks that it is written by.
 * @param {string} iso @param {"month" | "year"} grain */
function periodOf(iso, grain) {
  const [year, month] = iso.slice(0, 7).split("-").map(Number);
  /** @type {Intl.DateTimeFormatOptions} */
  const shown = grain === "year" ? { year: "numeric" } : { month: "long", year: "numeric" };
  return new Intl.DateTimeFormat(findLocale(), shown).format(new Date(year, month - 1, 1));
}

/** When something is over: a clock time everywhere at once, a day, month or year when it ends for whoever looks.
 * @param {string} iso @param {string | null} grain */
export function findDeadline(iso, grain) {
  return Date.parse(grain || WHOLE_DAYS.includes(iso.slice(11, 19)) ? iso.slice(0, 19) : iso);
}

/** The zone of a clock time, where its clocks differ from those of this browser. @param {string} iso @param {string | null} zone */
function otherZone(iso, zone) {
  return zone && Date.parse(iso) !== Date.parse(iso.slice(0, 19)) ? ` (${zone})` : "";
}

/** The day on which something is due, with its hour by the clocks that it is written by; the month, where it is at its end and the words name no day of it.
 * @param {string} iso @param {string} text @param {string | null} zone */
function dueIn(iso, text, zone) {
  const [year, month, day] = iso.slice(0, 10).split("-").map(Number);
  const time = iso.slice(11, 19);
  if (!WHOLE_DAYS.includes(time)) return `${formatDate(iso.slice(0, 19))}, ${time.slice(0, 5)}${otherZone(iso, zone)}`;
  const isAtEnd = time === "23:59:59" && day === new Date(year, month, 0).getDate();
  if (!isAtEnd || text.includes(String(day))) return formatDate(iso.slice(0, 19));
  return new Intl.DateTimeFormat(findLocale(), { month: "long", year: "numeric" }).format(new Date(year, month - 1, 1));
}

/** Where one is, as far as it fits the language of the page: by it days are written. */
export const findLocale = () => navigator.languages.find((each) => each.startsWith(language.value)) ?? language.value;

/** A day, also where it is today. @param {string} iso */
export function formatDate(iso) {
  return new Intl.DateTimeFormat(findLocale(), { day: "numeric", month: "short", year: "numeric" }).format(new Date(iso));
}

/** The middles of the first and the last of some days, by the clocks that they are written by: by those of the person a day may begin on another.
 * @param {string} from @param {string} to @returns {[string, string]} */
function fromNoons(from, to) {
  const [first, last] = [Date.parse(from.slice(0, 19)), Date.parse(to.slice(0, 19))];
  const half = Math.min(HALF_A_DAY_MS, (last - first) / 2);
  return [new Date(first + half).toISOString(), new Date(last - half).toISOString()];
}

/** From one day to another, which may be the same. @param {string} from @param {string} to */
function shortDays(from, to) {
  const [first, last] = [formatDate(from), formatDate(to)];
  return first === last ? first : `${first} – ${last}`;
}

/** A day of the calendar, which has no time. @param {string} iso such as 2026-03-14 */
export function formatCalendarDay(iso) {
  return new Intl.DateTimeFormat(findLocale(), { day: "numeric", month: "long", year: "numeric" }).format(new Date(`${iso}T12:00:00`));
}

/** A month, in short; with its year where that is new. @param {number} year @param {number} month @param {boolean} hasYear */
export function formatMonth(year, month, hasYear) {
  return new Intl.DateTimeFormat(findLocale(), { month: "short", year: hasYear ? "numeric" : undefined }).format(new Date(year, month - 1, 1));
}

/** How much was added, changed, ended: as far as it was anything. */
export function formatChangeCounts({ added = 0, changed = 0, ended = 0 }) {
  /** @type {[string, number][]} */
  const parts = [["memory_count_added", added], ["memory_count_changed", changed], ["memory_count_ended", ended]];
  return parts.filter(([, count]) => count).map(([phrase, count]) => t(phrase, { count })).join(" · ");
}

/** Words, each quoted once, of whichever message. */
export function dropRepeatedQuotes(words) {
  return words.filter((each, place) => words.findIndex((other) => other.quote === each.quote) === place);
}
