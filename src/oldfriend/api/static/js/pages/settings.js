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

const YOU_LINKS = [["you", "settings_you"], ["apps", "settings_apps"], ["health", "settings_health_data"], ["signing", "settings_signing"]];
const COMPANION_LINKS = [["character", "settings_character"], ["first", "settings_first"], ["tools", "settings_tools"], ["audit", "settings_audit"]];
const INSTALL_LINKS = [["models", "settings_models"], ["voice", "settings_voice"], ["spending", "settings_spending"], ["household", "settings_people"], ["upkeep", "settings_upkeep"]];
const OTHER_PAGES = [["bring", "place_bring"], ["forget", "place_forget"]];
const GROUPS = [
  { title: "settings_part_you", links: YOU_LINKS, draw: () => html`<${YouSection} /><${ChannelsSection} openChannel=${subpath.value} /><${HealthSection} /><${AccessSection} />` },
  { title: "settings_part_companion", links: COMPANION_LINKS, ownerLinks: [["thinking", "settings_memory"]],
    draw: (isOwner) => html`<${CharacterSection} /><${SpeakingFirstSection} /><${ToolsSection} /><${AuditSection} />${isOwner && html`<${MemorySection} />`}` },
  { title: "settings_part_install", links: [], ownerLinks: INSTALL_LINKS,
    draw: () => html`<${ModelsSection} /><${SpendingSection} /><${PeopleSection} /><${MaintenanceSection} />` },
];

/** The links of a group that the person may see: [id, phrase][]. @param {any} group @param {boolean} isOwner @returns {string[][]} */
const visibleLinks = ({ links, ownerLinks = [] }, isOwner) => (isOwner ? [...links, ...ownerLinks] : links);

export default function Settings() {
  const { is_owner: isOwner } = store.me.value;
  const [, loadError, reload] = useLoaded(() => (isOwner ? loadSettings() : Promise.resolve()));
  const isReady = !isOwner || installSettings.value;
  const section = subpath.value;
  const container = useRef(null);
  useEffect(() => (section ? keepInView(container.current, section) : undefined), [section]);
  const groups = GROUPS.filter((each) => visibleLinks(each, isOwner).length);
  const isCurrent = (id) => id === section || (id === "apps" && CHANNELS.includes(section)); // each channel has a URL of its own
  const currentGroup = groups.find((each) => visibleLinks(each, isOwner).some(([id]) => isCurrent(id))) ?? groups[0];
  const link = (address, id, phrase) => html`<a key=${id} href=${address} aria-current=${isCurrent(id) ? "true" : null} onClick=${followLink}>${t(phrase)}</a>`;
  return html`<div class="settings"><nav class="settings-nav" aria-label=${t("place_settings")}><h2>${t("place_settings")}</h2>
      ${groups.map((each) => html`<div key=${each.title} class=${each === currentGroup ? "is-open" : ""}>
        <h3><a href=${`/settings/${visibleLinks(each, isOwner)[0][0]}`} aria-current=${each === currentGroup ? "page" : null} onClick=${followLink}>${t(each.title)}</a></h3>
        ${visibleLinks(each, isOwner).map(([id, phrase]) => link(`/settings/${id}`, id, phrase))}
        ${each.links === YOU_LINKS && OTHER_PAGES.map(([id, phrase]) => link(`/${id}`, id, phrase))}</div>`)}</nav>
    <div class="settings-all" ref=${container} key=${currentGroup.title}>${isReady ? currentGroup.draw(isOwner) : html`<${Loading} error=${loadError} reload=${reload} />`}</div>
    <${DoneMessage} /></div>`;
}

const USER_INPUT_EVENTS = ["wheel", "touchmove", "pointerdown", "keydown"];

/** Scroll a section into view, again whenever sections above it change their size while loading, until the person scrolls, clicks or types.
 * @param {HTMLElement} container @param {string} id */
function keepInView(container, id) {
  const observer = new ResizeObserver(() => document.getElementById(id)?.scrollIntoView());
  observer.observe(container);
  const stop = () => observer.disconnect();
  for (const each of USER_INPUT_EVENTS) addEventListener(each, stop, { once: true, passive: true });
  return () => {
    stop();
    for (const each of USER_INPUT_EVENTS) removeEventListener(each, stop);
  };
}
