// Icons: one shape for each kind of memory and each action.
import { html } from "./html.js";
import { findKind } from "./kinds.js";
import { t } from "./i18n.js";

export function KindIcon({ kind }) {
  const { color = "", shape } = findKind(kind);
  return html`<svg class=${`kind ${color && `kind-${color}`}`} viewBox="0 0 16 16" width="16" height="16" role="img"
    aria-label=${t(`kind_${kind}`)}><path d=${shape} /></svg>`;
}

export function Mark() {
  return html`<svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
    <circle cx="16" cy="16" r="12" /><path d="M16 4a12 12 0 0 1 12 12H16z" /></svg>`;
}

export function Arrow() {
  return html`<svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true"><path d="M8 2.500 13 8l-1.200 1.100L8.800 6v8H7.200V6l-3 3.100L3 8z" /></svg>`;
}

export function Square() {
  return html`<svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true"><path d="M4 4h8v8H4z" /></svg>`;
}

export function Down() {
  return html`<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M8 13.500 3 8l1.200-1.100L7.200 10V2h1.600v8l3-3.100L13 8z" /></svg>`;
}

export function Cross() {
  return html`<svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true"><path d="M4 3 8 7l4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z" /></svg>`;
}

const DEED_SHAPES = { keep: "M6.300 12.800 2 8.500l1.100-1.100 3.200 3.200 6.600-6.600L14 5.100z", wrong: "M4 3 8 7l4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z",
  forget: "M6 1.500h4V3h4v1.300H2V3h4z M3.300 5.300h9.400L12 14.500H4z" };

/** What can be done with something, as a sign: its name is read to whoever does not see it. @param {{name: keyof DEED_SHAPES}} given */
export function ActionIcon({ name }) {
  return html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d=${DEED_SHAPES[name]} /></svg>`;
}

export function SearchIcon() {
  return html`<svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true"><path d="M7 2a5 5 0 1 0 3.100 8.900l3 3 1-1-3-3A5 5 0 0 0 7 2zm0 1.500a3.500 3.500 0 1 1 0 7 3.500 3.500 0 0 1 0-7z" /></svg>`;
}

export function Microphone() {
  return html`<svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true"><path d="M8 1.500A2.300 2.300 0 0 0 5.700 3.800v3.900a2.300 2.300 0 0 0 4.600 0V3.800A2.300 2.300 0 0 0 8 1.500zM3.500 7.500h1.300a3.200 3.200 0 0 0 6.400 0h1.300a4.500 4.500 0 0 1-3.850 4.450V14.500h-1.300v-2.550A4.500 4.500 0 0 1 3.500 7.500z" /></svg>`;
}

const PLACE_SHAPES = {
  chat: "M3 4h18v12H9l-4 4v-4H3z",
  memory: "M5 3h14v18l-7-4-7 4z",
  people: "M8.500 4a3.500 3.500 0 1 1 0 7 3.500 3.500 0 0 1 0-7z M2 20c0-4 3-6.500 6.500-6.500S15 16 15 20z M16.500 6a2.800 2.800 0 1 1 0 5.600 M17 13.500c3 .2 5 2.600 5 6.500",
  days: "M3 5h18v16H3z M3 10h18 M8 2v5 M16 2v5",
  bring: "M7 3v15 M3.500 14.500 7 18l3.500-3.500 M17 21V6 M13.500 9.500 17 6l3.500 3.500",
  forget: "M4 6h16 M9 6V3h6v3 M6 6l1 15h10l1-15 M10 10v7 M14 10v7",
  settings: "M3 7h11 M18 7h3 M16 4.500v5 M3 17h3 M10 17h11 M8 14.500v5",
};

export function PlaceIcon({ name }) {
  return html`<svg class="place-icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d=${PLACE_SHAPES[name]} /></svg>`;
}
