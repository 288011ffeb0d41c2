// Translations: one file a language, loaded on demand; what is missing is shown in English.
import { signal } from "../vendor/signals.js";
import en from "./i18n/en.js";

/** The languages of the page, each by its own name. */
export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español", fr: "Français", zh: "中文" };
const LOADERS = { // all but English, which is in the main bundle: each in a bundle of its own
  de: () => import("./i18n/de.js"),
  es: () => import("./i18n/es.js"),
  fr: () => import("./i18n/fr.js"),
  zh: () => import("./i18n/zh.js"),
};
const RETRY_DELAY_MS = 2000;
const MAX_WAIT_MS = 3000; // for the translations, before the page starts in English

/** @type {Record<string, Record<string, string>>} */
const phrasesByLanguage = { en }; // loaded translations, by language
let selectedLanguage =
  [localStorage.getItem("language"), ...navigator.languages.map((each) => each.split("-")[0])].find(
    (each) => each !== null && Object.hasOwn(LANGUAGES, each),
  ) ?? "en";

/** The person's time zone, in which times are shown; the browser's until it is known. */
export const shownZone = signal("");
const HAS_ZONE = /T.*(?:Z|[+-]\d\d:\d\d)$/;
const DAY = /** @type {const} */ ({ day: "numeric", month: "numeric", year: "numeric" });

/** The current language: the one chosen here, else the browser's; English until its translations are loaded. */
export const language = signal("en");

/** Loads the selected language and switches to it; retries until it is loaded or another one is selected. */
async function loadLanguage() {
  const requested = selectedLanguage;
  try {
    phrasesByLanguage[requested] ??= (await LOADERS[requested]()).default;
  } catch {
    setTimeout(() => requested === selectedLanguage && loadLanguage(), RETRY_DELAY_MS);
    return;
  }
  if (requested === selectedLanguage) language.value = requested;
}

/** Resolves when the translations are loaded, or after MAX_WAIT_MS. */
export const ready = Promise.race([loadLanguage(), new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))]);

/** @param {string} code */
export function setLanguage(code) {
  localStorage.setItem("language", code);
  selectedLanguage = code;
  return loadLanguage();
}

/** Returns a translated phrase with {name} replaced by its value, and {count|singular|plural} by the form for that
 * count.
 * @param {string} name @param {Record<string, string | number>} [values] @param {string} [fallback] returned if there is no such phrase */
export function t(name, values = {}, fallback = name) {
  const phrase = phrasesByLanguage[language.value][name] ?? en[name] ?? fallback;
  return phrase.replace(PLACEHOLDER, (_, key, singular, plural) => (singular === undefined ? formatValue(values[key] ?? "") : isSingular(values[key]) ? singular : plural));
}

const PLACEHOLDER = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g;

/** Formats a value as text, numbers in the current locale. @param {string | number} value */
const formatValue = (value) => (typeof value === "number" ? value.toLocaleString(findLocale()) : String(value));

/** Whether a count takes the singular in the current language; in French, zero does. @param {string | number} count */
const isSingular = (count) => new Intl.PluralRules(language.value).select(Number(count)) === "one";

/** @typedef {{text: string, code: string | null, values: Record<string, any>}} ServerText */

/** Translates a text of the server by its code; returns its English text if the page has no translation.
 * @param {ServerText} text @returns {string} */
export function translateServerText({ text, code, values }) {
  const phrase = `said_${code}`;
  if (!Object.hasOwn(en, phrase)) return text;
  return t(phrase, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, translateValue(value)])));
}

/** @param {string | number | ServerText} value */
function translateValue(value) {
  return typeof value === "object" ? translateServerText(value) : value;
}

/** Translates an error of the server by its code; without a code, returns the English detail, in other languages after
 * the translated kind of error.
 * @param {number} status @param {{detail: string, code?: string | null, values?: Record<string, any>}} answer */
