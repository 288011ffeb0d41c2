// What is selected to be forgotten: words or a belief named in the address, and more chosen here.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { Finder } from "./finder.js";
import { formatShortDay, t } from "../i18n.js";
import { loadPreview, preview, listImports, isEmptySelection, error, selection, removeFromSelection, changeSelection } from "./selection.js";

const TYPING_MS = 400;
const WAYS = ["ids", "about", "span", "import", "everything"];

/** @param {{goOn: (seeing: Promise<void>) => void}} given */
export function Chooser({ goOn }) {
  const [way, setWay] = useState(wayOf(selection.value));
  useEffect(() => {
    if (wayOf(selection.value)) setWay(wayOf(selection.value));
  }, [selection.value]);
  const choose = (chosen) => {
    setWay(chosen);
    if (chosen === "ids") changeSelection({});
    else loadPreview(chosen === "everything" ? { everything: true } : {});
  };
  const { messages } = preview.value?.counts ?? { messages: 0 };
  const hasWords = messages > 0 || (selection.value.orphan && !isEmptySelection(selection.value)); // of which something was learned
  const Inside = { ids: Finder, about: About, span: Span, import: Import, everything: Everything }[way];
  return html`<div class="chooser">
    <div class="ways" role="radiogroup" aria-label=${t("forget_chosen")}>${WAYS.map((each) => html`<label key=${each}>
      <input type="radio" name="way" checked=${way === each} onChange=${() => choose(each)} /><span>${t(`forget_way_${each}`)}</span></label>`)}</div>
    ${Inside && html`<${Inside} goOn=${goOn} />`}
    ${selection.value.ids?.length > 0 && html`<${Named} goOn=${goOn} />`}
    ${hasWords && html`<label class="orphan"><input type="checkbox" checked=${selection.value.orphan === true}
      onChange=${({ target }) => loadPreview({ ...selection.value, orphan: target.checked })} /><span>${t("forget_orphan")}</span></label>`}
  </div>`;
}

function wayOf({ ids, about, since, until, import: batch, everything }) {
  if (about !== undefined) return "about";
  if (since || until) return "span";
  if (batch) return "import";
  if (everything) return "everything";
  return ids?.length ? "ids" : "";
}

/** What was named by its id: as it reads, where it is seen; each can be let go of.
 * @param {{goOn: (seeing: Promise<void>) => void}} given */
function Named({ goOn }) {
  const seen = preview.value;
  if (!seen && !error.value) return null;
  const known = new Map([...(seen?.messages ?? []), ...(seen?.beliefs ?? [])].map((each) => [each.id, each]));
  return html`<ul role="list" class="chosen">${selection.value.ids.map((id) => html`<li key=${id}><${One} id=${id} one=${known.get(id)} />${" "}
    <button class="quiet" aria-label=${`${t("forget_not_this")}: ${known.get(id)?.text ?? id}`} onClick=${() => goOn(removeFromSelection(id))}>${t("forget_not_this")}</button></li>`)}</ul>`;
}

function One({ id, one }) {
  if (!one) return html`<code>${id}</code>`;
  return one.kind ? html`<${KindIcon} kind=${one.kind} /> ${one.sentence}` : html`<q>${one.text}</q> <span class="meta">${formatShortDay(one.at)}</span>`;
}

function About() {
  const [name, setName] = useState(selection.value.about ?? "");
  useEffect(() => {
    if (name === (selection.value.about ?? "")) return undefined;
    const timer = setTimeout(() => changeSelection({ about: name }), TYPING_MS);
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
