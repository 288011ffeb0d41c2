// Settings: one page; changes are saved as they are made, and can be undone.
import { useEffect, useRef } from "../../vendor/hooks.js";
import { CHANNELS } from "../channels.js";
import { html } from "../html.js";
import { follow, within } from "../places.js";
import { ChannelSection } from "../settings/channel.js";
import { CharacterSection } from "../settings/character.js";
import { choices, readChoices } from "../settings/choices.js";
import { MemorySection } from "../settings/memory.js";
import { ModelsSection } from "../settings/models.js";
import { Done, useAnswer, Waiting } from "../settings/parts.js";
import { PeopleSection } from "../settings/people.js";
import { SigningSection, YouSection } from "../settings/signing.js";
import { SpendingSection } from "../settings/spending.js";
import { UpkeepSection } from "../settings/upkeep.js";
import * as store from "../store.js";
import { t } from "../words.js";

const CHANNEL_LINKS = CHANNELS.map((channel) => [channel, `${channel}_title`]);
const EVERYBODY = [["you", "settings_you"], ["character", "settings_character"], ...CHANNEL_LINKS, ["signing", "settings_signing"]];
const OWNER = [
  ["you", "settings_you"], ["character", "settings_character"], ["models", "settings_models"], ["voice", "settings_voice"], ...CHANNEL_LINKS, ["thinking", "settings_memory"],
  ["spending", "settings_spending"], ["household", "settings_people"], ["signing", "settings_signing"], ["upkeep", "settings_upkeep"],
];

export default function Settings() {
  const { is_owner: isOwner } = store.me.value;
  const [, problem, again] = useAnswer(() => (isOwner ? readChoices() : Promise.resolve()));
  const isReady = !isOwner || choices.value;
  const wanted = within.value;
  const all = useRef(null);
  useEffect(() => (wanted ? keepInSight(all.current, wanted) : undefined), [wanted]);
  return html`<div class="settings"><nav class="settings-nav" aria-label=${t("place_settings")}><h2>${t("place_settings")}</h2>
      ${(isOwner ? OWNER : EVERYBODY).map(([id, words]) => html`<a key=${id} href=${`/settings/${id}`} aria-current=${wanted === id ? "true" : null} onClick=${follow}>${t(words)}</a>`)}</nav>
    <div class="settings-all" ref=${all}>${isReady ? html`<${YouSection} /><${CharacterSection} />
      ${isOwner && html`<${ModelsSection} />`}${CHANNELS.map((channel) => html`<${ChannelSection} key=${channel} channel=${channel} />`)}
      ${isOwner && html`<${MemorySection} /><${SpendingSection} /><${PeopleSection} />`}<${SigningSection} />
      ${isOwner && html`<${UpkeepSection} />`}` : html`<${Waiting} problem=${problem} again=${again} />`}</div>
    <${Done} /></div>`;
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
