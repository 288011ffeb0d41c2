// In which language does the page speak? One file for each; what is missing is said in English.
import { signal } from "../vendor/signals.js";
import en from "./words/en.js";
import zh from "./words/zh.js";

const BOOKS = { en, zh };
export const LANGUAGES = { en: "English", zh: "中文" };

/** The language of the page: as chosen here, else as the browser prefers. */
export const language = signal(
  [localStorage.getItem("language"), ...navigator.languages.map((each) => each.split("-")[0])].find(
    (each) => each !== null && Object.hasOwn(BOOKS, each),
  ) ?? "en",
);

/** @param {string} chosen */
export function speak(chosen) {
  localStorage.setItem("language", chosen);
  language.value = chosen;
}

/** A phrase, with what stands in {braces} filled in.
 * @param {string} name @param {Record<string, string | number>} [values] */
export function t(name, values = {}) {
  const phrase = BOOKS[language.value][name] ?? en[name] ?? name;
  return phrase.replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ""));
}

/** @typedef {{text: string, code: string | null, values: Record<string, any>}} Saying */

/** What the house says, in the words that the page has for its code; in English where it has none.
 * @param {Saying} said @returns {string} */
export function inWords({ text, code, values }) {
  const phrase = `said_${code}`;
  if (!Object.hasOwn(en, phrase)) return text;
  return t(phrase, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, valueTold(value)])));
}

/** @param {string | number | Saying} value */
function valueTold(value) {
  if (typeof value === "number") return value.toLocaleString(place());
  return typeof value === "string" ? value : inWords(value);
}

/** What the house says of a problem. What the page has no words for is told in English; in other languages with what
 * kind of problem it is before it. @param {number} status @param {{detail: string, code?: string | null, values?: Record<string, any>}} answer */
export function problem(status, { detail, code = null, values = {} }) {
  if (code) return inWords({ text: detail, code, values });
  const kind = `problem_${status}`;
  return language.value === "en" || !Object.hasOwn(en, kind) ? detail : t("problem", { kind: t(kind), detail });
}

/** All time zones, with some before the others. @param {string[]} first */
export const zonesAfter = (...first) => [...new Set([...first, "UTC", ...Intl.supportedValuesOf("timeZone")])];

const IMPORTED = { whatsapp: "WhatsApp", chatgpt: "ChatGPT", claude: "Claude" };

/** Where something was said, as it is called. @param {string} channel */
export const channelName = (channel) =>
  Object.hasOwn(en, `${channel}_title`) ? t(`${channel}_title`) : (IMPORTED[/** @type {keyof IMPORTED} */ (channel)] ?? channel);

/** @param {string} iso */
export function timeOf(iso) {
  return format(iso, { hour: "2-digit", minute: "2-digit" });
}

/** @param {string} iso */
export function dayOf(iso) {
  const year = new Date(iso).getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return format(iso, { weekday: "long", day: "numeric", month: "long", year });
}

/** @param {string} iso */
export function shortDayOf(iso) {
  const isToday = new Date(iso).toDateString() === new Date().toDateString();
  return isToday ? timeOf(iso) : format(iso, { day: "numeric", month: "short", year: "numeric" });
}

/** @param {string} iso @param {Intl.DateTimeFormatOptions} how */
function format(iso, how) {
  return new Intl.DateTimeFormat(place(), { ...how, hourCycle: "h23" }).format(new Date(iso));
}

/** Where the language of the page is written as the browser likes it. */
function place() {
  return navigator.languages.find((each) => each.startsWith(language.value)) ?? language.value;
}
