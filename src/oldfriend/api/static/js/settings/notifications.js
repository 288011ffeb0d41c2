// Push notifications of this device.
import { html } from "../html.js";
import { canNotify, unsubscribe, subscribe } from "../app_shell.js";
import { t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

const SHOWN = [["words", "settings_notify_words"], ["hint", "settings_notify_only"]];

/** What holds: the server must send, and this browser must still take it. */
async function readState() {
  const told = await settingsApi.push();
  const worker = await navigator.serviceWorker.getRegistration();
  const isTaken = Notification.permission === "granted" && Boolean(await worker?.pushManager.getSubscription());
  return { ...told, is_on: told.is_on && isTaken };
}

/** Ask the person, then the push service, then have the server send. @param {string} shows */
async function begin(shows) {
  if ((await Notification.requestPermission()) !== "granted") throw new Error(t("settings_notify_denied"));
  const { key } = await settingsApi.pushKey();
  return subscribe(key, shows, settingsApi.notify).catch((problem) => {
    throw problem.status === undefined ? new Error(t("settings_notify_refused")) : problem; // by the push service, not by the server
  });
}

async function end() {
  await settingsApi.notifyNoMore();
  await unsubscribe();
}

export function Notifications() {
  const [told, problem, again, setTold] = useLoaded(readState);
  const [trouble, isBusy, run] = useAction();
  if (!told) return html`<${Loading} problem=${problem} again=${again} />`;
  const put = async (isOn, shows) => setTold(isOn ? await begin(shows) : (await end(), { is_on: false, shows }));
  const set = (isOn, shows) => run(async () => {
    const before = told;
    await put(isOn, shows);
    showDone(t("settings_saved", { what: t("settings_notify") }), () => put(before.is_on, before.shows));
  });
  return html`<div class="choice is-toggle"><label for="notify">${t("settings_notify")}</label>
      <span class="given"><input type="checkbox" role="switch" id="notify" checked=${told.is_on} disabled=${isBusy} aria-describedby="notify-hint" onChange=${({ target }) => set(target.checked, told.shows)} /></span>
      <p class="hint" id="notify-hint">${t("settings_notify_hint")}</p></div>
    ${told.is_on && html`<div class="choice is-choice"><label for="notify-shows">${t("settings_notify_shows")}</label><span class="given">
      <select id="notify-shows" value=${told.shows} disabled=${isBusy} onChange=${({ target }) => set(true, target.value)}>${SHOWN.map(([value, words]) => html`<option key=${value} value=${value}>${t(words)}</option>`)}</select></span></div>`}
    <${ErrorMessage} text=${trouble} />`;
}

/** Where a browser cannot be told anything, why. */
export const NotificationsIfPossible = () => (canNotify ? html`<${Notifications} />` : html`<p class="hint">${t("settings_notify_unable")}</p>`);
