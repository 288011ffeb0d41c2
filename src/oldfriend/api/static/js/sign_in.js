// Signing in by a link or a passkey, and again before a new way in is added.
import { useEffect, useRef } from "../vendor/hooks.js";
import { signal } from "../vendor/signals.js";
import { api } from "./api.js";
import { html } from "./html.js";
import { Mark } from "./icons.js";
import * as store from "./store.js";
import { t } from "./i18n.js";

const hasHostName = !/^[\d.[\]:]+$/.test(location.hostname); // browsers do not support passkeys at an IP address
export const canMakePasskeys = Boolean(window.PublicKeyCredential?.parseCreationOptionsFromJSON) && hasHostName;
export const canUsePasskeys = Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON) && hasHostName;

/** Signs in with a passkey; returns false if the person cancels. Reloads the page if another person has signed in. */
export async function signWithPasskey() {
  const { options } = await api.createPasskeyChallenge();
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = /** @type {PublicKeyCredential | null} */ (await navigator.credentials.get({ publicKey }).catch(ignoreCancel));
  if (!credential) return false;
  const { id } = await api.signInWithPasskey(credential.toJSON());
  if (id !== store.me.value?.id) location.reload();
  return true;
}

/** @param {DOMException} error */
function ignoreCancel(error) {
  if (error.name === "NotAllowedError" || error.name === "AbortError") return null;
  throw error;
}

const question = signal(null); // {code, values, decide}: the server's question about a link, and the callback for the answer

/** Signs in by a link, or keeps the current session. The server asks for a confirmation (409) where a foreign link
 * could switch accounts. A link that was already used may have created the current session.
 * @param {string} link @param {Record<string, any>} [confirmation] the question of the server, answered with yes */
export async function signInByLink(link, confirmation) {
  try {
    return await api.signIn(link, confirmation);
  } catch (failure) {
    if (failure.status === 409) return (await confirmLink(failure)) ? signInByLink(link, failure.values) : api.getSession();
    if (failure.status !== 401) throw failure;
    return api.getSession();
  }
}

/** @param {{code: string, values: Record<string, any>}} failure @returns {Promise<boolean>} */
async function confirmLink({ code, values }) {
  const isConfirmed = await new Promise((decide) => {
    question.value = { code, values, decide };
    store.phase.value = "asking";
  });
  store.phase.value = "loading";
  return isConfirmed;
}

/** The question which account to use; Enter keeps the current one. */
export function SignInQuestion() {
  const defaultButton = useRef(null);
  useEffect(() => defaultButton.current?.focus(), []);
  const { code, values, decide } = question.value;
  const { name, signed_in } = values;
  return html`<main class="alone arriving"><${Mark} />
    <h1>${t(signed_in ? "arriving_instead" : "arriving", { name })}</h1><p>${t(`said_${code}`, values)}</p>
    <p class="choices">${signed_in
      ? html`<button class="primary" ref=${defaultButton} onClick=${() => decide(false)}>${t("arriving_stay", { name: signed_in })}</button>
        <button class="goes-on" onClick=${() => decide(true)}>${t("arriving_switch", { name })}</button>`
      : html`<button class="primary goes-on" onClick=${() => decide(true)}>${t("arriving_open", { name })}</button>`}</p></main>`;
}

/** Shows whose memory is open. */
export function OwnerLabel() {
  const label = store.myName.value ? t("whose", { name: store.myName.value }) : t("whose_yours");
  return html`<p class="whose meta" title=${label}>${label}</p>`;
}
