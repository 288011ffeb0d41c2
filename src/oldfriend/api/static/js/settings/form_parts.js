// Parts of every section of Settings: layout, loading, saving, undo, errors.
import { useEffect, useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { SIGN_IN_AGAIN } from "../api.js";
import { useFocus } from "../focus.js";
import { html } from "../html.js";
import { canUsePasskeys, signWithPasskey } from "../sign_in.js";
import { t } from "../i18n.js";

const SKELETON_MS = 300;
const SHOWN_MS = 12_000;

/** What was just done, and how it is undone: {text, undo}. */
export const doneMessage = signal(null);
let timer = 0;

/** Say what was done. @param {string} text @param {(() => unknown) | null} [undo] */
export function showDone(text, undo = null) {
  clearTimeout(timer);
  doneMessage.value = { text, undo };
  timer = setTimeout(() => (doneMessage.value = null), SHOWN_MS);
}

export function DoneMessage() {
  const now = doneMessage.value;
  const undo = async () => {
    doneMessage.value = null;
    try {
      await now.undo();
      showDone(t("settings_undone"));
    } catch (problem) {
      showDone(problem.message || t("settings_unreached"));
    }
  };
  return html`<div class="settings-done" role="status">${now && html`<p><span>${now.text}</span>
    ${now.undo && html`<button onClick=${undo}>${t("settings_undo")}</button>`}</p>`}</div>`;
}

/** @param {{id: string, title: string, lead?: string, children?: unknown}} given */
export function Section({ id, title, lead, children }) {
  return html`<section class="setting" id=${id} aria-labelledby=${`${id}-title`} tabindex="-1">
    <h3 id=${`${id}-title`}>${title}</h3>${lead && html`<p class="lead">${lead}</p>`}${children}</section>`;
}

/** One line that says what holds, and opens what is done about it.
 * @param {{id: string, title: string, state: string | null, isGood?: boolean, isWanted: boolean, children?: unknown}} given */
export function CollapsibleSection({ id, title, state, isGood, isWanted, children }) {
  return html`<details class="fold" id=${id} open=${isWanted}><summary><h4>${title}</h4>
      <span class=${`fold-state ${isGood ? "good" : ""}`}>${state}</span></summary><div class="fold-inside">${children}</div></details>`;
}

/** What the server answers, asked once and again when told to: [answer, problem, again]. @param {() => Promise<any>} ask */
export function useLoaded(ask) {
  const [answer, setAnswer] = useState(null);
  const [problem, setProblem] = useState(null);
  const again = () =>
    ask().then(
      (told) => (setProblem(null), setAnswer(told), told),
      (error) => setProblem(error),
    );
  useEffect(() => void again(), []);
  return [answer, problem, again, setAnswer];
}

/** Until something is there: nothing for a moment, then where it will be. @param {{problem?: Error, again?: () => unknown}} given */
export function Loading({ problem, again }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const late = setTimeout(setLong, SKELETON_MS, true);
    return () => clearTimeout(late);
  }, []);
  if (problem) return html`<p class="bad" role="alert">${problem.message || t("settings_unreached")} <button class="quiet" onClick=${again}>${t("settings_again")}</button></p>`;
  return html`<div class=${`skeleton ${isLong ? "is-long" : ""}`} aria-busy="true"></div>`;
}

/** Something that goes wrong is said beside it: [trouble, isBusy, run]; what takes a fresh sign-in asks for that. */
export function useAction() {
  const [trouble, setTrouble] = useState("");
  const [isBusy, setBusy] = useState(false);
  const run = async (deed) => {
    setTrouble("");
    setBusy(true);
    try {
      return await deed();
    } catch (problem) {
      setTrouble(problem.code === SIGN_IN_AGAIN ? { again: () => run(deed) } : problem.message || t("settings_unreached"));
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return [trouble, isBusy, run];
}

/** @param {{text: string | {again: () => unknown}}} given */
export function ErrorMessage({ text }) {
  if (text && typeof text === "object") return html`<${SignInAgain} again=${text.again} />`;
  return text ? html`<p class="bad" role="alert">${text}</p>` : null;
}

/** Before a new way in is made: sign in once more, then it is made. @param {{again: () => unknown}} given */
function SignInAgain({ again }) {
  const [why, setWhy] = useState("");
  const sign = () => signWithPasskey().then((isSigned) => isSigned && again(), (problem) => setWhy(problem.message));
  return html`<div class="sign-in-again" role="alert"><p>${t("settings_sign_in_again")}</p>
    <p class="choices">${canUsePasskeys && html`<button onClick=${sign}>${t("settings_passkey_sign_in")}</button>`}</p>
    <p>${t("settings_sign_in_link")}</p><pre>oldfriend link</pre>
    <p class="choices"><button onClick=${again}>${t("settings_sign_in_done")}</button></p>
    ${why && html`<p class="bad">${why}</p>`}</div>`;
}

/** A button for what cannot be undone: pressed once it asks, pressed again it does. */
export function ConfirmButton({ label, ask, name, onSure }) {
  const [isAsked, setAsked] = useState(false);
  const yes = useFocus(isAsked);
  if (!isAsked) return html`<button class="quiet" aria-label=${name ? `${label}: ${name}` : null} onClick=${() => setAsked(true)}>${label}</button>`;
  return html`<span class="sure"><span>${ask}</span>
    <button ref=${yes} onClick=${() => (setAsked(false), onSure())}>${label}</button>
    <button class="quiet" onClick=${() => setAsked(false)}>${t("settings_leave")}</button></span>`;
}

/** Something to copy, such as a link that is shown once. @param {{text: string, label: string}} given */
export function ShownOnce({ text, label }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard?.writeText(text).then(() => setCopied(true));
  return html`<div class="shown-once"><p>${label}</p><pre tabindex="0">${text}</pre>
    <button onClick=${copy}>${isCopied ? t("settings_copied") : t("settings_copy")}</button></div>`;
}
