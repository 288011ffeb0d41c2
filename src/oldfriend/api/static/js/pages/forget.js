// Forget: the selection on the left, its preview on the right; afterwards the proof.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { Chooser } from "../forget/chooser.js";
import { Impact } from "../forget/impact.js";
import { Proof } from "../forget/proof.js";
import { preview, isBusy, listDeletions, error, parseSelection, loadPreview, selection, isEmptySelection } from "../forget/selection.js";
import { html } from "../html.js";
import { followLink, subpath } from "../router.js";
import * as store from "../store.js";
import { formatShortDay, t } from "../i18n.js";

const PROOF = "proof";
const DIGEST_LENGTH = 16; // shown characters of a deletion's digest

export default function Forget() {
  const route = subpath.value;
  const isProof = route.split("/")[0] === PROOF;
  const heading = useRef(null);
  useEffect(() => {
    if (!isProof) loadPreview(route ? parseSelection(route) : {});
  }, [route]);
  useEffect(() => {
    if (store.rewriteCount.value && !isBusy.value && !isEmptySelection(selection.value)) loadPreview(selection.value);
  }, [store.rewriteCount.value]);
  /** Wait for the preview; if the pressed button is gone then, move the focus to the preview's heading. @param {Promise<void>} loading */
  const keepFocus = async (loading) => {
    const pressed = document.activeElement;
    await loading;
    if ([pressed, document.body].includes(document.activeElement)) heading.current?.focus();
  };
  if (isProof) return html`<${Proof} number=${route.slice(PROOF.length + 1)} />`;
  return html`<div class="forget">
    <h2>${t("forget_title")}</h2>
    <div class="two-sides">
      <section aria-labelledby="forget-chosen"><h3 id="forget-chosen">${t("forget_chosen")}</h3><${Chooser} keepFocus=${keepFocus} /></section>
      <section aria-labelledby="forget-follows" aria-live="polite"><h3 id="forget-follows" tabindex="-1" ref=${heading}>${t("forget_follows")}</h3>
        ${error.value && html`<p class="bad" role="alert">${error.value === "lost" ? t("lost") : error.value}</p>`}
        ${preview.value ? html`<${Impact} keepFocus=${keepFocus} />` : !error.value && html`<p class="empty">${t(isEmptySelection(selection.value) ? "forget_choose" : "loading")}</p>`}
      </section>
    </div>
    <${DeletionHistory} />
  </div>`;
}

/** Earlier deletions, with counts and links to their proofs. */
function DeletionHistory() {
  const [deletions, setDeletions] = useState([]);
  useEffect(() => {
    listDeletions().then(({ items }) => setDeletions(items)).catch(() => setDeletions([]));
  }, []);
  return deletions.length > 0 && html`<details class="before"><summary>${t("forget_before", { count: deletions.length })}</summary>
    <ul>${deletions.map((each) => html`<li key=${each.digest + each.done_at}>${t(each.what === "retain" ? "forget_retained" : "forget_forgotten", {
      when: formatShortDay(each.done_at), messages: each.counts.messages, beliefs: each.counts.memories,
    })} <a href=${`/forget/${PROOF}/${each.digest.slice(0, DIGEST_LENGTH)}`} onClick=${followLink}>${t("proof_open")} <code>${each.digest.slice(0, DIGEST_LENGTH)}</code></a></li>`)}</ul></details>`;
}
