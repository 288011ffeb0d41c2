// The talk: what was said on every channel, what is being said, and where to say something.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { api } from "./api.js";
import { html } from "./html.js";
import { Arrow, Square } from "./icons.js";
import * as store from "./store.js";
import { dayOf, t, timeOf } from "./words.js";

const HERE = "web";
const NEAR_END_PX = 120;
const COVERED = "(max-width: 1080px)"; // what opens lies over the talk
const MOST_PAGES = 40;
const SHOWN_MS = 1600;

export function Chat({ strip }) {
  const list = useRef(null);
  const isAtEnd = useRef(true);
  const said = store.messages.value;
  const drafts = Object.entries(store.drafts.value);
  useLayoutEffect(() => {
    if (isAtEnd.current) list.current.scrollTop = list.current.scrollHeight;
  });
  useEffect(() => {
    const watch = new ResizeObserver(() => {
      if (isAtEnd.current) list.current.scrollTop = list.current.scrollHeight;
    });
    watch.observe(list.current);
    return () => watch.disconnect();
  }, []);
  const onScroll = ({ target }) => {
    isAtEnd.current = target.scrollHeight - target.scrollTop - target.clientHeight < NEAR_END_PX;
  };
  const showEarlier = async () => {
    const height = list.current.scrollHeight;
    await store.loadEarlier();
    requestAnimationFrame(() => (list.current.scrollTop += list.current.scrollHeight - height));
  };
  return html`<main class="chat">
    <div class="talk" ref=${list} onScroll=${onScroll} role="log" aria-label=${t("conversation")} tabindex="0">
      <div class="lines">
        ${store.earlier.value && html`<button class="quiet earlier" onClick=${showEarlier}>${t("earlier")}</button>`}
        ${said.length === 0 && !store.pending.value.length &&
        html`<p class="welcome">${t("welcome", { name: store.state.value.companion })}</p>`}
        ${said.map((message, place) => html`<${Said} key=${message.id} message=${message} before=${said[place - 1]} />`)}
        ${drafts.map(([turn, draft]) => html`<${Draft} key=${turn} ...${draft} />`)}
        ${!drafts.length && store.waitingFor.value &&
        html`<p class="aside" role="status">${t("thinking", { name: store.state.value.companion })}</p>`}
        ${store.pending.value.map((each) => html`<${Pending} key=${each.key} name=${each.key} text=${each.text} why=${each.why} />`)}
      </div>
    </div>
    ${strip}
    <${Composer} />
  </main>`;
}

function Said({ message, before }) {
  const isNewDay = !before || dayOf(before.at) !== dayOf(message.at);
  const isNewTalk = !isNewDay && before.channel === message.channel && before.session !== message.session;
  const isMine = message.role === "person";
  const why = store.ended.value[message.turn] ?? store.ended.value[message.id];
  return html`
    ${isNewDay && html`<h2 class="day">${dayOf(message.at)}</h2>`}
    ${isNewTalk && html`<hr class="talk-break" />`}
    <article id=${`m-${message.id}`} class=${`said ${isMine ? "mine" : "theirs"}`}>
      ${isMine ? html`<${OwnWords} message=${message} />` : html`<${Words} message=${message} />`}
    </article>
    ${isMine && why && html`<p class="aside">${why === "stopped" ? t("stopped") : why}</p>`}
  `;
}

function Words({ message }) {
  return html`<div class="bubble">${message.text}</div>
    <p class="meta"><span class="visually-hidden">${message.speaker}, </span><${Where} message=${message} />
      ${message.turn && html`<button class="quiet" aria-label=${t("why_label")} onClick=${() => explain(message)}>${t("why")}</button>`}
    </p>`;
}

