// Labels of a belief: confidence, frequency, dates and status in words.
import { language, formatShortDay, formatTime, formatWeekday, t } from "../i18n.js";

const SURE = 0.85;
const FAIRLY_SURE = 0.6;
const DATE_ONLY_TIMES = ["23:59:59", "00:00:00"]; // due times that mean a whole day
const HALF_A_DAY_MS = 12 * 60 * 60_000;
const DECISIONS = {
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

/** The name of a decision. @param {string} op */
export const formatDecision = (op) => t(DECISIONS[op]);

/** A count in the format of the page's language. @param {number} count */
export const formatCount = (count) => count.toLocaleString(language.value);

/** The status of a belief; "" when it is simply active, or its sentence says it already. */
export function formatStatus(belief) {
  if (["tentative", "disputed"].includes(belief.status)) return belief.sentence === belief.text ? t(`status_${belief.status}`) : "";
  if (STATUS_NAMES[belief.status]) return t(STATUS_NAMES[belief.status]);
  return belief.ended_at ? t("memory_status_ended") : "";
}

/** How often it was said and since when; the confidence too, when it is low or the person has confirmed it. */
export function formatConfidence({ kind, confidence, times_seen: timesSeen, first_seen_at: firstSeen, is_by_person: isByPerson }) {
  if (kind === "summary" || kind === "entity" || !timesSeen) return isByPerson ? t("memory_by_you") : "";
  const phrase = isByPerson ? "memory_by_you" : confidence >= SURE ? "" : confidence >= FAIRLY_SURE ? "memory_fairly_sure" : "memory_unsure";
  const frequency = timesSeen === 1 ? t("memory_seen_once", { when: formatShortDay(firstSeen) }) : t("memory_seen", { count: timesSeen, when: formatShortDay(firstSeen) });
  return [phrase && t(phrase), frequency].filter(Boolean).join(" · ");
}

/** How often it was said, if more than once; or that the person has confirmed it; else "". */
export function formatFrequency({ kind, times_seen: timesSeen, is_by_person: isByPerson }) {
  if (isByPerson) return t("memory_by_you");
  return kind !== "summary" && timesSeen > 1 ? t("memory_seen_often", { count: timesSeen }) : "";
}

/** The time a belief is about: when an event happened, when a commitment is due, which days a summary covers; "" if none. */
export function formatOwnTime({ kind, text = "", happened_at: happened, due_at: due, until_at: until, grain = null, zone = null }) {
  if (kind === "summary") return formatDayRange(happened, until);
  if (grain && kind === "event" && happened) return formatPeriod(happened, grain);
  if (kind === "expectation" && due) return grain ? formatPeriod(due, grain) : formatDue(due, text, zone);
  if (grain && due) return t(findDeadline(due, grain) < Date.now() ? "memory_overdue" : "memory_due", { when: formatPeriod(due, grain) });
  if (kind === "event" && happened) return formatDayRange(...toMiddays(happened, until ?? happened));
  if (due) return t(findDeadline(due, grain) < Date.now() ? "memory_overdue" : "memory_due", { when: formatDue(due, text, zone) });
  return "";
}

/** The month or the year of a time, in the time zone of its offset.
 * @param {string} iso @param {"month" | "year"} grain */
function formatPeriod(iso, grain) {
  const [year, month] = iso.slice(0, 7).split("-").map(Number);
  /** @type {Intl.DateTimeFormatOptions} */
  const options = grain === "year" ? { year: "numeric" } : { month: "long", year: "numeric" };
  return new Intl.DateTimeFormat(findLocale(), options).format(new Date(year, month - 1, 1));
}

/** When something is overdue, in ms since the epoch: a clock time in its own zone, a day, month or year by the browser's.
 * @param {string} iso @param {string | null} grain */
export function findDeadline(iso, grain) {
  return Date.parse(grain || DATE_ONLY_TIMES.includes(iso.slice(11, 19)) ? iso.slice(0, 19) : iso);
}

/** " (zone)" if the time's offset differs from the browser's, else "". @param {string} iso @param {string | null} zone */
function formatOtherZone(iso, zone) {
  return zone && Date.parse(iso) !== Date.parse(iso.slice(0, 19)) ? ` (${zone})` : "";
}

/** The due day, with the hour in its own time zone if it has one; only the month, if it is the month's end and the text does not name the day.
 * @param {string} iso @param {string} text @param {string | null} zone */
function formatDue(iso, text, zone) {
  const [year, month, day] = iso.slice(0, 10).split("-").map(Number);
  const time = iso.slice(11, 19);
  if (!DATE_ONLY_TIMES.includes(time)) return `${formatDate(iso.slice(0, 19))}, ${time.slice(0, 5)}${formatOtherZone(iso, zone)}`;
  const isAtEnd = time === "23:59:59" && day === new Date(year, month, 0).getDate();
  if (!isAtEnd || text.includes(String(day))) return formatDate(iso.slice(0, 19));
  return new Intl.DateTimeFormat(findLocale(), { month: "long", year: "numeric" }).format(new Date(year, month - 1, 1));
}

/** The browser's locale that fits the page's language (such as en-GB), to format dates. */
export const findLocale = () => navigator.languages.find((each) => each.startsWith(language.value)) ?? language.value;

/** A date with day, short month and year. @param {string} iso */
export function formatDate(iso) {
  return new Intl.DateTimeFormat(findLocale(), { day: "numeric", month: "short", year: "numeric" }).format(new Date(iso));
}

/** A period with both ends moved up to 12 hours inwards, in ISO: so its first and last day stay the same in the browser's time zone.
 * @param {string} from @param {string} to @returns {[string, string]} */
function toMiddays(from, to) {
  const [first, last] = [Date.parse(from.slice(0, 19)), Date.parse(to.slice(0, 19))];
  const half = Math.min(HALF_A_DAY_MS, (last - first) / 2);
  return [new Date(first + half).toISOString(), new Date(last - half).toISOString()];
}

/** "first – last", or a single date if both are the same. @param {string} from @param {string} to */
function formatDayRange(from, to) {
  const [first, last] = [formatDate(from), formatDate(to)];
  return first === last ? first : `${first} – ${last}`;
}

/** When a task or an entry of a calendar is: its first day with its hours, all day, or from day to day.
 * @param {{due: string, until: string | null, is_all_day: boolean}} task @param {string} first @param {boolean} isDayOnly */
export function formatTaskTime({ due, until, is_all_day: isAllDay }, first = formatWeekday(due), isDayOnly = false) {
  if (isAllDay) return until && until !== due.slice(0, "2026-12-31".length) ? `${first} – ${formatWeekday(`${until}T12:00`)}` : `${first}, ${t("tasks_all_day")}`;
  if (isDayOnly) return first;
  if (!until) return `${first}, ${formatTime(due)}`;
  const last = formatWeekday(until);
  return formatWeekday(due) === last ? `${first}, ${formatTime(due)}–${formatTime(until)}` : `${first}, ${formatTime(due)} – ${last}, ${formatTime(until)}`;
}

/** An ISO date without a time, in words. @param {string} iso such as 2026-03-14 */
export function formatCalendarDay(iso) {
  return new Intl.DateTimeFormat(findLocale(), { day: "numeric", month: "long", year: "numeric" }).format(new Date(`${iso}T12:00:00`));
}

/** A month in short, with its year if hasYear. @param {number} year @param {number} month @param {boolean} hasYear */
export function formatMonth(year, month, hasYear) {
  return new Intl.DateTimeFormat(findLocale(), { month: "short", year: hasYear ? "numeric" : undefined }).format(new Date(year, month - 1, 1));
}

/** Counts of added, changed and ended beliefs, without zeros; "" if all are zero. */
export function formatChangeCounts({ added = 0, changed = 0, ended = 0 }) {
  /** @type {[string, number][]} */
  const parts = [["memory_count_added", added], ["memory_count_changed", changed], ["memory_count_ended", ended]];
  return parts.filter(([, count]) => count).map(([phrase, count]) => t(phrase, { count })).join(" · ");
}

/** Quotes without those whose text occurred before. */
export function dropRepeatedQuotes(quotes) {
  return quotes.filter((each, index) => quotes.findIndex((other) => other.quote === each.quote) === index);
}
