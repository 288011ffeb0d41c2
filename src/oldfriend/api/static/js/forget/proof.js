// The proof of a deletion, to be read or printed, without any of the deleted words.
import { useEffect, useState } from "../../vendor/hooks.js";
import { useFocus } from "../focus.js";
import { html } from "../html.js";
import { followLink } from "../router.js";
import { formatDay, t, formatTime } from "../i18n.js";
import { listDeletions, proof } from "./selection.js";

const MAX_IDS = 500; // ids in one selection: the server's limit
const CHARACTER_COLUMN = "core_block.text"; // the person's descriptions of themselves and of the companion
const COUNT_NAMES = ["messages", "memories", "entities", "summaries", "replies", "measurements", "diary_entries", "tasks",
  "goals", "watches", "projects", "skills", "limitations"];

/** The proof of a deletion found by the first digits of its digest; a proof loaded from the server has fewer details
 * than one shown right after the deletion.
 * @param {{number?: string}} props */
export function Proof({ number = "" }) {
  const current = proof.value?.digest.startsWith(number) ? proof.value : null;
  const [loaded, setLoaded] = useState(/** @type {any} */ (undefined));
  useEffect(() => {
    if (current) return;
    listDeletions().then(({ items }) => setLoaded(items.find((each) => each.digest.startsWith(number)) ?? null)).catch(() => setLoaded(null));
  }, [number]);
  if (current) return html`<${ProofDetails} deletion=${current} />`;
  if (loaded) return html`<${ProofDetails} deletion=${{ ...UNKEPT_DEFAULTS, ...loaded, is_proved: loaded.proved_at !== null }} />`;
  if (loaded === undefined) return html`<p class="empty" role="status">${t("loading")}</p>`;
  return html`<div class="proof"><h2>${t("forget_title")}</h2><p>${t("proof_none")}</p><p><a href="/forget" onClick=${followLink}>${t("proof_again")}</a></p></div>`;
}

/** Translates the name of a column of the store; returns the name itself if there is no translation. */
const formatColumn = (place) => t(`forget_in_${place.replace(".", "_")}`, {}, place);

/** Defaults of the details that the server returns only right after a deletion and does not keep. */
const UNKEPT_DEFAULTS = { left: [], stuck: [], orphans: [], read_from: [], near: [], files: 0, is_clean: true, log_is_empty: true, was_in_group: false };

function ProofDetails({ deletion }) {
  const title = useFocus();
  return html`<article class="proof">
    <h2 tabindex="-1" ref=${title}>${t(deletion.is_proved ? "proof_title" : deletion.proved_at === null ? "proof_unproved_title" : "proof_not_title")}</h2>
    <p>${formatDay(deletion.done_at)}, ${formatTime(deletion.done_at)}</p>
    <dl>${COUNT_NAMES.filter((each) => deletion.counts[each]).map((each) => html`<div key=${each}><dt>${t(`forget_count_${each}`)}</dt><dd>${deletion.counts[each]}</dd></div>`)}</dl>
    ${deletion.is_proved && html`<p class="good">${deletion.proved_at ? t("proof_was", { when: formatDay(deletion.proved_at) }) : t(deletion.files ? "proof_files" : "proof_tables", { files: deletion.files })}</p>`}
    ${deletion.proved_at === null && html`<p>${t("proof_unproved")}</p>`}
    ${deletion.left.map((each) => html`<p class="bad" key=${each.place}>${t("proof_left", { place: formatColumn(each.place), count: each.count })}
      ${each.place === CHARACTER_COLUMN && html` <a class="no-print" href="/settings/character" onClick=${followLink}>${t("forget_written_change")}</a>`}</p>`)}
    ${deletion.stuck.map((each) => html`<p class="bad" key=${each}>${t("proof_stuck", { name: each })}</p>`)}
    ${!deletion.is_clean && html`<p class="bad">${t("proof_not_clean")}</p>`}
    ${deletion.orphans.length > 0 && html`<p>${t("proof_orphans", { count: deletion.orphans.length })}</p>`}
    ${deletion.read_from.length > 0 && html`<p>${t("proof_read_from", { count: deletion.read_from.length })}
      <a class="no-print" href=${`/forget/${deletion.read_from.slice(0, MAX_IDS).join(",")}`} onClick=${followLink}>${t("proof_read_from_too")}</a></p>`}
    ${deletion.near.length > 0 && html`<p>${t("proof_near", { count: deletion.near.length })}</p>`}
    ${!deletion.log_is_empty && html`<p class="meta">${t(deletion.files ? "proof_still_read" : "proof_of_a_server")}</p>`}
    ${deletion.was_in_group && html`<p class="meta">${t("proof_in_a_group")}</p>`}
    <p class="meta">${t("proof_beyond_reach")}</p>
    <p class="meta">${t("proof_number")} <code>${deletion.digest}</code></p>
    <p class="choices no-print"><button onClick=${() => print()}>${t("proof_print")}</button>
      <a href="/" onClick=${followLink}>${t("proof_back")}</a><a href="/forget" onClick=${followLink}>${t("proof_again")}</a></p>
  </article>`;
}
