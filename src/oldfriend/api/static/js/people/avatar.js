// The avatar of an entity, a letter in the color of its kind, and its relation to the person.
import { html } from "../html.js";
import { t } from "../i18n.js";
import { KINDS } from "./kinds.js";

/** @param {{entity: any}} props */
export const Avatar = ({ entity }) => html`<span class=${`initial kind-${entity.kind}`} aria-hidden="true">${[...entity.name][0]}</span>`;

/** Relation and home, such as "your brother · Leeds"; without a known relation, the kind. @param {any} entity */
export const formatRelation = (entity) => [entity.relation || t(KINDS[entity.kind]), entity.home].filter(Boolean).join(" · ");
