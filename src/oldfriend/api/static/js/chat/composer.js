// The field in which a message is typed or spoken.
import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/hooks.js";
import { api, downloadExport } from "../api.js";
import { useFocus } from "../focus.js";
import { html } from "../html.js";
import { Arrow, Cross, Microphone, Square } from "../icons.js";
import { findAddress, followLink, navigate } from "../router.js";
import * as store from "../store.js";
import * as outbox from "../outbox.js";
import { t } from "../i18n.js";
import { EXPORT, HELP, PURGE, WHY, listCommands, loadCommands } from "./commands.js";
import { openReceipt, isSubmitKey } from "./message.js";
import { record, nameRefusal, findUnsupported } from "./recording.js";

const FORGET_COMMAND = /^\/forget(?:\s+(.+))?$/is;
const TICK_MS = 250;

export function Composer() {
  const field = useRef(null);
  const [text, setText] = useState(outbox.loadTyped);
  const [recording, setRecording] = useState(null);
  const [voiceError, setVoiceError] = useState(""); // i18n key of the reason why nothing is recorded; "" if there is none
  const waiting = store.awaitingReply.value;
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), [recording]);
  useLayoutEffect(() => {
    if (!field.current) return;
    field.current.style.height = "auto";
    const borders = field.current.offsetHeight - field.current.clientHeight;
    field.current.style.height = `${field.current.scrollHeight + borders}px`;
  }, [text, recording]);
  const updateText = (value) => {
    setText(value);
    outbox.saveTyped(value);
  };
  const send = async (event) => {
    event?.preventDefault();
    if (!text.trim()) return;
    updateText("");
    const command = text.trim().toLowerCase();
    const forgetMatch = FORGET_COMMAND.exec(text.trim());
    if (forgetMatch) return navigate(`${findAddress("forget")}${forgetMatch[1] ? `/${encodeURIComponent(new URLSearchParams({ about: forgetMatch[1] }).toString())}` : ""}`);
    if (command === PURGE) return navigate(`${findAddress("forget")}/${encodeURIComponent("everything=1")}`);
    if (command === EXPORT) return void downloadExport().catch(showError);
    if (command === WHY) return explainLastReply();
    if (command === HELP) return void (store.drawer.value = { kind: "help", opener: field.current });
    if (store.hasLater.value) await store.showNewest().catch(() => {});
    outbox.sendMessage(text);
    field.current.focus();
  };
  const onKeyDown = (event) => {
    if (isSubmitKey(event)) send(event);
  };
  const unsupported = store.state.value.hears ? findUnsupported() : store.me.value.is_owner ? "voice_off_owner" : "voice_off";
  const startRecording = async () => {
    setVoiceError(unsupported);
    if (unsupported) return;
    try {
      setRecording(await record());
    } catch (error) {
      setVoiceError(nameRefusal(error));
    }
  };
  if (recording) return html`<${RecordingPanel} recording=${recording} onEnd=${() => setRecording(null)} />`;
  return html`<form class="composer" onSubmit=${send}>
    ${voiceError && html`<p class="remark" role="alert">${translateVoiceError(voiceError)}
      ${voiceError === "voice_off_owner" && html` <a href="/settings/voice" onClick=${followLink}>${t("voice_choose")}</a>`} <button type="button" class="quiet" onClick=${() => setVoiceError("")}>${t("close")}</button></p>`}
    ${text.startsWith("/") && html`<${Commands} text=${text} onChoose=${(command) => (updateText(command), field.current.focus())} />`}
    <textarea id="say" ref=${field} rows="1" value=${text} placeholder=${t("say_something")} aria-label=${t("say_something")}
      onInput=${({ target }) => updateText(target.value)} onKeyDown=${onKeyDown}></textarea>
    <button type="button" class=${`round is-plain ${unsupported ? "is-off" : ""}`} aria-label=${t("voice_begin")} title=${unsupported ? translateVoiceError(unsupported) : t("voice_begin")} onClick=${startRecording}><${Microphone} /></button>
    ${waiting && !text.trim()
      ? html`<button type="button" class="round" aria-label=${t("stop")} title=${t("stop")} onClick=${() => api.stopReply(waiting.id)}><${Square} /></button>`
      : html`<button class="round" aria-label=${t("send")} title=${t("send")} disabled=${!text.trim()}><${Arrow} /></button>`}
  </form>`;
}

/** The commands that start with the typed text. */
function Commands({ text, onChoose }) {
  useEffect(() => void loadCommands(), []);
  const prefix = text.toLowerCase();
  const matches = listCommands().filter(([command]) => command.startsWith(prefix) && command !== prefix);
  if (!matches.length) return null;
  return html`<ul class="commands" aria-label=${t("commands")}>${matches.map(([command, description]) => html`<li key=${command}>
    <button type="button" onClick=${() => onChoose(command)}><b>${command}</b> <span>${description}</span></button></li>`)}</ul>`;
}

/** Shows an error in the drawer. @param {Error} error */
function showError(error) {
  store.drawer.value = { kind: "problem", opener: document.activeElement, text: error.message || t("lost") };
}

/** Opens the receipt of the last loaded reply; shows a message in the drawer if there is none. */
function explainLastReply() {
  const reply = store.messages.value.findLast((each) => each.role === "companion" && each.turn);
  if (reply) return openReceipt(reply);
  store.drawer.value = { kind: "problem", opener: document.activeElement, text: t("why_none") };
  return undefined;
}

/** Translates the reason why nothing is recorded. @param {string} phrase */
const translateVoiceError = (phrase) => t(phrase, { address: `http://localhost:${location.port}` });

/** The composer during a recording: elapsed time, and buttons to discard or send it. */
function RecordingPanel({ recording, onEnd }) {
  const [seconds, setSeconds] = useState(0);
  const button = useFocus();
  const finish = async () => {
    const audio = await recording.end();
    onEnd();
    if (audio.size) outbox.sendRecording(audio);
  };
  useEffect(() => {
    recording.onFull = finish;
    const timer = setInterval(() => setSeconds(recording.seconds()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const discard = () => {
    recording.drop();
    onEnd();
  };
  const elapsed = `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  return html`<div class="composer speaking" role="group" aria-label=${t("voice_recording")} onKeyDown=${({ key }) => key === "Escape" && discard()}>
    <p><span class="dot" aria-hidden="true"></span> ${t("voice_recording")} <time>${elapsed}</time></p>
    <button type="button" class="round is-plain" aria-label=${t("voice_discard")} title=${t("voice_discard")} onClick=${discard}><${Cross} /></button>
    <button type="button" class="round" ref=${button} aria-label=${t("voice_send")} title=${t("voice_send")} onClick=${finish}><${Arrow} /></button>
  </div>`;
}
