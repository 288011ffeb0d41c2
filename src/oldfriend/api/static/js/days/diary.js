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

/** Entries of a day or a tag, page by page: `load` reads the first page or the one of a cursor, `replace` and `remove` change
 * one loaded entry. @param {{day?: string, tag?: string}} filter */
function useEntries({ day, tag }) {
  const [page, setPage] = useState(null);
  const [error, setError] = useState("");
  const lastRequest = useRef(0);
  const load = async (cursor) => {
    const request = (lastRequest.current += 1);
    try {
      const loaded = await daysApi.entries({ day, tag, cursor });
      if (request !== lastRequest.current) return;
      setPage((before) => ({ items: [...(cursor ? before.items : []), ...loaded.items], next: loaded.next }));
      setError("");
    } catch (failure) {
      if (request === lastRequest.current) setError(failure.message || t("lost"));
    }
  };
  useEffect(() => void load(), [day, tag, store.rewriteCount.value]);
  const replace = (entry) => setPage((before) => ({ ...before, items: before.items.map((each) => (each.id === entry.id ? entry : each)) }));
  const remove = (id) => setPage((before) => ({ ...before, items: before.items.filter((each) => each.id !== id) }));
  return { page, error, load, replace, remove };
}

export function Diary() {
  const [tag, setTag] = useState("");
  const entries = useEntries({ tag });
  const { page, error, load } = entries;
  const byDay = new Map();
  for (const each of page?.items ?? []) byDay.set(each.day, [...(byDay.get(each.day) ?? []), each]);
  return html`<${Tabs} current="/days/diary" /><header class="view-head"><h2>${t("diary_title")}</h2><p class="lead">${t("diary_lead")}</p></header>
    <${EntryForm} onWritten=${() => (setTag(""), load())} canChooseDay />
    ${tag && html`<p class="choices"><span class="pill">#${tag}</span><button class="quiet" onClick=${() => setTag("")}>${t("diary_all")}</button></p>`}
    ${error && html`<p class="bad" role="alert">${error} <button class="quiet" onClick=${() => load()}>${t("settings_again")}</button></p>`}
    ${page && !page.items.length && !tag && html`<${SampleEntry} />`}
    ${[...byDay].map(([day, items]) => html`<section class="diary-day" key=${day} aria-labelledby=${`diary-${day}`}>
      <h3 id=${`diary-${day}`}><a href=${`/days/${day}`} onClick=${followLink}>${formatDay(atNoon(day))}</a></h3>
      ${items.map((each) => html`<${Entry} key=${each.id} entry=${each} entries=${entries} onTag=${setTag} />`)}</section>`)}
    ${page?.next && html`<p class="choices"><button onClick=${() => load(page.next)}>${t("diary_more")}</button></p>`}`;
}

/** What will stand here: an entry of somebody's, and the other ways to one. */
function SampleEntry() {
  return html`<figure class="sample"><figcaption class="meta">${t("welcome_sample")}</figcaption>
      <div><div class="entry-text"><${PlainText} text=${t("diary_sample")} /></div><p class="meta">${t("diary_sample_tag")}</p></div></figure>
    <p class="empty">${t("diary_none")}</p>`;
}

/** The entries of one day, and a form for more; nothing for a day in the future. @param {{day: string}} props */
export function DiaryOfDay({ day }) {
  const entries = useEntries({ day });
  const { page, error, load } = entries;
  if (day > today()) return null;
  return html`<section class="diary-day"><h3>${t("diary_of_day")}</h3>
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    ${page?.items.map((each) => html`<${Entry} key=${each.id} entry=${each} entries=${entries} />`)}
    ${page && html`<${EntryForm} day=${day} onWritten=${() => load()} />`}</section>`;
}

/** The form for a new entry. @param {{day?: string, canChooseDay?: boolean, onWritten: () => unknown}} props */
function EntryForm({ day, canChooseDay = false, onWritten }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState("");
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (!text.trim() || isBusy) return;
    setBusy(true);
    try {
      await daysApi.addEntry(text, day ?? chosen);
      setText("");
      setChosen("");
      setError("");
      onWritten();
    } catch (failure) {
      setError(failure.message || t("lost"));
    } finally {
      setBusy(false);
    }
  };
  const isOpen = text || canChooseDay;
  return html`<form class="diary-write" onSubmit=${submit}>
    <textarea rows=${isOpen ? 3 : 1} maxlength="100000" value=${text} aria-label=${t(day ? "diary_write_day" : "diary_write")} placeholder=${t(day ? "diary_write_day" : "diary_write")}
      onInput=${({ target }) => setText(target.value)} onKeyDown=${(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit(event)}></textarea>
    ${isOpen && html`<p class="choices">${canChooseDay && html`<label class="meta">${t("memory_day")} <input type="date" max=${today()} value=${chosen || today()} onChange=${({ target }) => setChosen(target.value)} /></label>`}
      <button class="main" disabled=${!text.trim() || isBusy}>${t("diary_keep")}</button></p>`}
    ${error && html`<p class="bad" role="alert">${error}</p>`}</form>`;
}

/** @param {{entry: any, entries: any, onTag?: (tag: string) => void}} props */
function Entry({ entry, entries, onTag }) {
  const [isOpen, setOpen] = useState(false);
  const [error, setError] = useState("");
  const [editButton, returnFocus] = useFocusReturn(isOpen);
  const remove = () => daysApi.deleteEntry(entry.id).then(() => entries.remove(entry.id), (failure) => setError(failure.message || t("lost")));
  const context = [entry.city || entry.place, entry.weather].filter(Boolean);
  const files = Object.values(entry.media).reduce((sum, count) => sum + count, 0);
  const close = () => (returnFocus(), setOpen(false));
  const meta = [formatTime(entry.written_at), ...context, entry.origin === "import" && t("diary_imported"), files > 0 && t("diary_files", { count: files })];
  return html`<article class="entry">
    ${isOpen ? html`<${EditForm} entry=${entry} onDone=${(changed) => (entries.replace(changed), close())} onLeave=${close} />`
      : html`<div class="entry-text"><${PlainText} text=${entry.text} /></div>`}
    <p class="meta choices">${meta.filter(Boolean).join(" · ")}
      ${onTag && entry.tags.map((tag) => html`<button class="quiet" key=${tag} onClick=${() => onTag(tag)}>#${tag}</button>`)}
      ${entry.message && html`<button class="quiet" onClick=${() => showMessage(entry.message)}>${t("days_in_chat")}</button>`}
      ${!isOpen && html`<button class="quiet" ref=${editButton} onClick=${() => setOpen(true)}>${t("diary_edit")}</button>
        <${ConfirmButton} label=${t("diary_remove")} question=${t(entry.origin === "api" ? "diary_forget_ask" : "diary_remove_ask")} onConfirm=${remove} />`}</p>
    ${error && html`<p class="bad" role="alert">${error}</p>`}</article>`;
}

/** @param {{entry: any, onDone: (changed: any) => void, onLeave: () => void}} props */
function EditForm({ entry, onDone, onLeave }) {
  const [text, setText] = useState(entry.text);
  const [error, setError] = useState("");
  const field = useFocus();
  const save = (event) => {
    event.preventDefault();
    daysApi.editEntry(entry.id, text).then(onDone, (failure) => setError(failure.message || t("lost")));
  };
  return html`<form class="diary-write" onSubmit=${save}>
    <textarea ref=${field} rows="4" maxlength="100000" value=${text} aria-label=${t("diary_words")} onInput=${({ target }) => setText(target.value)}
      onKeyDown=${(event) => event.key === "Escape" && onLeave()}></textarea>
    <p class="choices"><button class="main" disabled=${!text.trim()}>${t("diary_keep")}</button><button class="quiet" type="button" onClick=${onLeave}>${t("settings_leave")}</button></p>
    ${error && html`<p class="bad" role="alert">${error}</p>`}</form>`;
}
