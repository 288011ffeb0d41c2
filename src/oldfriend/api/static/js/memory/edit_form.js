// The forms that correct a belief, or merge it with another.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { PRECONDITION_FAILED } from "../api.js";
import { useFocus } from "../focus.js";
import { html } from "../html.js";
import { findKind } from "../kinds.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { merge } from "./decisions.js";
import { memoryApi } from "./api.js";

const TYPING_MS = 200;
const STOPS = /[\s.!。！]+$/; // may end a sentence or be left out

/** The day that it is here. */
const today = () => new Date().toLocaleDateString("sv");

/** Which value other words give, as the server finds it: the old one, unless another stands where that did.
 * @param {{text: string, value: string | null}} belief @param {string} words */
function valueIn({ text, value }, words) {
  if (!value || words.toLowerCase().includes(value.toLowerCase())) return value ?? "";
  const [told, said] = [text.replace(STOPS, ""), words.replace(STOPS, "")];
  const at = told.indexOf(value);
  const [before, after] = [told.slice(0, at), told.slice(at + value.length)];
  const hasFrame = at >= 0 && said.length > before.length + after.length && said.startsWith(before) && said.endsWith(after);
  return hasFrame ? said.slice(before.length, said.length - after.length).trim() : value;
}

/** Say how it is. */
export function EditForm({ belief, after, again }) {
  const [text, setText] = useState(belief.text);
  const [value, setValue] = useState(belief.value ?? "");
  const [due, setDue] = useState(belief.due_at?.slice(0, 10) ?? "");
  const [since, setSince] = useState(null); // null: it was a mistake
  const [why, setWhy] = useState("");
  const [seen, setSeen] = useState(belief.etag); // what one looked at when one began, whatever is decided meanwhile
  const field = useFocus();
  const isOther = belief.value && value.trim() !== belief.value;
  const save = async (event) => {
    event.preventDefault();
    const corrected = {};
    if (text.trim() !== belief.text) corrected.text = text.trim();
    if (belief.value && (corrected.text || isOther)) Object.assign(corrected, { text: text.trim(), value: value.trim() });
    if (isOther && since) corrected.since = since;
    if (findKind(belief.kind).hasDueDate && due !== (belief.due_at?.slice(0, 10) ?? "")) corrected.due = due || "none";
    if (!Object.keys(corrected).length) return after(belief);
    try {
      return after(await memoryApi.putRight(belief.id, corrected, seen));
    } catch (problem) {
      setWhy(problem.status === PRECONDITION_FAILED ? t("memory_changed_meanwhile") : problem.message || t("lost"));
      return problem.status === PRECONDITION_FAILED && setSeen((await again())?.etag);
    }
  };
  const rewrite = (words) => {
    if (value === valueIn(belief, text)) setValue(valueIn(belief, words)); // as long as nobody has written another
    setText(words);
  };
  const onKeyDown = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    after(belief);
  };
  return html`<form class="mend" onSubmit=${save} onKeyDown=${onKeyDown}>
    <label>${t("memory_text")}<textarea ref=${field} rows="3" maxlength="500" required value=${text} onInput=${({ target }) => rewrite(target.value)}></textarea></label>
    ${belief.value && html`<label>${t("memory_value")}<input value=${value} maxlength="1000" required onInput=${({ target }) => setValue(target.value)} /></label>`}
    ${isOther && html`<fieldset><legend>${t("memory_before", { value: belief.value })}</legend>
      <label><input type="radio" name="since" checked=${since === null} onChange=${() => setSince(null)} /> ${t("memory_was_wrong")}</label>
      <label><input type="radio" name="since" checked=${since !== null} onChange=${() => setSince(today())} /> ${t("memory_has_changed")}
        ${since !== null && html`<input type="date" aria-label=${t("memory_since_day")} value=${since} max=${today()} required onInput=${({ target }) => setSince(target.value)} />`}</label></fieldset>`}
    ${findKind(belief.kind).hasDueDate && html`<label>${t("memory_due_on")}<input type="date" value=${due} onInput=${({ target }) => setDue(target.value)} /></label>`}
    ${why && html`<p class="bad" role="alert">${why}</p>`}
    <p class="choices"><button class="primary">${t("save")}</button><button type="button" onClick=${() => after(belief)}>${t("cancel")}</button></p>
  </form>`;
}

/** Find what says the same. */
export function MergeForm({ belief, after }) {
  const [found, setFound] = useState([]);
  const field = useFocus();
  const timer = useRef(0);
  const kinds = [belief.kind];
  const look = async (words) => {
    const page = words && (await beliefList.tryAction(() => memoryApi.alike(kinds, words.slice(0, 200))));
    setFound(page ? page.items.filter((each) => each.id !== belief.id && !each.ended_at) : []);
  };
  useEffect(() => {
    setFound([]);
    look(belief.text);
  }, [store.rewritten.value]);
  const onInput = ({ target }) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => look(target.value.trim() || belief.text), TYPING_MS);
  };
  return html`<div class="mend">
    <label>${t("memory_merge_with")}<input type="search" ref=${field} maxlength="200" onInput=${onInput} /></label>
    <ul class="alike" role="list">${found.map((each) => html`<li key=${each.id}><button onClick=${async () => after(await merge(belief, each))}>${each.sentence}</button></li>`)}</ul>
    ${!found.length && html`<p class="empty">${t("memory_merge_none")}</p>`}
    <p class="choices"><button onClick=${() => after(belief)}>${t("cancel")}</button></p>
  </div>`;
}
