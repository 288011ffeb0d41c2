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
import { EXPORT, HELP, PURGE, WHY, listCommands, readCommands } from "./commands.js";
import { openReceipt, isSubmitKey } from "./message.js";
import { record, nameRefusal, findUnsupported } from "./recording.js";

const TO_FORGET = /^\/forget(?:\s+(.+))?$/is;
const TICK_MS = 250;

export function Composer() {
  const field = useRef(null);
  const [text, setText] = useState(outbox.loadTyped);
  const [recording, setRecording] = useState(null);
  const [why, setWhy] = useState(""); // nothing is recorded: which phrase says it
  const waiting = store.waitingFor.value;
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), [recording]);
  useLayoutEffect(() => {
    if (!field.current) return;
    field.current.style.height = "auto";
    const borders = field.current.offsetHeight - field.current.clientHeight;
    field.current.style.height = `${field.current.scrollHeight + borders}px`;
  }, [text, recording]);
  const write = (words) => {
    setText(words);
    outbox.saveTyped(words);
  };
  const send = async (event) => {
    event?.preventDefault();
    if (!text.trim()) return;
    write("");
    const command = text.trim().toLowerCase();
    const toForget = TO_FORGET.exec(text.trim());
    if (toForget) return navigate(`${findAddress("forget")}${toForget[1] ? `/${encodeURIComponent(new URLSearchParams({ about: toForget[1] }).toString())}` : ""}`);
    if (command === PURGE) return navigate(`${findAddress("forget")}/${encodeURIComponent("everything=1")}`);
    if (command === EXPORT) return void downloadExport().catch(tellTrouble);
    if (command === WHY) return explainLast();
    if (command === HELP) return void (store.drawer.value = { kind: "help", opener: field.current });
    if (store.hasLater.value) await store.showNewest().catch(() => {});
    outbox.sendMessage(text);
    field.current.focus();
  };
  const onKeyDown = (event) => {
    if (isSubmitKey(event)) send(event);
  };
  const unable = store.state.value.hears ? findUnsupported() : store.me.value.is_owner ? "voice_off_owner" : "voice_off";
  const speak = async () => {
    setWhy(unable);
    if (unable) return;
    try {
      setRecording(await record());
    } catch (problem) {
      setWhy(nameRefusal(problem));
    }
  };
  if (recording) return html`<${Speaking} recording=${recording} onEnd=${() => setRecording(null)} />`;
  return html`<form class="composer" onSubmit=${send}>
    ${why && html`<p class="remark" role="alert">${inWords(why)}
      ${why === "voice_off_owner" && html` <a href="/settings/voice" onClick=${followLink}>${t("voice_choose")}</a>`} <button type="button" class="quiet" onClick=${() => setWhy("")}>${t("close")}</button></p>`}
    ${text.startsWith("/") && html`<${Commands} text=${text} onChoose=${(command) => (write(command), field.current.focus())} />`}
    <textarea id="say" ref=${field} rows="1" value=${text} placeholder=${t("say_something")} aria-label=${t("say_something")}
      onInput=${({ target }) => write(target.value)} onKeyDown=${onKeyDown}></textarea>
    <button type="button" class=${`round is-plain ${unable ? "is-off" : ""}`} aria-label=${t("voice_begin")} title=${unable ? inWords(unable) : t("voice_begin")} onClick=${speak}><${Microphone} /></button>
    ${waiting && !text.trim()
      ? html`<button type="button" class="round" aria-label=${t("stop")} title=${t("stop")} onClick=${() => api.stop(waiting.id)}><${Square} /></button>`
      : html`<button class="round" aria-label=${t("send")} title=${t("send")} disabled=${!text.trim()}><${Arrow} /></button>`}
  </form>`;
}

/** What can be asked for by a word behind "/", as far as one has written it. */
function Commands({ text, onChoose }) {
  useEffect(() => void readCommands(), []);
  const written = text.toLowerCase();
  const known = listCommands().filter(([command]) => command.startsWith(written) && command !== written);
  if (!known.length) return null;
  return html`<ul class="commands" aria-label=${t("commands")}>${known.map(([command, told]) => html`<li key=${command}>
    <button type="button" onClick=${() => onChoose(command)}><b>${command}</b> <span>${told}</span></button></li>`)}</ul>`;
}

/** Say in the drawer what went wrong. @param {Error} problem */
function tellTrouble(problem) {
  store.drawer.value = { kind: "problem", opener: document.activeElement, text: problem.message || t("lost") };
}

/** Show why the last reply in sight was given, if there is one. */
function explainLast() {
  const reply = store.messages.value.findLast((each) => each.role === "companion" && each.turn);
  if (reply) return openReceipt(reply);
  store.drawer.value = { kind: "problem", opener: document.activeElement, text: t("why_none") };
  return undefined;
}

/** Why nothing is recorded. @param {string} phrase */
const inWords = (phrase) => t(phrase, { address: `http://localhost:${location.port}` });

/** While somebody speaks: how long, and what to do with it. */
function Speaking({ recording, onEnd }) {
  const [seconds, setSeconds] = useState(0);
  const button = useFocus();
  const done = async () => {
    const sound = await recording.end();
    onEnd();
    if (sound.size) outbox.sendRecording(sound);
  };
  useEffect(() => {
    recording.onFull = done;
    const timer = setInterval(() => setSeconds(recording.seconds()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const discard = () => {
    recording.drop();
    onEnd();
  };
  const passed = `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  return html`<div class="composer speaking" role="group" aria-label=${t("voice_recording")} onKeyDown=${({ key }) => key === "Escape" && discard()}>
    <p><span class="dot" aria-hidden="true"></span> ${t("voice_recording")} <time>${passed}</time></p>
    <button type="button" class="round is-plain" aria-label=${t("voice_discard")} title=${t("voice_discard")} onClick=${discard}><${Cross} /></button>
    <button type="button" class="round" ref=${button} aria-label=${t("voice_send")} title=${t("voice_send")} onClick=${done}><${Arrow} /></button>
  </div>`;
}
