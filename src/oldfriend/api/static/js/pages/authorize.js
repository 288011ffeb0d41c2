// Authorize: consent to a program that asks for access.
import { useLayoutEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { Mark } from "../icons.js";
import { settingsApi } from "../settings/api.js";
import { ErrorMessage, useLoaded, useAction, Loading } from "../settings/form_parts.js";
import { OwnerLabel } from "../sign_in.js";
import * as store from "../store.js";
import { t } from "../i18n.js";

const ASKED = ["client_id", "redirect_uri", "response_type", "code_challenge", "code_challenge_method", "scope", "state", "resource"];
const HASTE_MS = 1000; // a click that comes sooner after this is before somebody's eyes was meant for something else

/** Whether somebody has had the time to see what they decide. @param {unknown} drawn */
function useCalm(drawn) {
  const [isCalm, setCalm] = useState(false);
  useLayoutEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const wait = () => {
      clearTimeout(timer);
      setCalm(false);
      timer = setTimeout(setCalm, HASTE_MS, true);
    };
    wait();
    addEventListener("focus", wait);
    document.addEventListener("visibilitychange", wait);
    return () => {
      clearTimeout(timer);
      removeEventListener("focus", wait);
      document.removeEventListener("visibilitychange", wait);
    };
  }, [drawn]);
  return isCalm;
}

/** What stands in the address; a field that is there twice is worth nothing. */
function readRequest() {
  const query = new URLSearchParams(location.search);
  const given = ASKED.filter((name) => query.getAll(name).length === 1);
  return Object.fromEntries(given.map((name) => [name, query.get(name)]));
}

export default function Authorize() {
  const [asked] = useState(readRequest);
  const isAsked = Boolean(asked.client_id && asked.redirect_uri);
  return html`<div class="first-run consent"><${Mark} />${isAsked ? html`<${Asked} asked=${asked} />` : html`<h1>${t("oauth_none")}</h1><p class="lead">${t("oauth_none_hint")}</p>`}</div>`;
}

/** @param {{asked: Record<string, string>}} given */
function Asked({ asked }) {
  const [told, problem, again] = useLoaded(() => settingsApi.whoAsks(asked));
  const [trouble, isBusy, run] = useAction();
  const [isGoing, setGoing] = useState(false);
  const heading = useRef(null);
  useLayoutEffect(() => heading.current?.focus(), [told]);
  const isCalm = useCalm(told);
  const decide = (allow) => () => isCalm && run(async () => {
    const { address } = await settingsApi.letIn(asked, allow);
    setGoing(true);
    location.replace(address); // what was decided is not asked again by going back
  });
  if (!told) return html`<${Loading} problem=${problem} again=${again} />`;
  const { name, host, redirect, scopes, error } = told;
  if (isGoing) return html`<p class="lead" role="status">${t("oauth_going", { name })}</p>`;
  return html`<h1 ref=${heading} tabindex="-1">${t("oauth_title", { name })}</h1>
    <p class="lead">${t("oauth_asks", { name })}</p>
    <p><strong class="consent-host">${host}</strong> <span class="meta">${redirect}</span></p>
    ${store.myName.value && html`<p>${t("oauth_whose", { name: store.myName.value })}</p>`}
    ${error ? html`<p class="bad" role="alert">${t("oauth_broken", { name, error })}</p>
      <p class="choices"><button class="goes-on" disabled=${isBusy} aria-disabled=${!isCalm} onClick=${decide("nothing")}>${t("oauth_back", { name })}</button></p>` : html`<ul class="list">
      <li>${t("oauth_read_about")}</li>${scopes.includes("write") && html`<li>${t("oauth_write_about")}</li>`}</ul>
    <p class="hint">${t("oauth_ends")}</p>
    <p class="choices"><button disabled=${isBusy} aria-disabled=${!isCalm} onClick=${decide("nothing")}>${t("oauth_refuse")}</button>
      <button disabled=${isBusy} aria-disabled=${!isCalm} onClick=${decide("read")}>${t("oauth_read")}</button>
      ${scopes.includes("write") && html`<button disabled=${isBusy} aria-disabled=${!isCalm} onClick=${decide("write")}>${t("oauth_write")}</button>`}</p>`}
    <${ErrorMessage} text=${trouble} />`;
}
