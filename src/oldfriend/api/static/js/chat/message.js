// One message, a reply being written, or a message waiting to be sent, with its actions.
import { useState } from "../../vendor/hooks.js";
import { api } from "../api.js";
import { useFocus, useFocusReturn } from "../focus.js";
import { html } from "../html.js";
import { navigate } from "../router.js";
import * as store from "../store.js";
import * as outbox from "../outbox.js";
import { CopyButton } from "./copy_button.js";
import { PlainText, ReplyText } from "./message_text.js";
import { AudioPlayer } from "./audio_player.js";
import { channelName, formatDay, translateServerText, t, formatTime } from "../i18n.js";

const WEB_CHANNEL = "web";
const NOTICE_ROLES = ["system", "marker"]; // roles of messages that nobody wrote
export const SESSION_GAP_MS = 10 * 60_000; // sessions are also split for learning; only after such a pause is a break shown
const VOICE_ERRORS = { 0: "voice_later", 409: "voice_off", 413: "voice_long", 422: "voice_nothing", 503: "voice_later" };

/** Whether a key event submits the text: Enter without Shift, outside of input by an IME. @param {KeyboardEvent} event */
export const isSubmitKey = (event) => event.key === "Enter" && !event.shiftKey && !event.isComposing;

export function ChatMessage({ message, previous }) {
  const isNewDay = !previous || formatDay(previous.at) !== formatDay(message.at);
  const hasPaused = !isNewDay && Date.parse(message.at) - Date.parse(previous.at) >= SESSION_GAP_MS;
  const isNewSession = hasPaused && previous.channel === message.channel && previous.session !== message.session;
  const isMine = message.role === "person";
  const ownerClass = isMine ? "mine" : message.role === "companion" ? "theirs" : "theirs is-others";
  return html`
    ${isNewDay && html`<h2 class="day">${formatDay(message.at)}</h2>`}
    ${isNewSession && html`<hr class="talk-break" aria-label=${t("talk_break")} />`}
    <article id=${`m-${message.id}`} tabindex="-1" class=${`said ${ownerClass} ${store.foundMessage.value === message.id ? "is-found" : ""}`}>
      <${isMine ? OwnMessage : NOTICE_ROLES.includes(message.role) ? Notice : OtherMessage} message=${message} />
    </article>
    ${isMine && html`<${MissingReply} message=${message} />`}
  `;
}

const FOLD_CHARS = 2_500; // longer messages are collapsed

/** Collapses a long text, with a button that expands it. @param {{text: string, children: any}} props */
function Fold({ text, children }) {
  const [isExpanded, setExpanded] = useState(false);
  if (text.length <= FOLD_CHARS) return children;
  return html`<div class=${isExpanded ? "" : "folded"}>${children}</div>
    <p><button class="quiet" aria-expanded=${isExpanded} onClick=${() => setExpanded(!isExpanded)}>${t(isExpanded ? "fold_less" : "fold_more")}</button></p>`;
}

/** A system message or a marker. */
function Notice({ message }) {
  return html`<p class="aside">${message.text} <${Metadata} message=${message} /></p>`;
}

