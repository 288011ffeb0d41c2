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

const HERE = "web";
const NOTICES = ["system", "marker"]; // what nobody said
export const SESSION_GAP_MS = 10 * 60_000; // a talk is cut for reading, too: only after a pause it begins anew
const UNHEARD = { 0: "voice_later", 409: "voice_off", 413: "voice_long", 422: "voice_nothing", 503: "voice_later" };

/** Whether a key says that what one writes is done; Shift-Enter begins a line. @param {KeyboardEvent} event */
export const isSubmitKey = (event) => event.key === "Enter" && !event.shiftKey && !event.isComposing;

export function ChatMessage({ message, before }) {
  const isNewDay = !before || formatDay(before.at) !== formatDay(message.at);
  const hasPaused = !isNewDay && Date.parse(message.at) - Date.parse(before.at) >= SESSION_GAP_MS;
  const isNewTalk = hasPaused && before.channel === message.channel && before.session !== message.session;
  const isMine = message.role === "person";
  const whose = isMine ? "mine" : message.role === "companion" ? "theirs" : "theirs is-others";
  return html`
    ${isNewDay && html`<h2 class="day">${formatDay(message.at)}</h2>`}
    ${isNewTalk && html`<hr class="talk-break" aria-label=${t("talk_break")} />`}
    <article id=${`m-${message.id}`} tabindex="-1" class=${`said ${whose} ${store.foundMessage.value === message.id ? "is-found" : ""}`}>
      <${isMine ? OwnWords : NOTICES.includes(message.role) ? Notice : Words} message=${message} />
    </article>
    ${isMine && html`<${Ending} message=${message} />`}
  `;
}

const MOST_SHOWN = 2_500; // characters of one message before one asks for more

/** What is long is folded. @param {{text: string, children: any}} given */
function Fold({ text, children }) {
  const [isOpen, open] = useState(false);
  if (text.length <= MOST_SHOWN) return children;
  return html`<div class=${isOpen ? "" : "folded"}>${children}</div>
    <p><button class="quiet" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>${t(isOpen ? "fold_less" : "fold_more")}</button></p>`;
}

/** What stands in the talk though nobody has said it. */
function Notice({ message }) {
  return html`<p class="aside">${message.text} <${Where} message=${message} /></p>`;
}

