// Translations: one file a language, loaded on demand; what is missing is shown in English.
import { signal } from "../vendor/signals.js";
import en from "./i18n/en.js";

/** The languages of the page, each by its own name. */
export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español", fr: "Français", zh: "中文" };
const READ = { // all but English, which comes with the page: each in a bundle of its own
  de: () => import("./i18n/de.js"),
  es: () => import("./i18n/es.js"),
  fr: () => import("./i18n/fr.js"),
  zh: () => import("./i18n/zh.js"),
};
const PAUSE_MS = 2000;
const LONGEST_WAIT_MS = 3000; // for words, before the page begins in English

/** @type {Record<string, Record<string, string>>} */
const books = { en }; // by language, as far as they were read
let wanted =
  [localStorage.getItem("language"), ...navigator.languages.map((each) => each.split("-")[0])].find(
    (each) => each !== null && Object.hasOwn(LANGUAGES, each),
  ) ?? "en";

/** The language of the page: as chosen here, else as the browser prefers; English until its words are here. */
export const language = signal("en");

/** Speak what is wanted, once its words are here; words that could not be read are read again. */
async function takeUp() {
  const taken = wanted;
  try {
    books[taken] ??= (await READ[taken]()).default;
  } catch {
    setTimeout(() => taken === wanted && takeUp(), PAUSE_MS);
    return;
  }
  if (taken === wanted) language.value = taken;
}

/** Fulfilled when the page may begin to speak. */
export const ready = Promise.race([takeUp(), new Promise((begin) => setTimeout(begin, LONGEST_WAIT_MS))]);

/** @param {string} chosen */
export function setLanguage(chosen) {
  localStorage.setItem("language", chosen);
  wanted = chosen;
  return takeUp();
}

/** A phrase, with what stands in {braces} filled in; of {count|message|messages} what goes with that number in this language.
 * @param {string} name @param {Record<string, string | number>} [values] @param {string} [otherwise] what is said where there is none */
export function t(name, values = {}, otherwise = name) {
  const phrase = books[language.value][name] ?? en[name] ?? otherwise;
  return phrase.replace(FILLED, (_, key, one, more) => (one === undefined ? inDigits(values[key] ?? "") : isOne(values[key]) ? one : more));
}

const FILLED = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g;

/** A number as it is written here. @param {string | number} value */
const inDigits = (value) => (typeof value === "number" ? value.toLocaleString(place()) : String(value));

/** Whether the singular goes with a number: of none, too, in French. @param {string | number} count */
const isOne = (count) => new Intl.PluralRules(language.value).select(Number(count)) === "one";

/** @typedef {{text: string, code: string | null, values: Record<string, any>}} Saying */

/** What the server says, in the words that the page has for its code; in English where it has none.
 * @param {Saying} said @returns {string} */
export function translateServerText({ text, code, values }) {
  const phrase = `said_${code}`;
  if (!Object.hasOwn(en, phrase)) return text;
  return t(phrase, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, valueTold(value)])));
}

/** @param {string | number | Saying} value */
function valueTold(value) {
  return typeof value === "object" ? translateServerText(value) : value;
}

/** What the server says of a problem. What the page has no words for is told in English; in other languages with what
 * kind of problem it is before it. @param {number} status @param {{detail: string, code?: string | null, values?: Record<string, any>}} answer */
export function translateProblem(status, { detail, code = null, values = {} }) {
  if (code) return translateServerText({ text: detail, code, values });
  const kind = `problem_${status}`;
  return language.value === "en" || !Object.hasOwn(en, kind) ? detail : t("problem", { kind: t(kind), detail });
}

/** All time zones, with some before the others. @param {string[]} first */
export const listTimeZones = (...first) => [...new Set([...first, "UTC", ...Intl.supportedValuesOf("timeZone")])];

const IMPORTED = { whatsapp: "WhatsApp", chatgpt: "ChatGPT", claude: "Claude", day_one: "Day One", apple_health: "Apple Health" };

/** Where something was said, as it is called. @param {string} channel */
export const channelName = (channel) =>
  Object.hasOwn(en, `${channel}_title`) ? t(`${channel}_title`) : (IMPORTED[/** @type {keyof IMPORTED} */ (channel)] ?? channel);

/** @param {string} iso */
export function formatTime(iso) {
  return format(iso, { hour: "2-digit", minute: "2-digit" });
}

/** @param {string} iso */
export function formatDay(iso) {
  const year = new Date(iso).getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return format(iso, { weekday: "long", day: "numeric", month: "long", year });
}

/** A day to come, or one not long gone, with its weekday. @param {string} iso */
export function formatWeekday(iso) {
  const year = new Date(iso).getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return format(iso, { weekday: "short", day: "numeric", month: "short", year });
}

/** @param {string} iso */
export function formatShortDay(iso) {
  const isToday = new Date(iso).toDateString() === new Date().toDateString();
  return isToday ? formatTime(iso) : format(iso, { day: "numeric", month: "short", year: "numeric" });
}

/** @param {string} iso @param {Intl.DateTimeFormatOptions} how */
function format(iso, how) {
  return new Intl.DateTimeFormat(place(), { ...how, hourCycle: "h23" }).format(new Date(iso));
}

/** Where the language of the page is written as the browser likes it. */
function place() {
  return navigator.languages.find((each) => each.startsWith(language.value)) ?? language.value;
}
