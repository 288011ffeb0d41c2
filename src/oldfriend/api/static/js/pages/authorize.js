// Authorize: consent to a program that asks for access.
import { useLayoutEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { Mark } from "../icons.js";
import { settingsApi } from "../settings/api.js";
import { ErrorMessage, useLoaded, useAction, Loading } from "../settings/form_parts.js";
import { OwnerLabel } from "../sign_in.js";
import * as store from "../store.js";
import { t } from "../i18n.js";

const PARAMETERS = ["client_id", "redirect_uri", "response_type", "code_challenge", "code_challenge_method", "scope", "state", "resource"];
const MIN_VIEW_MS = 1000; // clicks in the first second are ignored: they were probably meant for something else (clickjacking)

/** Whether the content has been visible for MIN_VIEW_MS, counted anew when the window gets the focus or becomes visible. @param {unknown} content */
function useViewedLongEnough(content) {
  const [isReady, setReady] = useState(false);
  useLayoutEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const restart = () => {
      clearTimeout(timer);
      setReady(false);
      timer = setTimeout(setReady, MIN_VIEW_MS, true);
    };
    restart();
    addEventListener("focus", restart);
    document.addEventListener("visibilitychange", restart);
    return () => {
      clearTimeout(timer);
      removeEventListener("focus", restart);
      document.removeEventListener("visibilitychange", restart);
    };
  }, [content]);
  return isReady;
}

/** The parameters of the authorization request in the URL; one that occurs twice is ignored. */
function readRequest() {
  const query = new URLSearchParams(location.search);
  const single = PARAMETERS.filter((name) => query.getAll(name).length === 1);
  return Object.fromEntries(single.map((name) => [name, query.get(name)]));
}

export default function Authorize() {
  const [query] = useState(readRequest);
  const isValid = Boolean(query.client_id && query.redirect_uri);
  return html`<div class="first-run consent"><${Mark} />${isValid ? html`<${Consent} query=${query} />` : html`<h1>${t("oauth_none")}</h1><p class="lead">${t("oauth_none_hint")}</p>`}</div>`;
}

/** @param {{query: Record<string, string>}} props */
function Consent({ query }) {
  const [request, loadError, reload] = useLoaded(() => settingsApi.authorizationRequest(query));
  const [actionError, isBusy, run] = useAction();
  const [isRedirecting, setRedirecting] = useState(false);
  const heading = useRef(null);
  useLayoutEffect(() => heading.current?.focus(), [request]);
  const isReady = useViewedLongEnough(request);
  const decide = (allow) => () => isReady && run(async () => {
    const { address } = await settingsApi.decideAuthorization(query, allow);
    setRedirecting(true);
    location.replace(address); // so that going back does not ask again
  });
  if (!request) return html`<${Loading} error=${loadError} reload=${reload} />`;
  const { name, host, redirect, scopes, error } = request;
  if (isRedirecting) return html`<p class="lead" role="status">${t("oauth_going", { name })}</p>`;
  return html`<h1 ref=${heading} tabindex="-1">${t("oauth_title", { name })}</h1>
    <p class="lead">${t("oauth_asks", { name })}</p>
    <p><strong class="consent-host">${host}</strong> <span class="meta">${redirect}</span></p>
    ${store.myName.value && html`<p>${t("oauth_whose", { name: store.myName.value })}</p>`}
    ${error ? html`<p class="bad" role="alert">${t("oauth_broken", { name, error })}</p>
      <p class="choices"><button class="goes-on" disabled=${isBusy} aria-disabled=${!isReady} onClick=${decide("nothing")}>${t("oauth_back", { name })}</button></p>` : html`<ul class="list">
      <li>${t("oauth_read_about")}</li>${scopes.includes("write") && html`<li>${t("oauth_write_about")}</li>`}</ul>
    <p class="hint">${t("oauth_ends")}</p>
    <p class="choices"><button disabled=${isBusy} aria-disabled=${!isReady} onClick=${decide("nothing")}>${t("oauth_refuse")}</button>
      <button disabled=${isBusy} aria-disabled=${!isReady} onClick=${decide("read")}>${t("oauth_read")}</button>
      ${scopes.includes("write") && html`<button disabled=${isBusy} aria-disabled=${!isReady} onClick=${decide("write")}>${t("oauth_write")}</button>`}</p>`}
    <${ErrorMessage} text=${actionError} />`;
}