function OwnWords({ message }) {
  const [text, setText] = useState(null);
  const save = async (event) => {
    event.preventDefault();
    if (text.trim() && text !== message.text) store.place(await api.edit(message.id, text));
    setText(null);
  };
  if (text !== null) {
    return html`<form class="editing" onSubmit=${save}>
      <textarea aria-label=${t("edit")} rows="3" value=${text} onInput=${({ target }) => setText(target.value)}
        onKeyDown=${({ key }) => key === "Escape" && setText(null)}></textarea>
      <p class="meta"><button>${t("save")}</button>
        <button type="button" class="quiet" onClick=${() => setText(null)}>${t("cancel")}</button></p></form>`;
  }
  return html`<div class="bubble">${message.text}</div>
    <p class="meta"><span class="visually-hidden">${t("you")}, </span>
      ${message.turn && message.channel === HERE && html`<button class="quiet on-hover" onClick=${() => setText(message.text)}>${t("edit")}</button>`}
      ${message.version > 1 && html`<span>${t("edited")}</span>`}<${Where} message=${message} /></p>`;
}

function Where({ message }) {
  return html`${message.channel !== HERE && html`<span class="pill">${message.channel}</span>`}
    <time datetime=${message.at}>${timeOf(message.at)}</time>`;
}

function Draft({ text, remark }) {
  return html`<article class="said theirs" aria-busy="true">
    ${text ? html`<div class="bubble">${text}<span class="caret" aria-hidden="true"></span></div>` : html`<p class="aside" role="status">
      ${t("thinking", { name: store.state.value.companion })}</p>`}
    ${remark && !text && html`<p class="aside">${remark}</p>`}
  </article>`;
}

function Pending({ name, text, why }) {
  return html`<article class="said mine is-pending"><div class="bubble">${text}</div>
    <p class="meta">${why
      ? html`<span class="bad">${t("failed_to_send", { why })}</span>
          <button class="quiet" onClick=${() => store.retryPending(name)}>${t("try_again")}</button>
          <button class="quiet" onClick=${() => store.dropPending(name)}>${t("cancel")}</button>`
      : !store.isConnected.value && html`<span>${t("waiting_to_send")}</span>`}</p></article>`;
}

function Composer() {
  const field = useRef(null);
  const [text, setText] = useState(() => store.kept("typed", ""));
  const waiting = store.waitingFor.value;
  useEffect(() => field.current.focus({ preventScroll: true }), []);
  useLayoutEffect(() => {
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [text]);
  const write = (words) => {
    setText(words);
    localStorage.setItem("typed", JSON.stringify(words));
  };
  const send = (event) => {
    event?.preventDefault();
    if (!text.trim()) return;
    store.say(text);
    write("");
    field.current.focus();
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  return html`<form class="composer" onSubmit=${send}>
    <textarea id="say" ref=${field} rows="1" value=${text} placeholder=${t("say_something")} aria-label=${t("say_something")}
      onInput=${({ target }) => write(target.value)} onKeyDown=${onKeyDown}></textarea>
    ${waiting && !text.trim()
      ? html`<button type="button" class="round" aria-label=${t("stop")} title=${t("stop")} onClick=${() => api.stop(waiting.id)}><${Square} /></button>`
      : html`<button class="round" aria-label=${t("send")} title=${t("send")} disabled=${!text.trim()}><${Arrow} /></button>`}
  </form>`;
}

async function explain(message) {
  const opener = document.activeElement;
  try {
    store.drawer.value = { kind: "receipt", opener, receipt: await api.why(message.id) };
  } catch (problem) {
    store.drawer.value = { kind: "problem", opener, text: problem.message };
  }
}

/** Bring words before the eyes, as far back as they are. @param {string} id */
export async function showWords(id) {
  if (matchMedia(COVERED).matches) store.drawer.value = null;
  store.isTimelineOpen.value = false;
  const isThere = () => store.messages.value.some((each) => each.id === id);
  for (let pages = 0; !isThere() && store.earlier.value && pages < MOST_PAGES; pages++) await store.loadEarlier();
  requestAnimationFrame(() => {
    const found = document.getElementById(`m-${id}`);
    found?.scrollIntoView({ block: "center" });
    found?.animate([{ background: "var(--accent-soft)" }, { background: "transparent" }], SHOWN_MS);
  });
}
