// The preview of a deletion: what goes, what is rewritten, what stays, who has received it.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { followLink, navigate } from "../router.js";
import { formatShortDay, t } from "../i18n.js";
import { forget, preview, isBusy, addToSelection } from "./selection.js";

const MOST_SHOWN = 8;
const WRITTEN = "/settings/character"; // where one writes who is who
const MOST_SIGNS = 240; // of one text before one asks for all of it

/** @param {{goOn: (seeing: Promise<void>) => void}} given */
export function Impact({ goOn }) {
  const seen = preview.value;
  const gone = seen.beliefs.filter((each) => !each.is_learned_anew);
  const anew = seen.beliefs.filter((each) => each.is_learned_anew);
  const { messages, memories, entities, summaries } = seen.counts;
  const count = messages + memories + entities + summaries;
  const act = async () => {
    const here = location.pathname;
    if ((await forget()) && location.pathname === here) navigate("/forget/proof"); // whoever has gone on finds it under Forget
  };
  if (!count && !seen.orphans.length) return html`<p class="empty">${t("forget_nothing")}</p>`;
  return html`<div class="follows">
    <${Part} title=${t("forget_messages", { count: messages })} of=${seen.messages} total=${messages} />
    <${Part} title=${t(messages ? "forget_beliefs" : "forget_beliefs_alone", { count: gone.length })} of=${gone} />
    <${Part} title=${t("forget_anew")} of=${anew} />
    <${Part} title=${t("forget_replies", { count: seen.counts.replies })} of=${seen.replies} total=${seen.counts.replies} />
    <${Part} title=${t("forget_records", { count: seen.records.length })} of=${seen.records} />
    <${Part} title=${t("forget_keep")} of=${seen.keep} />
    <${Part} title=${t("forget_orphans")} of=${seen.orphans} />
    <${Part} title=${t("forget_read_from")} of=${seen.read_from} goOn=${goOn} />
    <${Part} title=${t("forget_beside")} of=${seen.beside} goOn=${goOn} />
    <${Part} title=${t("forget_near")} of=${seen.near} goOn=${goOn} />
    <${Written} lines=${seen.written} />
    ${seen.namesakes.length > 0 && html`<p>${t("forget_namesakes", { names: seen.namesakes.join(", ") })}</p>`}
    ${seen.titles.length > 0 && html`<p>${t("forget_titles", { names: seen.titles.join(", ") })}</p>`}
    <${Exposed} seen=${seen} />
    <p><button class="do-forget" disabled=${isBusy.value} onClick=${act}>${t(isBusy.value ? "forget_busy" : "forget_do", { count })}</button></p>
    <p class="meta">${t("forget_final")}</p>
  </div>`;
}

/** Some of what follows; what stays can be chosen, too, where somebody goes on from there.
 * @param {{title: string, of: any[], total?: number, goOn?: (seeing: Promise<void>) => void}} given */
function Part({ title, of, total = of.length, goOn }) {
  const [isWhole, setWhole] = useState(false);
  if (!of.length) return null;
  const shown = isWhole ? of : of.slice(0, MOST_SHOWN);
  const also = (each) => goOn && html` <button class="quiet" aria-label=${`${t("forget_also")}: ${each.sentence ?? each.text}`} onClick=${() => goOn(addToSelection(each.id))}>${t("forget_also")}</button>`;
  return html`<section><h4>${title}</h4><ul role="list">${shown.map((each) => html`<li key=${each.id}>
      ${each.kind
        ? html`<${KindIcon} kind=${each.kind} /> <span><${Short} text=${each.sentence} />${each.words_left ? html` <span class="meta">${t("forget_left", { count: each.words_left })}</span>` : ""}${also(each)}</span>`
        : each.record
        ? html`<span><${Short} text=${each.text} /></span>`
        : html`<span><q><${Short} text=${each.text} /></q> <span class="meta">${[each.speaker, formatShortDay(each.at)].filter(Boolean).join(", ")}</span>${also(each)}</span>`}</li>`)}</ul>
    ${total > shown.length && html`<p class="meta">${t("forget_more", { count: total - shown.length })}
      ${!isWhole && html` <button class="quiet" aria-label=${`${t("forget_show")}: ${title}`} onClick=${() => setWhole(true)}>${t("forget_show")}</button>`}</p>`}</section>`;
}

/** What one has written of it oneself, in Settings: only there it is changed. @param {{lines: string[]}} given */
function Written({ lines }) {
  if (!lines.length) return null;
  return html`<section><h4>${t("forget_written")}</h4><ul role="list">${lines.map((each) => html`<li key=${each}><q><${Short} text=${each} /></q></li>`)}</ul>
    <p><a href=${WRITTEN} onClick=${followLink}>${t("forget_written_change")}</a></p></section>`;
}

/** The beginning of a long text, and all of it for whoever asks. @param {{text: string}} given */
function Short({ text }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= MOST_SIGNS) return text;
  return html`${isWhole ? text : `${text.slice(0, MOST_SIGNS).trimEnd()}…`} <button class="quiet" aria-expanded=${isWhole} onClick=${() => setWhole(!isWhole)}>${t(isWhole ? "fold_less" : "fold_more")}</button>`;
}

/** Who has had it: replies, models, copies. */
function Exposed({ seen }) {
  const calls = seen.calls.map(({ model, calls }) => t("forget_calls", { model, count: calls }));
  if (!seen.answers && !calls.length && !seen.backups.length) return null;
  return html`<section><h4>${t("forget_exposed")}</h4><ul>
    ${seen.answers > 0 && html`<li>${t("forget_answers", { count: seen.answers })}</li>`}
    ${calls.map((each) => html`<li key=${each}>${each}</li>`)}
    ${seen.backups.map((each) => html`<li key=${each}>${t("forget_backup", { name: each })}</li>`)}</ul></section>`;
}
