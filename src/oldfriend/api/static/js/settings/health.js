// The Oura account: connecting, reading, disconnecting.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { followLink } from "../router.js";
import * as store from "../store.js";
import { formatShortDay, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { CollapsibleSection, Section, ShownOnce, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

export function HealthSection() {
  const [told, problem, again, setTold] = useLoaded(settingsApi.ring);
  const [trouble, isBusy, run] = useAction();
  const [isAnswered, setAnswered] = useState(false);
  useEffect(() => {
    const answer = new URLSearchParams(location.search);
    const [code, state] = [answer.get("code"), answer.get("state")];
    if (!state) return;
    setAnswered(true);
    history.replaceState(null, "", location.pathname); // it is taken once
    if (code) run(async () => (setTold(await settingsApi.connectRing(code, state)), showDone(t("health_connected_now"))));
    else run(() => Promise.reject(new Error(t("health_declined"))));
  }, []);
  return html`<${Section} id="health" title=${t("settings_health_data")} lead=${t("settings_health_data_lead")}>
    <p class="hint"><a href="/bring" onClick=${followLink}>${t("place_bring")}</a> · <a href="/days/numbers" onClick=${followLink}>${t("numbers_title")}</a></p>
    <div class="folds"><${CollapsibleSection} id="oura" title="Oura" isWanted=${isAnswered} isGood=${told?.status === "connected"}
      state=${told && t(told.status === "connected" ? "settings_app_on" : told.status === "refused" ? "settings_app_refused" : "settings_app_off")}>
      ${told ? html`<${Ring} told=${told} again=${again} isBusy=${isBusy} run=${run} />` : html`<${Loading} problem=${problem} again=${again} />`}</${CollapsibleSection}></div>
    <${ErrorMessage} text=${trouble} /></${Section}>`;
}

function Ring({ told, again, isBusy, run }) {
  const { status, has_application: hasApplication, read_at: readAt, error } = told;
  const begin = () => run(async () => location.assign((await settingsApi.askRing()).address));
  const readNow = () => run(async () => (await settingsApi.readRing(), showDone(t("health_reading"))));
  const letGo = () => run(async () => (await settingsApi.leaveRing(), await again(), showDone(t("health_gone"))));
  if (!hasApplication) return store.me.value.is_owner ? html`<${Application} redirect=${told.redirect} register=${told.register} again=${again} run=${run} isBusy=${isBusy} />` : html`<p class="empty">${t("health_no_application")}</p>`;
  if (status !== "connected")
    return html`<p class=${status === "refused" ? "bad" : "hint"}>${t(status === "refused" ? "health_refused" : "health_consent")}</p>
      <p class="choices"><button class="main" disabled=${isBusy} onClick=${begin}>${t("health_connect")}</button>
        ${status === "refused" && html`<${ConfirmButton} label=${t("health_disconnect")} ask=${t("health_disconnect_ask")} onSure=${letGo} />`}</p>`;
  return html`<p>${t("health_connected")} <span class="meta">${readAt ? t("health_read_at", { when: formatShortDay(readAt) }) : t("health_not_read")}</span></p>
    ${error && html`<p class="bad">${t("health_failed")}</p>`}
    <p class="choices"><button disabled=${isBusy} onClick=${readNow}>${t("health_read_now")}</button>
      <${ConfirmButton} label=${t("health_disconnect")} ask=${t("health_disconnect_ask")} onSure=${letGo} /></p>`;
}

/** The owner registers an application at Oura, once, and names it here. */
function Application({ redirect, register, again, run, isBusy }) {
  const [id, setId] = useState("");
  const [secret, setSecret] = useState("");
  const save = (event) => {
    event.preventDefault();
    run(async () => (await settingsApi.nameRingApplication(id.trim(), secret.trim()), await again()));
  };
  return html`<p class="hint">${t("health_register")} <a href=${register} target="_blank" rel="noreferrer noopener">${register}</a></p>
    <${ShownOnce} text=${redirect} label=${t("health_redirect")} />
    <form class="asking" onSubmit=${save}><input value=${id} autocomplete="off" aria-label="Client ID" placeholder="Client ID" maxlength="200" onInput=${({ target }) => setId(target.value)} />
      <input type="password" value=${secret} autocomplete="off" aria-label="Client Secret" placeholder="Client Secret" maxlength="200" onInput=${({ target }) => setSecret(target.value)} />
      <button disabled=${isBusy || !id.trim() || !secret.trim()}>${t("health_save")}</button></form>`;
}
