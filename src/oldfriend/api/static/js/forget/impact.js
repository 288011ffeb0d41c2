// The preview of a deletion: what goes, what is rewritten, what stays, who has received it.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { followLink, navigate } from "../router.js";
import { formatShortDay, t } from "../i18n.js";
import { forget, preview, isBusy, addToSelection } from "./selection.js";

const MAX_SHOWN = 8;
const CHARACTER_SETTINGS = "/settings/character"; // where the person edits these texts
const FOLD_CHARS = 240; // longer texts are collapsed

/** @param {{keepFocus: (loading: Promise<void>) => void}} props */
export function Impact({ keepFocus }) {
  const impact = preview.value;
  const forgotten = impact.beliefs.filter((each) => !each.is_learned_anew);
  const relearned = impact.beliefs.filter((each) => each.is_learned_anew);
  const { messages, memories, entities, summaries } = impact.counts;
  const count = messages + memories + entities + summaries;
  const forgetSelection = async () => {
    const pathBefore = location.pathname;
    if ((await forget()) && location.pathname === pathBefore) navigate("/forget/proof"); // otherwise the person has left this page; the proof is linked under Forget
  };
  if (!count && !impact.orphans.length) return html`<p class="empty">${t("forget_nothing")}</p>`;
  return html`<div class="follows">
    <${ImpactSection} title=${t("forget_messages", { count: messages })} of=${impact.messages} total=${messages} />
    <${ImpactSection} title=${t(messages ? "forget_beliefs" : "forget_beliefs_alone", { count: forgotten.length })} of=${forgotten} />
    <${ImpactSection} title=${t("forget_anew")} of=${relearned} />
    <${ImpactSection} title=${t("forget_replies", { count: impact.counts.replies })} of=${impact.replies} total=${impact.counts.replies} />
    <${ImpactSection} title=${t("forget_records", { count: impact.records.length })} of=${impact.records} />
    <${ImpactSection} title=${t("forget_keep")} of=${impact.keep} />
    <${ImpactSection} title=${t("forget_orphans")} of=${impact.orphans} />
    <${ImpactSection} title=${t("forget_read_from")} of=${impact.read_from} keepFocus=${keepFocus} />
    <${ImpactSection} title=${t("forget_beside")} of=${impact.beside} keepFocus=${keepFocus} />
    <${ImpactSection} title=${t("forget_near")} of=${impact.near} keepFocus=${keepFocus} />
    <${WrittenLines} lines=${impact.written} />
    ${impact.namesakes.length > 0 && html`<p>${t("forget_namesakes", { names: impact.namesakes.join(", ") })}</p>`}
    ${impact.titles.length > 0 && html`<p>${t("forget_titles", { names: impact.titles.join(", ") })}</p>`}
    <${Recipients} impact=${impact} />
    <p><button class="do-forget" disabled=${isBusy.value} onClick=${forgetSelection}>${t(isBusy.value ? "forget_busy" : "forget_do", { count })}</button></p>
    <p class="meta">${t("forget_final")}</p>
  </div>`;
}

/** A section of the preview; with `keepFocus`, each item can be added to the selection.
 * @param {{title: string, of: any[], total?: number, keepFocus?: (loading: Promise<void>) => void}} props */
function ImpactSection({ title, of, total = of.length, keepFocus }) {
  const [isExpanded, setExpanded] = useState(false);
  if (!of.length) return null;
  const shown = isExpanded ? of : of.slice(0, MAX_SHOWN);
  const selectButton = (each) => keepFocus && html` <button class="quiet" aria-label=${`${t("forget_also")}: ${each.sentence ?? each.text}`} onClick=${() => keepFocus(addToSelection(each.id))}>${t("forget_also")}</button>`;
  return html`<section><h4>${title}</h4><ul role="list">${shown.map((each) => html`<li key=${each.id}>
      ${each.kind
        ? html`<${KindIcon} kind=${each.kind} /> <span><span lang=${each.sentence_language}><${FoldedText} text=${each.sentence} /></span>${each.words_left ? html` <span class="meta">${t("forget_left", { count: each.words_left })}</span>` : ""}${selectButton(each)}</span>`
        : each.record
        ? html`<span><${FoldedText} text=${each.text} /></span>`
        : html`<span><q><${FoldedText} text=${each.text} /></q> <span class="meta">${[each.speaker, formatShortDay(each.at)].filter(Boolean).join(", ")}</span>${selectButton(each)}</span>`}</li>`)}</ul>
    ${total > shown.length && html`<p class="meta">${t("forget_more", { count: total - shown.length })}
      ${!isExpanded && html` <button class="quiet" aria-label=${`${t("forget_show")}: ${title}`} onClick=${() => setExpanded(true)}>${t("forget_show")}</button>`}</p>`}</section>`;
}

/** The matching lines that the person wrote in Settings, the only place where they can be changed. @param {{lines: string[]}} props */
function WrittenLines({ lines }) {
  if (!lines.length) return null;
  return html`<section><h4>${t("forget_written")}</h4><ul role="list">${lines.map((each) => html`<li key=${each}><q><${FoldedText} text=${each} /></q></li>`)}</ul>
    <p><a href=${CHARACTER_SETTINGS} onClick=${followLink}>${t("forget_written_change")}</a></p></section>`;
}

/** A text, collapsed if it is long, with a button that expands it. @param {{text: string}} props */
function FoldedText({ text }) {
  const [isExpanded, setExpanded] = useState(false);
  if (text.length <= FOLD_CHARS) return text;
  return html`${isExpanded ? text : `${text.slice(0, FOLD_CHARS).trimEnd()}…`} <button class="quiet" aria-expanded=${isExpanded} onClick=${() => setExpanded(!isExpanded)}>${t(isExpanded ? "fold_less" : "fold_more")}</button>`;
}

/** Who has received the deleted content: replies, calls to models, backups. */
function Recipients({ impact }) {
  const calls = impact.calls.map(({ model, calls: count }) => t("forget_calls", { model, count }));
  if (!impact.answers && !calls.length && !impact.backups.length) return null;
  return html`<section><h4>${t("forget_exposed")}</h4><ul>
    ${impact.answers > 0 && html`<li>${t("forget_answers", { count: impact.answers })}</li>`}
    ${calls.map((each) => html`<li key=${each}>${each}</li>`)}
    ${impact.backups.map((each) => html`<li key=${each}>${t("forget_backup", { name: each })}</li>`)}</ul></section>`;
}
