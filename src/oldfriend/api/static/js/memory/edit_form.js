// The forms that correct a belief, or merge it with another.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { PRECONDITION_FAILED } from "../api.js";
import { useFocus } from "../focus.js";
import { html } from "../html.js";
import { findKind } from "../kinds.js";
import * as store from "../store.js";
import { formatLocal, t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { merge } from "./decisions.js";
import { memoryApi } from "./api.js";

const DEBOUNCE_MS = 200;
const END_PUNCTUATION = /[\s.!。！]+$/; // punctuation at the end is ignored in comparisons

/** Today as an ISO date, in the person's time zone. */
const today = () => formatLocal(new Date()).slice(0, "2026-12-31".length);

/** The value stated by an edited text, inferred as the server does: what stands in place of the old value, else the old value.
 * @param {{text: string, value: string | null}} belief @param {string} edited */
function inferValue({ text, value }, edited) {
  if (!value || edited.toLowerCase().includes(value.toLowerCase())) return value ?? "";
  const [oldText, newText] = [text.replace(END_PUNCTUATION, ""), edited.replace(END_PUNCTUATION, "")];
  const start = oldText.indexOf(value);
  const [before, after] = [oldText.slice(0, start), oldText.slice(start + value.length)];
  const hasFrame = start >= 0 && newText.length > before.length + after.length && newText.startsWith(before) && newText.endsWith(after);
  return hasFrame ? newText.slice(before.length, newText.length - after.length).trim() : value;
}

/** The form that corrects a belief's text, value and due date. */
export function EditForm({ belief, onDone, reload }) {
  const [text, setText] = useState(belief.text);
  const [value, setValue] = useState(belief.value ?? "");
  const [due, setDue] = useState(belief.due_at?.slice(0, 10) ?? "");
  const [since, setSince] = useState(null); // date from which a new value holds; null: the old one was always wrong
  const [error, setError] = useState("");
  const [etag, setEtag] = useState(belief.etag); // version that the edit is based on
  const field = useFocus();
  const isNewValue = belief.value && value.trim() !== belief.value;
  const save = async (event) => {
    event.preventDefault();
    const changes = {};
    if (text.trim() !== belief.text) changes.text = text.trim();
    if (belief.value && (changes.text || isNewValue)) Object.assign(changes, { text: text.trim(), value: value.trim() });
    if (isNewValue && since) changes.since = since;
    if (findKind(belief.kind).hasDueDate && due !== (belief.due_at?.slice(0, 10) ?? "")) changes.due = due || "none";
    if (!Object.keys(changes).length) return onDone(belief);
    try {
      return onDone(await memoryApi.correct(belief.id, changes, etag));
    } catch (failure) {
      setError(failure.status === PRECONDITION_FAILED ? t("memory_changed_meanwhile") : failure.message || t("lost"));
      return failure.status === PRECONDITION_FAILED && setEtag((await reload())?.etag);
    }
  };
  const onTextInput = (edited) => {
    if (value === inferValue(belief, text)) setValue(inferValue(belief, edited)); // unless the value was edited by hand
    setText(edited);
  };
  const onKeyDown = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onDone(belief);
  };
  return html`<form class="mend" onSubmit=${save} onKeyDown=${onKeyDown}>
    <label>${t("memory_text")}<textarea ref=${field} rows="3" maxlength="500" required value=${text} onInput=${({ target }) => onTextInput(target.value)}></textarea></label>
    ${belief.value && html`<label>${t("memory_value")}<input value=${value} maxlength="1000" required onInput=${({ target }) => setValue(target.value)} /></label>`}
    ${isNewValue && html`<fieldset><legend>${t("memory_before", { value: belief.value })}</legend>
      <label><input type="radio" name="since" checked=${since === null} onChange=${() => setSince(null)} /> ${t("memory_was_wrong")}</label>
      <label><input type="radio" name="since" checked=${since !== null} onChange=${() => setSince(today())} /> ${t("memory_has_changed")}
        ${since !== null && html`<input type="date" aria-label=${t("memory_since_day")} value=${since} max=${today()} required onInput=${({ target }) => setSince(target.value)} />`}</label></fieldset>`}
    ${findKind(belief.kind).hasDueDate && html`<label>${t("memory_due_on")}<input type="date" value=${due} onInput=${({ target }) => setDue(target.value)} /></label>`}
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    <p class="choices"><button class="primary">${t("save")}</button><button type="button" onClick=${() => onDone(belief)}>${t("cancel")}</button></p>
  </form>`;
}

/** The form that searches for a belief or a name to merge, with its question and what it says where nothing is found. */
export function MergeForm({ belief, onDone, question = t("memory_merge_with"), none = t("memory_merge_none") }) {
  const [candidates, setCandidates] = useState([]);
  const field = useFocus();
  const timer = useRef(0);
  const kinds = [belief.kind];
  const search = async (query) => {
    const page = query && (await beliefList.tryAction(() => memoryApi.findSimilar(kinds, query.slice(0, 200))));
    setCandidates(page ? page.items.filter((each) => each.id !== belief.id && !each.ended_at) : []);
  };
  useEffect(() => {
    setCandidates([]);
    search(belief.text);
  }, [store.rewriteCount.value]);
  const onInput = ({ target }) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => search(target.value.trim() || belief.text), DEBOUNCE_MS);
  };
  return html`<div class="mend">
    <label>${question}<input type="search" ref=${field} maxlength="200" onInput=${onInput} /></label>
    <ul class="alike" role="list">${candidates.map((each) => html`<li key=${each.id}><button onClick=${async () => onDone(await merge(belief, each))}>${each.sentence}</button></li>`)}</ul>
    ${!candidates.length && html`<p class="empty">${none}</p>`}
    <p class="choices"><button onClick=${() => onDone(belief)}>${t("cancel")}</button></p>
  </div>`;
}
