// The two steps of the first run: who is who; which model, and old chats.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { loadSettings } from "../settings/install_settings.js";
import { settingsApi } from "../settings/api.js";
import { ModelsSection } from "../settings/models.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import { Companion } from "./companion.js";

export function PeopleStep({ saveRef, clearError }) {
  const [saveCompanion, saveUser] = [useRef(null), useRef(null)];
  const [character, setCharacter] = useState(null);
  const [written, setWritten] = useState(null);
  const loadCharacter = () => settingsApi.character().then(setCharacter, () => setCharacter({ starting: [], blocks: [] }));
  useEffect(() => void loadCharacter(), []);
  /** Runs an action that changes the same texts on the server: saves the local text first, then reloads the saved texts. */
  const runSynced = async (action) => {
    await saveUser.current();
    await action();
    await loadCharacter();
    setWritten(null);
  };
  saveRef.current = async () => {
    await saveCompanion.current();
    await saveUser.current();
  };
  return html`<h1>${t("welcome_both")}</h1><${UserFields} saveRef=${saveUser} character=${character} written=${written} onWrite=${setWritten} />
    <${Companion} saveRef=${saveCompanion} clearError=${clearError} character=${character} runSynced=${runSynced} />`;
}

function UserFields({ saveRef, character, written, onWrite }) {
  const [name, setName] = useState(store.myName.value);
  const about = written ?? character?.blocks.find((each) => each.name === "user")?.text ?? "";
  saveRef.current = async () => {
    if (name.trim() && name.trim() !== store.me.value.name) await store.updateMe({ name: name.trim() });
    if (written?.trim()) await settingsApi.saveCharacter("user", written);
  };
  return html`<label>${t("welcome_name")}<input value=${name} maxlength="60" autocomplete="given-name" onInput=${({ target }) => setName(target.value)} /></label>
    <label>${t("welcome_about_you")}<textarea rows="3" value=${about} onInput=${({ target }) => onWrite(target.value)}></textarea></label>`;
}

export function ModelStep({ leave }) {
  const isOwner = store.me.value.is_owner;
  useEffect(() => {
    if (isOwner) loadSettings();
  }, []);
  return html`<h1>${t("welcome_model")}</h1><p class="lead">${t("welcome_model_lead")}</p>
    ${isOwner ? html`<${ModelsSection} singleUse="main" />` : html`<p>${t("welcome_model_owner")}</p>`}
    <h2>${t("welcome_chats")}</h2><p class="lead">${t("welcome_chats_lead")}</p>
    <p><button onClick=${() => leave("/bring")}>${t("welcome_bring")}</button></p>`;
}
