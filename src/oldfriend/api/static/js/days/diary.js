// The diary: a person's own entries by day, to be written, changed and deleted.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { showMessage } from "../chat.js";
import { PlainText } from "../chat/message_text.js";
import { useFocus, useFocusReturn } from "../focus.js";
import { html } from "../html.js";
import { followLink } from "../router.js";
import { ConfirmButton } from "../settings/form_parts.js";
import * as store from "../store.js";
import { formatDay, t, formatTime } from "../i18n.js";
import { daysApi } from "./api.js";
import { atNoon, today, Tabs } from "./tabs.js";

/** Entries as they were read, what went wrong, and how they are read again. @param {{day?: string, tag?: string}} wanted */
function useEntries({ day, tag }) {
  const [page, setPage] = useState(null);
  const [trouble, setTrouble] = useState("");
  const newest = useRef(0);
  const read = async (cursor) => {
    const mine = (newest.current += 1);
    try {
      const more = await daysApi.entries({ day, tag, cursor });
      if (mine !== newest.current) return;
      setPage((before) => ({ items: [...(cursor ? before.items : []), ...more.items], next: more.next }));
      setTrouble("");
    } catch (problem) {
      if (mine === newest.current) setTrouble(problem.message || t("lost"));
    }
  };
  useEffect(() => void read(), [day, tag, store.rewritten.value]);
  const put = (entry) => setPage((before) => ({ ...before, items: before.items.map((each) => (each.id === entry.id ? entry : each)) }));
  const drop = (id) => setPage((before) => ({ ...before, items: before.items.filter((each) => each.id !== id) }));
  return { page, trouble, read, put, drop };
}

