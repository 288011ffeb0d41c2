// What is selected to be forgotten: words or a belief named in the address, and more chosen here.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { Finder } from "./finder.js";
import { formatShortDay, t } from "../i18n.js";
import { loadPreview, preview, listImports, isEmptySelection, error, selection, removeFromSelection, changeSelection } from "./selection.js";

const DEBOUNCE_MS = 400;
const MODES = ["ids", "about", "span", "import", "everything"];

/** @param {{keepFocus: (loading: Promise<void>) => void}} props */
export function Chooser({ keepFocus }) {
  const [mode, setMode] = useState(findMode(selection.value));
  useEffect(() => {
    if (findMode(selection.value)) setMode(findMode(selection.value));
  }, [selection.value]);
  const choose = (newMode) => {
    setMode(newMode);
    if (newMode === "ids") changeSelection({});
    else loadPreview(newMode === "everything" ? { everything: true } : {});
  };
  const { messages } = preview.value?.counts ?? { messages: 0 };
  const canForgetOrphans = messages > 0 || (selection.value.orphan && !isEmptySelection(selection.value)); // of messages from which something may have been learned
  const ModeFields = { ids: Finder, about: About, span: Span, import: Import, everything: Everything }[mode];
  return html`<div class="chooser">
    <div class="ways" role="radiogroup" aria-label=${t("forget_chosen")}>${MODES.map((each) => html`<label key=${each}>
      <input type="radio" name="way" checked=${mode === each} onChange=${() => choose(each)} /><span>${t(`forget_way_${each}`)}</span></label>`)}</div>
    ${ModeFields && html`<${ModeFields} keepFocus=${keepFocus} />`}
    ${selection.value.ids?.length > 0 && html`<${SelectedItems} keepFocus=${keepFocus} />`}
    ${canForgetOrphans && html`<label class="orphan"><input type="checkbox" checked=${selection.value.orphan === true}
      onChange=${({ target }) => loadPreview({ ...selection.value, orphan: target.checked })} /><span>${t("forget_orphan")}</span></label>`}
  </div>`;
}

function findMode({ ids, about, since, until, import: batch, everything }) {
  if (about !== undefined) return "about";
  if (since || until) return "span";
  if (batch) return "import";
  if (everything) return "everything";
  return ids?.length ? "ids" : "";
}

/** The messages and beliefs selected by id, each with a button that removes it from the selection.
 * @param {{keepFocus: (loading: Promise<void>) => void}} props */
function SelectedItems({ keepFocus }) {
  const loadedPreview = preview.value;
  if (!loadedPreview && !error.value) return null;
  const itemsById = new Map([...(loadedPreview?.messages ?? []), ...(loadedPreview?.beliefs ?? [])].map((each) => [each.id, each]));
  return html`<ul role="list" class="chosen">${selection.value.ids.map((id) => html`<li key=${id}><${SelectedItem} id=${id} item=${itemsById.get(id)} />${" "}
    <button class="quiet" aria-label=${`${t("forget_not_this")}: ${itemsById.get(id)?.text ?? id}`} onClick=${() => keepFocus(removeFromSelection(id))}>${t("forget_not_this")}</button></li>`)}</ul>`;
}

function SelectedItem({ id, item }) {
  if (!item) return html`<code>${id}</code>`;
  return item.kind ? html`<${KindIcon} kind=${item.kind} /> <span lang=${item.sentence_language}>${item.sentence}</span>` : html`<q>${item.text}</q> <span class="meta">${formatShortDay(item.at)}</span>`;
}

function About() {
  const [name, setName] = useState(selection.value.about ?? "");
  useEffect(() => {
    if (name === (selection.value.about ?? "")) return undefined;
    const timer = setTimeout(() => changeSelection({ about: name }), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [name]);
  return html`<label class="field"><span>${t("forget_about")}</span>
    <input value=${name} onInput=${({ target }) => setName(target.value)} /></label>`;
}

function Span() {
  const { since = "", until = "" } = selection.value;
  const change = (more) => changeSelection({ since, until, ...more });
  return html`<div class="span"><label class="field"><span>${t("forget_since")}</span>
      <input type="date" value=${since} max=${until || undefined} onChange=${({ target }) => change({ since: target.value })} /></label>
    <label class="field"><span>${t("forget_until")}</span>
      <input type="date" value=${until} min=${since || undefined} onChange=${({ target }) => change({ until: target.value })} /></label></div>`;
}

function Import() {
  const [imports, setImports] = useState(null);
  useEffect(() => {
    listImports().then(({ items }) => setImports(items)).catch(() => setImports([]));
  }, []);
  if (imports && !imports.length) return html`<p class="empty">${t("forget_no_import")}</p>`;
  return html`<label class="field"><span>${t("forget_way_import")}</span>
    <select value=${selection.value.import ?? ""} onChange=${({ target }) => changeSelection({ import: Number(target.value) })}>
      <option value="" disabled>${t("forget_which")}</option>
      ${imports?.map((each) => html`<option key=${each.number} value=${each.number}>${each.number} · ${each.file} · ${formatShortDay(each.at)}</option>`)}
    </select></label>`;
}

function Everything() {
  return html`<p class="warn">${t("forget_all_of_it")}</p>`;
}
