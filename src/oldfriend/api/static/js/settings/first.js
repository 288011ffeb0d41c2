// When may the companion write first? How readily, at which hours never, which overview; and what it said so.
import { html } from "../html.js";
import { t } from "../words.js";
import { house } from "./house.js";
import { NotifyingIfPossible } from "./notifying.js";
import { Section, tell, Trouble, useAnswer, useDeed, Waiting } from "./parts.js";
import { Unasked } from "./unasked.js";

const LEVELS = [["off", "settings_first_off"], ["shy", "settings_first_shy"], ["normal", "settings_first_normal"], ["lively", "settings_first_lively"]];
const DIGESTS = [["off", "settings_digest_off"], ["daily", "settings_digest_daily"], ["weekly", "settings_digest_weekly"]];
const RECAPS = [["off", "settings_recap_off"], ["weekly", "settings_recap_weekly"]];

export function FirstSection() {
  const [told, problem, again, setTold] = useAnswer(house.first);
  return html`<${Section} id="first" title=${t("settings_first")} lead=${t("settings_first_lead")}><${NotifyingIfPossible} />
    ${told ? html`<${Choices} told=${told} setTold=${setTold} />` : html`<${Waiting} problem=${problem} again=${again} />`}</${Section}>`;
}

/** Each choice is saved as it is made, and can be undone. @param {{told: any, setTold: (told: any) => void}} given */
function Choices({ told, setTold }) {
  const [trouble, isBusy, run] = useDeed();
  const save = async (changes) => setTold(await house.chooseFirst(changes));
  const choose = (name, what) => ({ target }) => {
    const before = { [name]: told[name] };
    if (target.value && target.value !== told[name]) run(async () => (await save({ [name]: target.value }), tell(t("settings_saved", { what }), () => save(before))));
  };
  const select = (name, words, options) => html`<div class="choice is-choice"><label for=${`first-${name}`}>${t(words)}</label><span class="given">
    <select id=${`first-${name}`} value=${told[name]} disabled=${isBusy} onChange=${choose(name, t(words))}>
      ${options.map(([value, text]) => html`<option key=${value} value=${value}>${t(text)}</option>`)}</select></span></div>`;
  const hour = (name, words) => html`<div class="choice is-choice"><label for=${`first-${name}`}>${t(words)}</label><span class="given">
    <input id=${`first-${name}`} type="time" value=${told[name]} disabled=${isBusy} onChange=${choose(name, t(words))} /></span></div>`;
  const before = { muted: told.muted };
  const allowAll = () => run(async () => (await save({ muted: [] }), tell(t("settings_saved", { what: t("settings_first") }), () => save(before))));
  return html`${select("level", "settings_first_level", LEVELS)}
    ${hour("quiet_begins", "settings_quiet_begins")}${hour("quiet_ends", "settings_quiet_ends")}
    ${select("digest", "settings_digest", DIGESTS)}
    ${select("recap", "settings_recap", RECAPS)}
    ${told.muted.length > 0 && html`<p class="hint">${t("settings_first_muted", { count: told.muted.length })} <button class="quiet" disabled=${isBusy} onClick=${allowAll}>${t("settings_first_allow")}</button></p>`}
    <${Trouble} text=${trouble} /><${Unasked} told=${told} save=${save} />`;
}
