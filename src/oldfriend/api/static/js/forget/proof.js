// The proof of a deletion, to be read or printed, without any of the deleted words.
import { useEffect, useState } from "../../vendor/hooks.js";
import { useFocus } from "../focus.js";
import { html } from "../html.js";
import { followLink } from "../router.js";
import { formatDay, t, formatTime } from "../i18n.js";
import { listDeletions, proof } from "./selection.js";

const MOST_NAMED = 500; // what the server takes at once
const WRITTEN = "core_block.text"; // what one has written of oneself and of the companion
const COUNTED = ["messages", "memories", "entities", "summaries", "replies", "measurements", "diary_entries", "tasks",
  "goals", "watches", "projects", "skills", "limitations"];

/** The proof of what was forgotten last, or earlier, by the beginning of its number: of that as much as is kept.
 * @param {{number?: string}} given */
export function Proof({ number = "" }) {
  const held = proof.value?.digest.startsWith(number) ? proof.value : null;
  const [found, setFound] = useState(/** @type {any} */ (undefined));
  useEffect(() => {
    if (held) return;
    listDeletions().then(({ items }) => setFound(items.find((each) => each.digest.startsWith(number)) ?? null)).catch(() => setFound(null));
  }, [number]);
  if (held) return html`<${Whole} done=${held} />`;
  if (found) return html`<${Whole} done=${{ ...NOTHING_LEFT, ...found, is_proved: found.proved_at !== null }} />`;
  if (found === undefined) return html`<p class="empty" role="status">${t("loading")}</p>`;
  return html`<div class="proof"><h2>${t("forget_title")}</h2><p>${t("proof_none")}</p><p><a href="/forget" onClick=${followLink}>${t("proof_again")}</a></p></div>`;
}

/** A column of the store in words, if there are any for it. */
const inPlace = (place) => t(`forget_in_${place.replace(".", "_")}`, {}, place);

/** What is told only right after it was done, and not kept. */
const NOTHING_LEFT = { left: [], stuck: [], orphans: [], read_from: [], near: [], files: 0, is_clean: true, log_is_empty: true, was_in_group: false };

function Whole({ done }) {
  const title = useFocus();
  return html`<article class="proof">
    <h2 tabindex="-1" ref=${title}>${t(done.is_proved ? "proof_title" : done.proved_at === null ? "proof_unproved_title" : "proof_not_title")}</h2>
    <p>${formatDay(done.done_at)}, ${formatTime(done.done_at)}</p>
    <dl>${COUNTED.filter((each) => done.counts[each]).map((each) => html`<div key=${each}><dt>${t(`forget_count_${each}`)}</dt><dd>${done.counts[each]}</dd></div>`)}</dl>
    ${done.is_proved && html`<p class="good">${done.proved_at ? t("proof_was", { when: formatDay(done.proved_at) }) : t(done.files ? "proof_files" : "proof_tables", { files: done.files })}</p>`}
    ${done.proved_at === null && html`<p>${t("proof_unproved")}</p>`}
    ${done.left.map((each) => html`<p class="bad" key=${each.place}>${t("proof_left", { place: inPlace(each.place), count: each.count })}
      ${each.place === WRITTEN && html` <a class="no-print" href="/settings/character" onClick=${followLink}>${t("forget_written_change")}</a>`}</p>`)}
    ${done.stuck.map((each) => html`<p class="bad" key=${each}>${t("proof_stuck", { name: each })}</p>`)}
    ${!done.is_clean && html`<p class="bad">${t("proof_not_clean")}</p>`}
    ${done.orphans.length > 0 && html`<p>${t("proof_orphans", { count: done.orphans.length })}</p>`}
    ${done.read_from.length > 0 && html`<p>${t("proof_read_from", { count: done.read_from.length })}
      <a class="no-print" href=${`/forget/${done.read_from.slice(0, MOST_NAMED).join(",")}`} onClick=${followLink}>${t("proof_read_from_too")}</a></p>`}
    ${done.near.length > 0 && html`<p>${t("proof_near", { count: done.near.length })}</p>`}
    ${!done.log_is_empty && html`<p class="meta">${t(done.files ? "proof_still_read" : "proof_of_a_server")}</p>`}
    ${done.was_in_group && html`<p class="meta">${t("proof_in_a_group")}</p>`}
    <p class="meta">${t("proof_beyond_reach")}</p>
    <p class="meta">${t("proof_number")} <code>${done.digest}</code></p>
    <p class="choices no-print"><button onClick=${() => print()}>${t("proof_print")}</button>
      <a href="/" onClick=${followLink}>${t("proof_back")}</a><a href="/forget" onClick=${followLink}>${t("proof_again")}</a></p>
  </article>`;
}
