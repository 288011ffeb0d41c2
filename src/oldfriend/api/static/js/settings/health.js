// The Oura account: connecting, reading, disconnecting.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { followLink } from "../router.js";
import * as store from "../store.js";
import { formatShortDay, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { CollapsibleSection, Section, ShownOnce, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

export function HealthSection() {
  const [account, loadError, reload, setAccount] = useLoaded(settingsApi.oura);
  const [actionError, isBusy, run] = useAction();
  const [hasConsentAnswer, setConsentAnswer] = useState(false);
  useEffect(() => {
    const query = new URLSearchParams(location.search);
    const [code, state] = [query.get("code"), query.get("state")];
    if (!state) return;
    setConsentAnswer(true);
    history.replaceState(null, "", location.pathname); // the code is valid only once
    if (code) run(async () => (setAccount(await settingsApi.finishOuraConsent(code, state)), showDone(t("health_connected_now"))));
    else run(() => Promise.reject(new Error(t("health_declined"))));
  }, []);
  return html`<${Section} id="health" title=${t("settings_health_data")} lead=${t("settings_health_data_lead")}>
    <p class="hint"><a href="/bring" onClick=${followLink}>${t("place_bring")}</a> · <a href="/days/numbers" onClick=${followLink}>${t("numbers_title")}</a></p>
    <div class="folds"><${CollapsibleSection} id="oura" title="Oura" isOpen=${hasConsentAnswer} isGood=${account?.status === "connected"}
      state=${account && t(account.status === "connected" ? "settings_app_on" : account.status === "refused" ? "settings_app_refused" : "settings_app_off")}>
      ${account ? html`<${Oura} account=${account} reload=${reload} isBusy=${isBusy} run=${run} />` : html`<${Loading} error=${loadError} reload=${reload} />`}</${CollapsibleSection}></div>
    <${ErrorMessage} text=${actionError} /></${Section}>`;
}

function Oura({ account, reload, isBusy, run }) {
  const { status, has_application: hasApplication, read_at: readAt, error } = account;
  const connect = () => run(async () => location.assign((await settingsApi.startOuraConsent()).address));
  const sync = () => run(async () => (await settingsApi.syncOura(), showDone(t("health_reading"))));
  const disconnect = () => run(async () => (await settingsApi.disconnectOura(), await reload(), showDone(t("health_gone"))));
  if (!hasApplication) return store.me.value.is_owner ? html`<${Application} redirect=${account.redirect} register=${account.register} reload=${reload} run=${run} isBusy=${isBusy} />` : html`<p class="empty">${t("health_no_application")}</p>`;
  if (status !== "connected")
    return html`<p class=${status === "refused" ? "bad" : "hint"}>${t(status === "refused" ? "health_refused" : "health_consent")}</p>
      <p class="choices"><button class="main" disabled=${isBusy} onClick=${connect}>${t("health_connect")}</button>
        ${status === "refused" && html`<${ConfirmButton} label=${t("health_disconnect")} question=${t("health_disconnect_ask")} onConfirm=${disconnect} />`}</p>`;
  return html`<p>${t("health_connected")} <span class="meta">${readAt ? t("health_read_at", { when: formatShortDay(readAt) }) : t("health_not_read")}</span></p>
    ${error && html`<p class="bad">${t("health_failed")}</p>`}
    <p class="choices"><button disabled=${isBusy} onClick=${sync}>${t("health_read_now")}</button>
      <${ConfirmButton} label=${t("health_disconnect")} question=${t("health_disconnect_ask")} onConfirm=${disconnect} /></p>`;
}

/** The form in which the owner enters the credentials of an application registered at Oura. */
function Application({ redirect, register, reload, run, isBusy }) {
  const [id, setId] = useState("");
  const [secret, setSecret] = useState("");
  const save = (event) => {
    event.preventDefault();
    run(async () => (await settingsApi.saveOuraApplication(id.trim(), secret.trim()), await reload()));
  };
  return html`<p class="hint">${t("health_register")} <a href=${register} target="_blank" rel="noreferrer noopener">${register}</a></p>
    <${ShownOnce} text=${redirect} label=${t("health_redirect")} />
    <form class="asking" onSubmit=${save}><input value=${id} autocomplete="off" aria-label="Client ID" placeholder="Client ID" maxlength="200" onInput=${({ target }) => setId(target.value)} />
      <input type="password" value=${secret} autocomplete="off" aria-label="Client Secret" placeholder="Client Secret" maxlength="200" onInput=${({ target }) => setSecret(target.value)} />
      <button disabled=${isBusy || !id.trim() || !secret.trim()}>${t("health_save")}</button></form>`;
}
