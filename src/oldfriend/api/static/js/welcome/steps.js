// The other steps of the first run: who the person is, where, which model, old chats.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { readChoices } from "../settings/choices.js";
import { house } from "../settings/house.js";
import { ModelsSection } from "../settings/models.js";
import * as store from "../store.js";
import { LANGUAGES, language, speak, t, zonesAfter } from "../words.js";

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function You({ keep }) {
  const [name, setName] = useState(store.me.value.name === "owner" ? "" : store.me.value.name);
  const [about, setAbout] = useState("");
  useEffect(() => void house.character().then(({ blocks }) => setAbout(blocks.find((each) => each.name === "user")?.text ?? ""), () => {}), []);
  keep.current = async () => {
    if (name.trim() && name.trim() !== store.me.value.name) await store.changeMe({ name: name.trim() });
    if (about.trim()) await house.write("user", about);
  };
  return html`<h1>${t("welcome_you")}</h1>
    <label>${t("welcome_name")}<input value=${name} maxlength="60" autocomplete="given-name" onInput=${({ target }) => setName(target.value)} /></label>
    <label>${t("welcome_about_you")}<textarea rows="6" value=${about} onInput=${({ target }) => setAbout(target.value)}></textarea></label>`;
}

export function Place({ keep }) {
  const [zone, setZone] = useState(HERE);
  keep.current = () => store.changeMe({ zone });
  return html`<h1>${t("welcome_place")}</h1><p class="lead">${t("welcome_place_lead")}</p>
    <label>${t("welcome_zone")}<select value=${zone} onChange=${({ target }) => setZone(target.value)}>
      ${zonesAfter(HERE).map((each) => html`<option key=${each}>${each}</option>`)}</select></label>
    <label>${t("welcome_language")}<select value=${language.value} onChange=${({ target }) => speak(target.value)}>
      ${Object.entries(LANGUAGES).map(([code, name]) => html`<option key=${code} value=${code}>${name}</option>`)}</select></label>`;
}

export function Models() {
  const isOwner = store.me.value.is_owner;
  useEffect(() => {
    if (isOwner) readChoices();
  }, []);
  return html`<h1>${t("welcome_model")}</h1><p class="lead">${t("welcome_model_lead")}</p>
    ${isOwner ? html`<${ModelsSection} just="main" />` : html`<p>${t("welcome_model_owner")}</p>`}`;
}

export function Chats({ leave }) {
  return html`<h1>${t("welcome_chats")}</h1><p class="lead">${t("welcome_chats_lead")}</p>
    <p><button onClick=${() => leave("/bring")}>${t("welcome_bring")}</button></p>`;
}
