// The companion of the first run: a friend, a starting point, or a draft from words.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { formatCost } from "../imports/learning_progress.js";
import { html } from "../html.js";
import { startAbout, startName } from "../settings/character.js";
import { settingsApi as settings } from "../settings/api.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import { draftsApi } from "./api.js";

const LONGEST_FILE = 1_000_000;
const TYPING_MS = 500;
const NOTHING = { name: null, chosen: "blank", persona: "", style: "", material: "", isDecided: false };
const FOR = { persona: "welcome_for_persona", user: "welcome_for_user", style: "welcome_for_style" };

/** What was chosen and written on this step, for whoever comes back to it. */
const given = signal(NOTHING);
const give = (more) => (given.value = { ...given.value, ...more });

export function Companion({ keep, calm, character, around }) {
  const { name, chosen, persona, style, material, isDecided } = given.value;
  const called = store.state.value.companion;
  keep.current = async () => {
    if (chosen === "material" && material.trim() && !persona.trim() && !isDecided) throw new Error(t("welcome_undecided"));
    const wanted = name?.trim() || called;
    if (wanted !== called) store.renameCompanion((await settings.nameCompanion(wanted)).name);
    for (const [block, text] of Object.entries({ persona, style })) if (text.trim()) await settings.write(block, text);
  };
  const take = (text) => {
    give({ persona: text });
    calm();
  };
  const choose = (name) => {
    const start = character?.starting.find((each) => each.name === name);
    give({ chosen: name, persona: start?.persona ?? "", style: start?.style ?? "" });
  };
  const starts = (character?.starting ?? []).filter((each) => each.persona);
  const radio = (start, label, about) => html`<label key=${start} class="start"><input type="radio" name="start" checked=${chosen === start} onChange=${() => choose(start)} />
    <span><strong>${label}</strong>${about && html` <span class="meta">${about}</span>`}</span></label>`;
  return html`<h2>${t("welcome_companion")}</h2><p class="lead">${t("welcome_companion_lead")}</p>
    ${store.me.value.is_owner && html`<label>${t("welcome_companion_name")}<input value=${name ?? called} maxlength=${character?.longest_name} autocomplete="off" onInput=${({ target }) => give({ name: target.value })} /></label>`}
    <fieldset class="starts"><legend class="visually-hidden">${t("welcome_companion")}</legend>
      ${radio("blank", t("welcome_blank"))}
      ${starts.map((each) => radio(each.name, startName(each), startAbout(each)))}
      ${radio("material", t("welcome_material"))}</fieldset>
    ${chosen === "material" && html`<${Draft} longest=${character?.longest ?? 0} onTake=${take} around=${around} />`}
    ${persona && html`<label>${t("welcome_persona")}<textarea rows="6" value=${persona} onInput=${({ target }) => give({ persona: target.value })}></textarea></label>
      <label>${t("welcome_style")}<textarea rows="3" value=${style} onInput=${({ target }) => give({ style: target.value })}></textarea></label>`}`;
}

/** Words from which it is drafted; each line that comes of it is decided by the person. */
function Draft({ longest, onTake, around }) {
  const text = given.value.material;
  const setText = (material) => give({ material, isDecided: false });
  const [foreseen, setForeseen] = useState(null);
  const [drafted, setDrafted] = useState(null);
  const [trouble, setTrouble] = useState("");
  const [isBusy, setBusy] = useState(false);
  const found = useRef(null);
  useEffect(() => void (drafted && found.current.scrollIntoView({ block: "start" })), [drafted]);
  useEffect(() => {
    setForeseen(null);
    if (!text.trim()) return undefined;
    const timer = setTimeout(() => draftsApi.foresee(text).then(setForeseen, () => setForeseen(null)), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const make = async (withModel) => {
    setBusy(true);
    setTrouble("");
    try {
      setDrafted(await draftsApi.draft(text, withModel));
    } catch (problem) {
      setTrouble(problem.message || t("lost"));
    }
    setBusy(false);
  };
  const take = async ({ target }) => target.files[0] && setText((await target.files[0].text()).slice(0, LONGEST_FILE));
  const likely = foreseen?.likely_cost;
  return html`<div class="draft"><label>${t("welcome_paste")}<textarea rows="6" value=${text} onInput=${({ target }) => setText(target.value)}></textarea></label>
    <p class="choices"><label class="choose"><input class="visually-hidden" type="file" accept=".txt,.md,text/*" onChange=${take} /><span>${t("welcome_choose_file")}</span></label>
      <button disabled=${!text.trim() || text.length > longest || isBusy} onClick=${() => onTake(text.trim())}>${t("welcome_take_all")}</button>
      <button disabled=${!text.trim() || isBusy} onClick=${() => make(false)}>${t("welcome_draft_rules")}</button>
      ${likely && html`<button disabled=${isBusy} onClick=${() => make(true)}>${t("welcome_draft_model", { model: likely.model, cost: formatCost(likely) })}</button>`}</p>
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}
    <div role="status" ref=${found}>${drafted && html`${drafted.is_rough && html`<p class="meta">${t("welcome_rough")}</p>`}
      ${!drafted.suggestions.length && html`<p>${t("welcome_nothing_found")}</p>`}
      <ul role="list">${drafted.suggestions.map((each) => html`<${Suggestion} key=${each.id} given=${each} around=${around} />`)}</ul>`}</div></div>`;
}

function Suggestion({ given, around }) {
  const [words, setWords] = useState(given.text);
  const [verdict, setVerdict] = useState("");
  const decide = async (name) => {
    const decision = name === "accept" && words !== given.text ? { verdict: name, words } : { verdict: name };
    await around(() => settings.decide(given.id, decision));
    setVerdict(name);
    give({ isDecided: true });
  };
  if (verdict === "decline") return null;
  return html`<li class="parcel"><p class="meta">${t(FOR[given.block])}</p>
    ${verdict ? html`<p class="good">${words}</p>` : html`<textarea rows="2" aria-label=${t(FOR[given.block])} value=${words} onInput=${({ target }) => setWords(target.value)}></textarea>
      <p class="choices"><button onClick=${() => decide("accept")}>${t("welcome_accept")}</button>
        <button class="quiet" onClick=${() => decide("decline")}>${t("welcome_decline")}</button></p>`}</li>`;
}