function Words({ message }) {
  const isCompanion = message.role === "companion";
  const sound = message.has_sound && html`<${AudioPlayer} message=${message} label=${t("voice_listen_reply")} />`;
  return html`<${Fold} text=${message.text}>${message.is_markdown ? html`<${ReplyText} text=${message.text}>${sound}<//>` : html`<div class="bubble"><${PlainText} text=${message.text} />${sound}</div>`}<//>
    <p class="meta"><span class=${isCompanion ? "visually-hidden" : "speaker"}>${message.speaker}<span class="visually-hidden">, </span></span>
      ${message.turn && html`<button class="quiet why" aria-label=${t("why_label")} onClick=${() => openReceipt(message)}>${t("why")}</button>`}
      ${isCompanion && html`<${CopyButton} text=${message.text} />`}<${Where} message=${message} />
    </p>
    ${message.buttons.length > 0 && html`<${Buttons} message=${message} />`}`;
}

const ANSWERS = ["/yes", "/no"]; // they answer what was asked last, and nothing before it

/** What one may say by a press, until it is said or too late. */
function Buttons({ message: { id, buttons } }) {
  const [isSending, send] = useState(false);
  const [why, setWhy] = useState("");
  const all = store.messages.value;
  const isPressed = all.some(({ pressed }) => pressed === id);
  const presses = new Set(all.filter(({ pressed }) => pressed != null).map(({ turn }) => turn)); // their replies ask nothing
  const isLast = !store.hasLater.value && all.findLast(({ role, channel, turn }) => role === "companion" && channel === HERE && !presses.has(turn))?.id === id;
  const offered = buttons.filter(({ command }) => isLast || !ANSWERS.includes(command));
  if (isPressed || !offered.length) return null;
  const press = async (command) => {
    send(true);
    setWhy("");
    try {
      if (store.hasLater.value) await store.showNewest().catch(() => {});
      const said = await api.press(id, command);
      if (said) store.addMessage(said); // else another page has pressed, and this one sends no more
    } catch (problem) {
      setWhy(problem.status ? problem.message : t("lost"));
      send(false);
    }
  };
  return html`<p class="presses">${offered.map(({ label, command }) => html`<button key=${command} disabled=${isSending}
      onClick=${() => press(command)}>${label}</button>`)}
    ${why && html`<span class="bad" role="alert">${why}</span>`}</p>`;
}

/** What was said by a press reads as its button does. */
function wordsOf({ text, pressed }) {
  const shown = pressed && store.messages.value.find(({ id }) => id === pressed);
  return (shown && shown.buttons.find(({ command }) => command === text)?.label) || text;
}

function OwnWords({ message }) {
  const [text, setText] = useState(null);
  const [why, setWhy] = useState("");
  const [button, comeBack] = useFocusReturn(text !== null);
  const field = useFocus(text !== null);
  const close = () => {
    comeBack();
    setText(null);
  };
  const save = async (event) => {
    event.preventDefault();
    try {
      if (text.trim() && text !== message.text) store.updateMessage(await api.edit(message.id, text));
      close();
      setWhy("");
    } catch (problem) {
      setWhy(problem.status ? problem.message : t("lost"));
    }
  };
  const again = () => {
    const words = text.trim();
    close();
    if (words) askAgain(words);
  };
  const onKeyDown = (event) => {
    if (event.key === "Escape") close();
    if (isSubmitKey(event)) save(event);
  };
  if (text !== null) {
    return html`<form class="editing" onSubmit=${save}>
      <textarea ref=${field} aria-label=${t("edit")} rows="3" value=${text} onInput=${({ target }) => setText(target.value)}
        onKeyDown=${onKeyDown}></textarea>
      ${why && html`<p class="bad" role="alert">${why}</p>`}
      <p class="meta"><button>${t("save")}</button>
        <button type="button" onClick=${again}>${t("ask_again_so")}</button>
        <button type="button" class="quiet" onClick=${close}>${t("cancel")}</button></p></form>`;
  }
  const isHere = message.turn && message.channel === HERE && message.pressed == null;
  return html`<${Fold} text=${message.text}><div class="bubble"><${PlainText} text=${wordsOf(message)} />${message.has_sound && html`<${AudioPlayer} message=${message} label=${t("voice_listen")} />`}</div><//>
    <p class="meta"><span class="visually-hidden">${t("you")}, </span>
      <${CopyButton} text=${message.text} />
      ${isHere && html`<button class="quiet on-hover" ref=${button} onClick=${() => setText(message.text)}>${t("edit")}</button>
        <button class="quiet on-hover" onClick=${() => askAgain(message.text)}>${t("ask_again")}</button>`}
      <button class="quiet on-hover" onClick=${() => navigate(`/forget/${message.id}`)}>${t("delete")}</button>
      ${message.version > 1 && html`<span>${t("edited")}</span>`}
      ${message.is_aloud && html`<span>${t("voice_said")}</span>`}<${Where} message=${message} /></p>`;
}

function Where({ message }) {
  return html`${message.channel !== HERE && html`<span class="pill channel">${channelName(message.channel)}</span>`}
    <time class="on-hover" datetime=${message.at}>${formatTime(message.at)}</time>`;
}

/** Why there is no answer to it, and a way to one. */
function Ending({ message }) {
  const [why, setWhy] = useState("");
  const ending = store.endings.value[message.turn];
  if (!ending || ending === "waiting") return null;
  const again = async () => {
    setWhy("");
    try {
      await store.retry(message);
    } catch (problem) {
      setWhy(problem.status ? problem.message : t("lost"));
    }
  };
  const remark = store.failureReasons.value[message.id];
  const told = { stopped: t("stopped"), "set aside": remark ? translateServerText(remark) : t("set_aside"), failed: t("no_answer") }[ending];
  const partial = store.partials.value[message.turn];
  return html`${partial && html`<article class="said theirs is-partial"><${ReplyText} text=${partial} /></article>`}
    <p class="aside ending" role="status">${told}
    <button class="quiet" onClick=${again}>${t("try_again")}</button>
    ${why && html`<span class="bad" role="alert">${why}</span>`}</p>`;
}

export function DraftReply({ text, remark }) {
  return html`<article class="said theirs" aria-busy="true">
    ${text ? html`<${ReplyText} text=${text}><span class="caret" aria-hidden="true"></span><//>` : html`<p class="aside" role="status">
      ${t("thinking", { name: store.state.value.companion })}</p>`}
    ${remark && !text && html`<p class="aside">${remark}</p>`}
  </article>`;
}

export function PendingMessage({ name, text, sound, why, status }) {
  const told = sound ? why && t(UNHEARD[status] ?? "voice_later") : why && t("failed_to_send", { why });
  return html`<article class="said mine is-pending"><div class="bubble">${text ?? t(why ? "voice_here" : "voice_hearing")}</div>
    <p class="meta">${told
      ? html`<span class="bad" role="alert">${told}</span>
          <button class="quiet" onClick=${() => outbox.retry(name)}>${t("try_again")}</button>
          <button class="quiet" onClick=${() => outbox.discard(name)}>${t(sound ? "voice_discard" : "cancel")}</button>`
      : !store.isConnected.value && html`<span>${t("waiting_to_send")}</span>`}</p></article>`;
}

/** Say the same anew: what was said stays as it was. @param {string} text */
async function askAgain(text) {
  if (store.hasLater.value) await store.showNewest().catch(() => {});
  outbox.sendMessage(text);
}

/** Show why a reply was given. @param {{id: string}} message */
export async function openReceipt(message) {
  const opener = document.activeElement;
  try {
    store.drawer.value = { kind: "receipt", opener, receipt: await api.why(message.id) };
  } catch (problem) {
    store.drawer.value = { kind: "problem", opener, text: problem.status ? problem.message : t("lost") };
  }
}
