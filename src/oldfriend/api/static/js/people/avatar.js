// The first letter of a name in the color of its kind, and its relation to the person.
import { html } from "../html.js";
import { t } from "../i18n.js";
import { KINDS } from "./kinds.js";

/** @param {{one: any}} given */
export const Avatar = ({ one }) => html`<span class=${`initial kind-${one.kind}`} aria-hidden="true">${[...one.name][0]}</span>`;

/** "your brother · Leeds"; of whom nothing is known, the kind. @param {any} one */
export const formatRelation = (one) => [one.relation || t(KINDS[one.kind]), one.home].filter(Boolean).join(" · ");
