// Push notifications of this device.
import { html } from "../html.js";
import { canNotify, unsubscribe, subscribe } from "../app_shell.js";
import { t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

const CONTENTS = [["words", "settings_notify_words"], ["hint", "settings_notify_only"]];

/** The state of notifications: on only if the server sends them and this browser is still subscribed. */
async function readState() {
  const state = await settingsApi.notifications();
  const worker = await navigator.serviceWorker.getRegistration();
  const isSubscribed = Notification.permission === "granted" && Boolean(await worker?.pushManager.getSubscription());
  return { ...state, is_on: state.is_on && isSubscribed };
}

/** Ask for permission, subscribe at the push service, and register the subscription at the server. @param {string} shows */
async function turnOn(shows) {
  if ((await Notification.requestPermission()) !== "granted") throw new Error(t("settings_notify_denied"));
  const { key } = await settingsApi.pushKey();
  return subscribe(key, shows, settingsApi.notify).catch((error) => {
    throw error.status === undefined ? new Error(t("settings_notify_refused")) : error; // an error without a status is the push service's, not the server's
  });
}

async function turnOff() {
  await settingsApi.stopNotifying();
  await unsubscribe();
}

export function Notifications() {
  const [state, loadError, reload, setState] = useLoaded(readState);
  const [actionError, isBusy, run] = useAction();
  if (!state) return html`<${Loading} error=${loadError} reload=${reload} />`;
  const apply = async (isOn, shows) => setState(isOn ? await turnOn(shows) : (await turnOff(), { is_on: false, shows }));
  const set = (isOn, shows) => run(async () => {
    const previous = state;
    await apply(isOn, shows);
    showDone(t("settings_saved", { what: t("settings_notify") }), () => apply(previous.is_on, previous.shows));
  });
  return html`<div class="choice is-toggle"><label for="notify">${t("settings_notify")}</label>
      <span class="given"><input type="checkbox" role="switch" id="notify" checked=${state.is_on} disabled=${isBusy} aria-describedby="notify-hint" onChange=${({ target }) => set(target.checked, state.shows)} /></span>
      <p class="hint" id="notify-hint">${t("settings_notify_hint")}</p></div>
    ${state.is_on && html`<div class="choice is-choice"><label for="notify-shows">${t("settings_notify_shows")}</label><span class="given">
      <select id="notify-shows" value=${state.shows} disabled=${isBusy} onChange=${({ target }) => set(true, target.value)}>${CONTENTS.map(([value, phrase]) => html`<option key=${value} value=${value}>${t(phrase)}</option>`)}</select></span></div>`}
    <${ErrorMessage} text=${actionError} />`;
}

/** The notification settings, or a hint if the browser does not support them. */
export const NotificationsIfPossible = () => (canNotify ? html`<${Notifications} />` : html`<p class="hint">${t("settings_notify_unable")}</p>`);