function OtherMessage({ message }) {
  const isCompanion = message.role === "companion";
  const player = message.has_sound && html`<${AudioPlayer} message=${message} label=${t("voice_listen_reply")} />`;
  return html`<${Fold} text=${message.text}>${message.is_markdown ? html`<${ReplyText} text=${message.text}>${player}<//>` : html`<div class="bubble"><${PlainText} text=${message.text} />${player}</div>`}<//>
    <p class="meta"><span class=${isCompanion ? "visually-hidden" : "speaker"}>${message.speaker}<span class="visually-hidden">, </span></span>
      ${message.turn && html`<button class="quiet why" aria-label=${t("why_label")} onClick=${() => openReceipt(message)}>${t("why")}</button>`}
      ${isCompanion && html`<${CopyButton} isOnHover text=${message.text} />`}<${Metadata} message=${message} />
    </p>
    ${message.buttons.length > 0 && html`<${Buttons} message=${message} />`}`;
}

const ANSWER_COMMANDS = ["/yes", "/no"]; // they answer the latest question only

/** The buttons of a message; null once one was pressed or none applies any more. */
function Buttons({ message: { id, buttons } }) {
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState("");
  const all = store.messages.value;
  const isPressed = all.some(({ pressed }) => pressed === id);
  const pressTurns = new Set(all.filter(({ pressed }) => pressed != null).map(({ turn }) => turn)); // replies to a button press ask no question
  const isLast = !store.hasLater.value && all.findLast(({ role, channel, turn }) => role === "companion" && channel === WEB_CHANNEL && !pressTurns.has(turn))?.id === id;
  const offered = buttons.filter(({ command }) => isLast || !ANSWER_COMMANDS.includes(command));
  if (isPressed || !offered.length) return null;
  const press = async (command) => {
    setSending(true);
    setError("");
    try {
      if (store.hasLater.value) await store.showNewest().catch(() => {});
      const sent = await api.pressButton(id, command);
      if (sent) store.addMessage(sent); // null if another page has pressed it: the buttons here stay disabled
    } catch (failure) {
      setError(failure.status ? failure.message : t("lost"));
      setSending(false);
    }
  };
  return html`<p class="presses">${offered.map(({ label, command }) => html`<button key=${command} disabled=${isSending}
      onClick=${() => press(command)}>${label}</button>`)}
    ${error && html`<span class="bad" role="alert">${error}</span>`}</p>`;
}

/** Returns the text of a message; for a button press, the label of that button. */
function displayText({ text, pressed }) {
  const pressedMessage = pressed && store.messages.value.find(({ id }) => id === pressed);
  return (pressedMessage && pressedMessage.buttons.find(({ command }) => command === text)?.label) || text;
}

function OwnMessage({ message }) {
  const [text, setText] = useState(null);
  const [error, setError] = useState("");
  const [button, restoreFocus] = useFocusReturn(text !== null);
  const field = useFocus(text !== null);
  const close = () => {
    restoreFocus();
    setText(null);
  };
  const save = async (event) => {
    event.preventDefault();
    try {
      if (text.trim() && text !== message.text) store.updateMessage(await api.editMessage(message.id, text));
      close();
      setError("");
    } catch (failure) {
      setError(failure.status ? failure.message : t("lost"));
    }
  };
  const resend = () => {
    const words = text.trim();
    close();
    if (words) sendAgain(words);
  };
  const onKeyDown = (event) => {
    if (event.key === "Escape") close();
    if (isSubmitKey(event)) save(event);
  };
  if (text !== null) {
    return html`<form class="editing" onSubmit=${save}>
      <textarea ref=${field} aria-label=${t("edit")} rows="3" value=${text} onInput=${({ target }) => setText(target.value)}
        onKeyDown=${onKeyDown}></textarea>
      ${error && html`<p class="bad" role="alert">${error}</p>`}
      <p class="meta"><button>${t("save")}</button>
        <button type="button" onClick=${resend}>${t("ask_again_so")}</button>
        <button type="button" class="quiet" onClick=${close}>${t("cancel")}</button></p></form>`;
  }
  const isEditable = message.turn && message.channel === WEB_CHANNEL && message.pressed == null;
  return html`<${Fold} text=${message.text}><div class="bubble"><${PlainText} text=${displayText(message)} />${message.has_sound && html`<${AudioPlayer} message=${message} label=${t("voice_listen")} />`}</div><//>
    <p class="meta"><span class="visually-hidden">${t("you")}, </span>
      <${CopyButton} isOnHover text=${message.text} />
      ${isEditable && html`<button class="quiet on-hover" ref=${button} onClick=${() => setText(message.text)}>${t("edit")}</button>
        <button class="quiet on-hover" onClick=${() => sendAgain(message.text)}>${t("ask_again")}</button>`}
      <button class="quiet on-hover" onClick=${() => navigate(`/forget/${message.id}`)}>${t("delete")}</button>
      ${message.version > 1 && html`<span>${t("edited")}</span>`}
      ${message.is_aloud && html`<span>${t("voice_said")}</span>`}<${Metadata} message=${message} /></p>`;
}

function Metadata({ message }) {
  return html`${message.channel !== WEB_CHANNEL && html`<span class="pill channel">${[channelName(message.channel), message.group].filter(Boolean).join(" · ")}</span>`}
    <time class="on-hover" datetime=${message.at}>${formatTime(message.at)}</time>`;
}

/** Why a message has no reply, with a button to try again; null while a reply is expected. */
function MissingReply({ message }) {
  const [error, setError] = useState("");
  const ending = store.endings.value[message.turn];
  if (!ending || ending === "waiting") return null;
  const resend = async () => {
    setError("");
    try {
      await store.retry(message);
    } catch (failure) {
      setError(failure.status ? failure.message : t("lost"));
    }
  };
  const reason = store.failureReasons.value[message.id];
  const text = { stopped: t("stopped"), "set aside": reason ? translateServerText(reason) : t("set_aside"), failed: t("no_answer") }[ending];
  const partial = store.partials.value[message.turn];
  return html`${partial && html`<article class="said theirs is-partial"><${ReplyText} text=${partial} /></article>`}
    <p class="aside ending" role="status">${text}
    <button class="quiet" onClick=${resend}>${t("try_again")}</button>
    ${error && html`<span class="bad" role="alert">${error}</span>`}</p>`;
}

export function DraftReply({ text, remark }) {
  return html`<article class="said theirs" aria-busy="true">
    ${text ? html`<${ReplyText} text=${text}><span class="caret" aria-hidden="true"></span><//>` : html`<p class="aside" role="status">
      ${t("thinking", { name: store.state.value.companion })}</p>`}
    ${remark && !text && html`<p class="aside">${remark}</p>`}
  </article>`;
}

export function PendingMessage({ name, text, sound, why: error, status }) {
  const errorText = sound ? error && t(VOICE_ERRORS[status] ?? "voice_later") : error && t("failed_to_send", { why: error });
  return html`<article class="said mine is-pending"><div class="bubble">${text ?? t(error ? "voice_here" : "voice_hearing")}</div>
    <p class="meta">${errorText
      ? html`<span class="bad" role="alert">${errorText}</span>
          <button class="quiet" onClick=${() => outbox.retry(name)}>${t("try_again")}</button>
          <button class="quiet" onClick=${() => outbox.discard(name)}>${t(sound ? "voice_discard" : "cancel")}</button>`
      : !store.isConnected.value && html`<span>${t("waiting_to_send")}</span>`}</p></article>`;
}

/** Sends the text again as a new message; the old one stays unchanged. @param {string} text */
async function sendAgain(text) {
  if (store.hasLater.value) await store.showNewest().catch(() => {});
  outbox.sendMessage(text);
}

/** Opens the receipt of a reply in the drawer, or the error if it could not be loaded. @param {{id: string}} message */
export async function openReceipt(message) {
  const opener = document.activeElement;
  try {
    store.drawer.value = { kind: "receipt", opener, receipt: await api.loadReceipt(message.id) };
  } catch (failure) {
    store.drawer.value = { kind: "problem", opener, text: failure.status ? failure.message : t("lost") };
  }
}
