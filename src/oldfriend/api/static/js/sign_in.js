// Signing in by a link or a passkey, and again before a new way in is added.
import { useEffect, useRef } from "../vendor/hooks.js";
import { signal } from "../vendor/signals.js";
import { api } from "./api.js";
import { html } from "./html.js";
import { Mark } from "./icons.js";
import * as store from "./store.js";
import { t } from "./i18n.js";

const isNamed = !/^[\d.[\]:]+$/.test(location.hostname); // browsers make and use none at a bare number
export const canMakePasskeys = Boolean(window.PublicKeyCredential?.parseCreationOptionsFromJSON) && isNamed;
export const canUsePasskeys = Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON) && isNamed;

/** Sign in; false where somebody has changed their mind. Whoever else it is, the page is theirs then. */
export async function signWithPasskey() {
  const { options } = await api.askToSign();
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const signed = /** @type {PublicKeyCredential | null} */ (await navigator.credentials.get({ publicKey }).catch(changedMind));
  if (!signed) return false;
  const { id } = await api.signWith(signed.toJSON());
  if (id !== store.me.value?.id) location.reload();
  return true;
}

/** @param {DOMException} error */
function changedMind(error) {
  if (error.name === "NotAllowedError" || error.name === "AbortError") return null;
  throw error;
}

const question = signal(null); // {code, values, decide}: what a link would do, and who hears the answer

/** Sign in by a link, or stay who one is. Any site can lead here with a link of its own: the server says where somebody
 * is to be asked first. A link that was used before may have made the session that is still here.
 * @param {string} link @param {Record<string, any>} [wanted] what was asked, and answered with yes */
export async function signInByLink(link, wanted) {
  try {
    return await api.signIn(link, wanted);
  } catch (problem) {
    if (problem.status === 409) return (await isWanted(problem)) ? signInByLink(link, problem.values) : api.who();
    if (problem.status !== 401) throw problem;
    return api.who();
  }
}

/** @param {{code: string, values: Record<string, any>}} problem @returns {Promise<boolean>} */
async function isWanted({ code, values }) {
  const decided = await new Promise((decide) => {
    question.value = { code, values, decide };
    store.phase.value = "asking";
  });
  store.phase.value = "loading";
  return decided;
}

/** The question whose page it is to be; to stay is what a hasty Enter does. */
export function SignInQuestion() {
  const first = useRef(null);
  useEffect(() => first.current?.focus(), []);
  const { code, values, decide } = question.value;
  const { name, signed_in } = values;
  return html`<main class="alone arriving"><${Mark} />
    <h1>${t(signed_in ? "arriving_instead" : "arriving", { name })}</h1><p>${t(`said_${code}`, values)}</p>
    <p class="choices">${signed_in
      ? html`<button class="primary" ref=${first} onClick=${() => decide(false)}>${t("arriving_stay", { name: signed_in })}</button>
        <button class="goes-on" onClick=${() => decide(true)}>${t("arriving_switch", { name })}</button>`
      : html`<button class="primary goes-on" onClick=${() => decide(true)}>${t("arriving_open", { name })}</button>`}</p></main>`;
}

/** Whose memory it is that is open here. */
export function OwnerLabel() {
  const whose = store.myName.value ? t("whose", { name: store.myName.value }) : t("whose_yours");
  return html`<p class="whose meta" title=${whose}>${whose}</p>`;
}