export function Diary() {
  const [tag, setTag] = useState("");
  const entries = useEntries({ tag });
  const { page, trouble, read } = entries;
  const byDay = new Map();
  for (const each of page?.items ?? []) byDay.set(each.day, [...(byDay.get(each.day) ?? []), each]);
  return html`<${Tabs} at="/days/diary" /><header class="view-head"><h2>${t("diary_title")}</h2><p class="lead">${t("diary_lead")}</p></header>
    <${Write} onWritten=${() => (setTag(""), read())} canChooseDay />
    ${tag && html`<p class="choices"><span class="pill">#${tag}</span><button class="quiet" onClick=${() => setTag("")}>${t("diary_all")}</button></p>`}
    ${trouble && html`<p class="bad" role="alert">${trouble} <button class="quiet" onClick=${() => read()}>${t("settings_again")}</button></p>`}
    ${page && !page.items.length && html`<p class="empty">${t("diary_none")}</p>`}
    ${[...byDay].map(([day, items]) => html`<section class="diary-day" key=${day} aria-labelledby=${`diary-${day}`}>
      <h3 id=${`diary-${day}`}><a href=${`/days/${day}`} onClick=${followLink}>${formatDay(atNoon(day))}</a></h3>
      ${items.map((each) => html`<${Entry} key=${each.id} entry=${each} entries=${entries} onTag=${setTag} />`)}</section>`)}
    ${page?.next && html`<p class="choices"><button onClick=${() => read(page.next)}>${t("diary_more")}</button></p>`}`;
}

/** What was written on one day, and room for more. @param {{day: string}} given */
export function DiaryOfDay({ day }) {
  const entries = useEntries({ day });
  const { page, trouble, read } = entries;
  if (day > today()) return null;
  return html`<section class="diary-day"><h3>${t("diary_of_day")}</h3>
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}
    ${page?.items.map((each) => html`<${Entry} key=${each.id} entry=${each} entries=${entries} />`)}
    ${page && html`<${Write} day=${day} onWritten=${() => read()} />`}</section>`;
}

/** A few lines of one's own. @param {{day?: string, canChooseDay?: boolean, onWritten: () => unknown}} given */
function Write({ day, canChooseDay = false, onWritten }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState("");
  const [trouble, setTrouble] = useState("");
  const [isBusy, setBusy] = useState(false);
  const write = async (event) => {
    event.preventDefault();
    if (!text.trim() || isBusy) return;
    setBusy(true);
    try {
      await daysApi.write(text, day ?? chosen);
      setText("");
      setChosen("");
      setTrouble("");
      onWritten();
    } catch (problem) {
      setTrouble(problem.message || t("lost"));
    } finally {
      setBusy(false);
    }
  };
  const isOpen = text || canChooseDay;
  return html`<form class="diary-write" onSubmit=${write}>
    <textarea rows=${isOpen ? 3 : 1} maxlength="100000" value=${text} aria-label=${t(day ? "diary_write_day" : "diary_write")} placeholder=${t(day ? "diary_write_day" : "diary_write")}
      onInput=${({ target }) => setText(target.value)} onKeyDown=${(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && write(event)}></textarea>
    ${isOpen && html`<p class="choices">${canChooseDay && html`<label class="meta">${t("memory_day")} <input type="date" max=${today()} value=${chosen || today()} onChange=${({ target }) => setChosen(target.value)} /></label>`}
      <button class="main" disabled=${!text.trim() || isBusy}>${t("diary_keep")}</button></p>`}
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}</form>`;
}

/** @param {{entry: any, entries: any, onTag?: (tag: string) => void}} given */
function Entry({ entry, entries, onTag }) {
  const [isOpen, setOpen] = useState(false);
  const [trouble, setTrouble] = useState("");
  const [edit, comeBack] = useFocusReturn(isOpen);
  const remove = () => daysApi.remove(entry.id).then(() => entries.drop(entry.id), (problem) => setTrouble(problem.message || t("lost")));
  const where = [entry.city || entry.place, entry.weather].filter(Boolean);
  const files = Object.values(entry.media).reduce((sum, count) => sum + count, 0);
  const close = () => (comeBack(), setOpen(false));
  const meta = [formatTime(entry.written_at), ...where, entry.origin === "import" && t("diary_imported"), files > 0 && t("diary_files", { count: files })];
  return html`<article class="entry">
    ${isOpen ? html`<${Rewrite} entry=${entry} onDone=${(changed) => (entries.put(changed), close())} onLeave=${close} />`
      : html`<div class="entry-text"><${PlainText} text=${entry.text} /></div>`}
    <p class="meta choices">${meta.filter(Boolean).join(" · ")}
      ${onTag && entry.tags.map((tag) => html`<button class="quiet" key=${tag} onClick=${() => onTag(tag)}>#${tag}</button>`)}
      ${entry.message && html`<button class="quiet" onClick=${() => showMessage(entry.message)}>${t("days_in_chat")}</button>`}
      ${!isOpen && html`<button class="quiet" ref=${edit} onClick=${() => setOpen(true)}>${t("diary_edit")}</button>
        <${ConfirmButton} label=${t("diary_remove")} ask=${t(entry.origin === "api" ? "diary_forget_ask" : "diary_remove_ask")} onSure=${remove} />`}</p>
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}</article>`;
}

/** @param {{entry: any, onDone: (changed: any) => void, onLeave: () => void}} given */
function Rewrite({ entry, onDone, onLeave }) {
  const [text, setText] = useState(entry.text);
  const [trouble, setTrouble] = useState("");
  const field = useFocus();
  const save = (event) => {
    event.preventDefault();
    daysApi.rewrite(entry.id, text).then(onDone, (problem) => setTrouble(problem.message || t("lost")));
  };
  return html`<form class="diary-write" onSubmit=${save}>
    <textarea ref=${field} rows="4" maxlength="100000" value=${text} aria-label=${t("diary_words")} onInput=${({ target }) => setText(target.value)}
      onKeyDown=${(event) => event.key === "Escape" && onLeave()}></textarea>
    <p class="choices"><button class="main" disabled=${!text.trim()}>${t("diary_keep")}</button><button class="quiet" type="button" onClick=${onLeave}>${t("settings_leave")}</button></p>
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}</form>`;
}
