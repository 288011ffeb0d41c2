// The two steps of the first run: who is who; which model, and old chats.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { loadSettings } from "../settings/install_settings.js";
import { settingsApi } from "../settings/api.js";
import { ModelsSection } from "../settings/models.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import { Companion } from "./companion.js";

export function PeopleStep({ keep, calm }) {
  const [theirs, mine] = [useRef(null), useRef(null)];
  const [character, setCharacter] = useState(null);
  const [written, setWritten] = useState(null);
  const read = () => settingsApi.character().then(setCharacter, () => setCharacter({ starting: [], blocks: [] }));
  useEffect(() => void read(), []);
  /** Does what changes the same text elsewhere: what was written here first, what came of it then. */
  const around = async (deed) => {
    await mine.current();
    await deed();
    await read();
    setWritten(null);
  };
  keep.current = async () => {
    await theirs.current();
    await mine.current();
  };
  return html`<h1>${t("welcome_both")}</h1><${You} keep=${mine} character=${character} written=${written} onWrite=${setWritten} />
    <${Companion} keep=${theirs} calm=${calm} character=${character} around=${around} />`;
}

function You({ keep, character, written, onWrite }) {
  const [name, setName] = useState(store.myName.value);
  const about = written ?? character?.blocks.find((each) => each.name === "user")?.text ?? "";
  keep.current = async () => {
    if (name.trim() && name.trim() !== store.me.value.name) await store.updateMe({ name: name.trim() });
    if (written?.trim()) await settingsApi.write("user", written);
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
    ${isOwner ? html`<${ModelsSection} just="main" />` : html`<p>${t("welcome_model_owner")}</p>`}
    <h2>${t("welcome_chats")}</h2><p class="lead">${t("welcome_chats_lead")}</p>
    <p><button onClick=${() => leave("/bring")}>${t("welcome_bring")}</button></p>`;
}
