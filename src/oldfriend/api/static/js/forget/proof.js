// That it is gone: a short page to be read or printed, without a word of what went.
import { useFocus } from "../focus.js";
import { html } from "../html.js";
import { follow } from "../places.js";
import { dayOf, t, timeOf } from "../words.js";
import { proof } from "./wishing.js";

const MOST_NAMED = 500; // what the house takes at once
const COUNTED = ["messages", "memories", "entities", "summaries", "replies"];

export function Proof() {
  const title = useFocus();
  const done = proof.value;
  if (!done) return html`<div class="proof"><h2>${t("forget_title")}</h2><p>${t("proof_none")}</p><p><a href="/forget" onClick=${follow}>${t("proof_again")}</a></p></div>`;
  return html`<article class="proof">
    <h2 tabindex="-1" ref=${title}>${t(done.is_proved ? "proof_title" : "proof_not_title")}</h2>
    <p>${dayOf(done.done_at)}, ${timeOf(done.done_at)}</p>
    <dl>${COUNTED.filter((each) => done.counts[each]).map((each) => html`<div key=${each}><dt>${t(`forget_count_${each}`)}</dt><dd>${done.counts[each]}</dd></div>`)}</dl>
    ${done.is_proved && html`<p class="good">${t(done.files ? "proof_files" : "proof_tables", { files: done.files })}</p>`}
    ${done.left.map((each) => html`<p class="bad" key=${each.place}>${t("proof_left", { place: each.place, count: each.count })}</p>`)}
    ${done.stuck.map((each) => html`<p class="bad" key=${each}>${t("proof_stuck", { name: each })}</p>`)}
    ${!done.is_clean && html`<p class="bad">${t("proof_not_clean")}</p>`}
    ${done.orphans.length > 0 && html`<p>${t("proof_orphans", { count: done.orphans.length })}</p>`}
    ${done.read_from.length > 0 && html`<p>${t("proof_read_from", { count: done.read_from.length })}
      <a class="no-print" href=${`/forget/${done.read_from.slice(0, MOST_NAMED).join(",")}`} onClick=${follow}>${t("proof_read_from_too")}</a></p>`}
    ${done.near.length > 0 && html`<p>${t("proof_near", { count: done.near.length })}</p>`}
    ${!done.log_is_empty && html`<p class="meta">${t(done.files ? "proof_still_read" : "proof_of_a_server")}</p>`}
    ${done.was_in_group && html`<p class="meta">${t("proof_in_a_group")}</p>`}
    <p class="meta">${t("proof_beyond_reach")}</p>
    <p class="meta">${t("proof_number")} <code>${done.digest}</code></p>
    <p class="choices no-print"><button onClick=${() => print()}>${t("proof_print")}</button>
      <a href="/" onClick=${follow}>${t("proof_back")}</a><a href="/forget" onClick=${follow}>${t("proof_again")}</a></p>
  </article>`;
}
