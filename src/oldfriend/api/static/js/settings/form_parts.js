// Parts of every section of Settings: layout, loading, saving, undo, errors.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { SIGN_IN_AGAIN } from "../api.js";
import { useFocus } from "../focus.js";
import { html } from "../html.js";
import { canUsePasskeys, signWithPasskey } from "../sign_in.js";
import { t } from "../i18n.js";
import { settingsApi } from "./api.js";

const SKELETON_MS = 300;
const UNDO_MS = 12_000;

/** The message about the last change: {text, undo}; null when hidden. */
export const doneMessage = signal(null);
let timer = 0;

/** Show a message about a change for UNDO_MS, with a button if it can be undone. @param {string} text @param {(() => unknown) | null} [undo] */
export function showDone(text, undo = null) {
  clearTimeout(timer);
  doneMessage.value = { text, undo };
  timer = setTimeout(() => (doneMessage.value = null), UNDO_MS);
}

export function DoneMessage() {
  const message = doneMessage.value;
  const undo = async () => {
    doneMessage.value = null;
    try {
      await message.undo();
      showDone(t("settings_undone"));
    } catch (error) {
      showDone(error.message || t("settings_unreached"));
    }
  };
  return html`<div class="settings-done" role="status">${message && html`<p><span>${message.text}</span>
    ${message.undo && html`<button onClick=${undo}>${t("settings_undo")}</button>`}</p>`}</div>`;
}

/** @param {{id: string, title: string, lead?: string, children?: unknown}} props */
export function Section({ id, title, lead, children }) {
  return html`<section class="setting" id=${id} aria-labelledby=${`${id}-title`} tabindex="-1">
    <h3 id=${`${id}-title`}>${title}</h3>${lead && html`<p class="lead">${lead}</p>`}${children}</section>`;
}

/** A section that is one line with its state until it is opened.
 * @param {{id: string, title: string, state: string | null, isGood?: boolean, isOpen: boolean, children?: unknown}} props */
export function CollapsibleSection({ id, title, state, isGood, isOpen, children }) {
  return html`<details class="fold" id=${id} open=${isOpen}><summary><h4>${title}</h4>
      <span class=${`fold-state ${isGood ? "good" : ""}`}>${state}</span></summary><div class="fold-inside">${children}</div></details>`;
}

/** Load data when the component mounts: [data, error, reload, setData], both null until there is a response. @param {() => Promise<any>} request */
export function useLoaded(request) {
  const [data, setData] = useState(null);
  const [error, setError] = useState(null);
  const reload = () =>
    request().then(
      (loaded) => (setError(null), setData(loaded), loaded),
      (failure) => setError(failure),
    );
  useEffect(() => void reload(), []);
  return [data, error, reload, setData];
}

/** Call a function after the first render whenever a value changes. @param {unknown} value @param {() => unknown} onChange */
export function useChange(value, onChange) {
  const previous = useRef(value);
  useEffect(() => {
    if (previous.current !== value) onChange();
    previous.current = value;
  }, [value]);
}

/** Shown while data loads: nothing for SKELETON_MS, then a skeleton; if loading failed, the error with a button to retry. @param {{error?: Error, reload?: () => unknown}} props */
export function Loading({ error, reload }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(setLong, SKELETON_MS, true);
    return () => clearTimeout(timer);
  }, []);
  if (error) return html`<p class="bad" role="alert">${error.message || t("settings_unreached")} <button class="quiet" onClick=${reload}>${t("settings_again")}</button></p>`;
  return html`<div class=${`skeleton ${isLong ? "is-long" : ""}`} aria-busy="true"></div>`;
}

/** A function that runs an action and keeps its error: [error, isBusy, run]. The error is a text, or {retry} if the person has to sign in again first;
 * `run` returns the action's result, undefined if it failed. */
export function useAction() {
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const run = async (action) => {
    setError("");
    setBusy(true);
    try {
      return await action();
    } catch (failure) {
      setError(failure.code === SIGN_IN_AGAIN ? { retry: () => run(action) } : failure.message || t("settings_unreached"));
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return [error, isBusy, run];
}

/** The error of useAction, if any. @param {{text: string | {retry: () => unknown}}} props */
export function ErrorMessage({ text }) {
  if (text && typeof text === "object") return html`<${SignInAgain} retry=${text.retry} />`;
  return text ? html`<p class="bad" role="alert">${text}</p>` : null;
}

/** Asks for a fresh sign-in, then retries the action that needs it. @param {{retry: () => unknown}} props */
function SignInAgain({ retry }) {
  const [error, setError] = useState("");
  const [passkeys] = useLoaded(settingsApi.passkeys);
  const sign = () => signWithPasskey().then((isSigned) => isSigned && retry(), (failure) => setError(failure.message));
  return html`<div class="sign-in-again" role="alert"><p>${t("settings_sign_in_again")}</p>
    <p class="choices">${canUsePasskeys && passkeys?.items.length > 0 && html`<button onClick=${sign}>${t("settings_passkey_sign_in")}</button>`}</p>
    <p>${t("settings_sign_in_link")}</p><pre>oldfriend link</pre>
    <p class="choices"><button onClick=${retry}>${t("settings_sign_in_done")}</button></p>
    ${error && html`<p class="bad">${error}</p>`}</div>`;
}

/** A button for an action that cannot be undone: it asks for confirmation first. */
export function ConfirmButton({ label, question, name, onConfirm }) {
  const [isAsking, setAsking] = useState(false);
  const confirmButton = useFocus(isAsking);
  if (!isAsking) return html`<button class="quiet" aria-label=${name ? `${label}: ${name}` : null} onClick=${() => setAsking(true)}>${label}</button>`;
  return html`<span class="sure"><span>${question}</span>
    <button ref=${confirmButton} onClick=${() => (setAsking(false), onConfirm())}>${label}</button>
    <button class="quiet" onClick=${() => setAsking(false)}>${t("settings_leave")}</button></span>`;
}

/** A text to copy that is shown only once, such as a link or a token. @param {{text: string, label: string}} props */
export function ShownOnce({ text, label }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard?.writeText(text).then(() => setCopied(true));
  return html`<div class="shown-once"><p>${label}</p><pre tabindex="0">${text}</pre>
    <button onClick=${copy}>${isCopied ? t("settings_copied") : t("settings_copy")}</button></div>`;
}