export function translateProblem(status, { detail, code = null, values = {} }) {
  if (code) return translateServerText({ text: detail, code, values });
  const kind = `problem_${status}`;
  return language.value === "en" || !Object.hasOwn(en, kind) ? detail : t("problem", { kind: t(kind), detail });
}

/** Lists all time zones, the given ones first. @param {string[]} first */
export const listTimeZones = (...first) => [...new Set([...first, "UTC", ...Intl.supportedValuesOf("timeZone")])];

const IMPORT_NAMES = { whatsapp: "WhatsApp", chatgpt: "ChatGPT", claude: "Claude", day_one: "Day One", apple_health: "Apple Health" };

/** @type {Record<string, string>} */
const IMPORT_TYPES = { jsonl: "bring_format_jsonl", notes: "bring_format_notes", table: "bring_format_table", measurement_table: "bring_format_measurements", calendar: "bring_format_calendar" };

/** Returns the display name of a channel or of an import format: the service it comes from, or its type. @param {string} channel */
export function channelName(channel) {
  if (Object.hasOwn(IMPORT_TYPES, channel)) return t(IMPORT_TYPES[channel]);
  return Object.hasOwn(en, `${channel}_title`) ? t(`${channel}_title`) : (IMPORT_NAMES[/** @type {keyof IMPORT_NAMES} */ (channel)] ?? channel);
}

/** @param {string} iso */
export function formatTime(iso) {
  return format(iso, { hour: "2-digit", minute: "2-digit" });
}

/** @param {string} iso */
export function formatDay(iso) {
  const year = new Date(iso).getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return format(iso, { weekday: "long", day: "numeric", month: "long", year });
}

/** Formats a date with its short weekday; without the year if it is this year's. @param {string} iso */
export function formatWeekday(iso) {
  const year = new Date(iso).getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return format(iso, { weekday: "short", day: "numeric", month: "short", year });
}

/** Whether a moment is of this day, in the person's time zone. @param {string} iso */
export const isToday = (iso) => format(iso, DAY) === format(new Date().toISOString(), DAY);

/** @param {string} iso */
export function formatShortDay(iso) {
  return isToday(iso) ? formatTime(iso) : format(iso, { day: "numeric", month: "short", year: "numeric" });
}

/** Formats a moment in the person's time zone, and a day or time without a zone as it is.
 * @param {string} iso @param {Intl.DateTimeFormatOptions} options */
function format(iso, options) {
  const timeZone = HAS_ZONE.test(iso) && shownZone.value ? shownZone.value : undefined;
  return new Intl.DateTimeFormat(findLocale(), { ...options, hourCycle: "h23", timeZone }).format(new Date(iso));
}

/** Formats a moment as a field for day and time takes it, in the person's time zone. @param {Date} date */
export function formatLocal(date) {
  const format = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "short", timeZone: shownZone.value || undefined });
  return format.format(date).replace(" ", "T");
}

/** Returns the person's time zone where the browser's clock shows another time than it; null where both are alike. */
export function findOtherZone() {
  const now = new Date();
  const shown = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "short" }).format(now).replace(" ", "T");
  return formatLocal(now) === shown ? null : shownZone.value.replaceAll("_", " ");
}

/** Returns the browser's preferred locale of the current language, such as en-GB. */
function findLocale() {
  return navigator.languages.find((each) => each.startsWith(language.value)) ?? language.value;
}

const LETTER = "(?![\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}])[\\p{L}\\p{N}]"; // of scripts that set spaces between words

/** Whether a sentence holds all that a quote says, in whole words, as "You said: “…”" does. @param {string} sentence @param {{quote: string}} quote */
export function isSaidIn(sentence, { quote }) {
  const words = quote.replace(/[\s.!?。！？]+$/u, "").replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return words !== "" && new RegExp(`(?<!${LETTER})${words}(?!${LETTER})`, "iu").test(sentence);
}
