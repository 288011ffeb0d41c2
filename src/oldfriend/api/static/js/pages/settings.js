// Settings of the person, the companion and the installation; saved as they are changed, with undo.
import { useEffect, useRef } from "../../vendor/hooks.js";
import { CHANNELS } from "../channels.js";
import { html } from "../html.js";
import { followLink, subpath } from "../router.js";
import { AuditSection } from "../settings/audit.js";
import { ChannelsSection } from "../settings/channels.js";
import { CharacterSection } from "../settings/character.js";
import { installSettings, loadSettings } from "../settings/install_settings.js";
import { SpeakingFirstSection } from "../settings/speaking_first.js";
import { HealthSection } from "../settings/health.js";
import { MemorySection } from "../settings/memory.js";
import { ModelsSection } from "../settings/models.js";
import { DoneMessage, useLoaded, Loading } from "../settings/form_parts.js";
import { PeopleSection } from "../settings/people.js";
import { AccessSection, YouSection } from "../settings/access.js";
import { SpendingSection } from "../settings/spending.js";
import { ToolsSection } from "../settings/tools.js";
import { MaintenanceSection } from "../settings/maintenance.js";
import * as store from "../store.js";
import { t } from "../i18n.js";

const YOU = [["you", "settings_you"], ["apps", "settings_apps"], ["health", "settings_health_data"], ["signing", "settings_signing"]];
const COMPANION = [["character", "settings_character"], ["first", "settings_first"], ["tools", "settings_tools"], ["audit", "settings_audit"]];
const INSTALL = [["models", "settings_models"], ["voice", "settings_voice"], ["spending", "settings_spending"], ["household", "settings_people"], ["upkeep", "settings_upkeep"]];
const ELSEWHERE = [["bring", "place_bring"], ["forget", "place_forget"]];
const PARTS = [
  { title: "settings_part_you", links: YOU, draw: () => html`<${YouSection} /><${ChannelsSection} wanted=${subpath.value} /><${HealthSection} /><${AccessSection} />` },
  { title: "settings_part_companion", links: COMPANION, ownerLinks: [["thinking", "settings_memory"]],
    draw: (isOwner) => html`<${CharacterSection} /><${SpeakingFirstSection} /><${ToolsSection} /><${AuditSection} />${isOwner && html`<${MemorySection} />`}` },
  { title: "settings_part_install", links: [], ownerLinks: INSTALL,
    draw: () => html`<${ModelsSection} /><${SpendingSection} /><${PeopleSection} /><${MaintenanceSection} />` },
];

/** The sections of a part that somebody may see. @param {any} part @param {boolean} isOwner @returns {string[][]} */
const linksOf = ({ links, ownerLinks = [] }, isOwner) => (isOwner ? [...links, ...ownerLinks] : links);

export default function Settings() {
  const { is_owner: isOwner } = store.me.value;
  const [, problem, again] = useLoaded(() => (isOwner ? loadSettings() : Promise.resolve()));
  const isReady = !isOwner || installSettings.value;
  const wanted = subpath.value;
  const all = useRef(null);
  useEffect(() => (wanted ? keepInSight(all.current, wanted) : undefined), [wanted]);
  const parts = PARTS.filter((each) => linksOf(each, isOwner).length);
  const isNear = (id) => id === wanted || (id === "apps" && CHANNELS.includes(wanted)); // each channel has an address of its own
  const part = parts.find((each) => linksOf(each, isOwner).some(([id]) => isNear(id))) ?? parts[0];
  const link = (address, id, words) => html`<a key=${id} href=${address} aria-current=${isNear(id) ? "true" : null} onClick=${followLink}>${t(words)}</a>`;
  return html`<div class="settings"><nav class="settings-nav" aria-label=${t("place_settings")}><h2>${t("place_settings")}</h2>
      ${parts.map((each) => html`<div key=${each.title} class=${each === part ? "is-open" : ""}>
        <h3><a href=${`/settings/${linksOf(each, isOwner)[0][0]}`} aria-current=${each === part ? "page" : null} onClick=${followLink}>${t(each.title)}</a></h3>
        ${linksOf(each, isOwner).map(([id, words]) => link(`/settings/${id}`, id, words))}
        ${each.links === YOU && ELSEWHERE.map(([id, words]) => link(`/${id}`, id, words))}</div>`)}</nav>
    <div class="settings-all" ref=${all} key=${part.title}>${isReady ? part.draw(isOwner) : html`<${Loading} problem=${problem} again=${again} />`}</div>
    <${DoneMessage} /></div>`;
}

const TOUCHES = ["wheel", "touchmove", "pointerdown", "keydown"];

/** Bring a section before the eyes as soon as it is there, and keep it there while others are read; until somebody moves.
 * @param {HTMLElement} all @param {string} id */
function keepInSight(all, id) {
  const watch = new ResizeObserver(() => document.getElementById(id)?.scrollIntoView());
  watch.observe(all);
  const rest = () => watch.disconnect();
  for (const each of TOUCHES) addEventListener(each, rest, { once: true, passive: true });
  return () => {
    rest();
    for (const each of TOUCHES) removeEventListener(each, rest);
  };
}
