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
const SHOWN = 16; // signs of its number

export default function Forget() {
  const named = subpath.value;
  const isProof = named.split("/")[0] === PROOF;
  const title = useRef(null);
  useEffect(() => {
    if (!isProof) loadPreview(named ? parseSelection(named) : {});
  }, [named]);
  useEffect(() => {
    if (store.rewritten.value && !isBusy.value && !isEmptySelection(selection.value)) loadPreview(selection.value);
  }, [store.rewritten.value]);
  /** Whose button is gone when what follows is seen goes on where it stands. @param {Promise<void>} seeing */
  const goOn = async (seeing) => {
    const pressed = document.activeElement;
    await seeing;
    if ([pressed, document.body].includes(document.activeElement)) title.current?.focus();
  };
  if (isProof) return html`<${Proof} number=${named.slice(PROOF.length + 1)} />`;
  return html`<div class="forget">
    <h2>${t("forget_title")}</h2>
    <div class="two-sides">
      <section aria-labelledby="forget-chosen"><h3 id="forget-chosen">${t("forget_chosen")}</h3><${Chooser} goOn=${goOn} /></section>
      <section aria-labelledby="forget-follows" aria-live="polite"><h3 id="forget-follows" tabindex="-1" ref=${title}>${t("forget_follows")}</h3>
        ${error.value && html`<p class="bad" role="alert">${error.value === "lost" ? t("lost") : error.value}</p>`}
        ${preview.value ? html`<${Impact} goOn=${goOn} />` : !error.value && html`<p class="empty">${t(isEmptySelection(selection.value) ? "forget_choose" : "loading")}</p>`}
      </section>
    </div>
    <${Before} />
  </div>`;
}

/** That something was forgotten before; without a word of it. */
function Before() {
  const [done, setDone] = useState([]);
  useEffect(() => {
    listDeletions().then(({ items }) => setDone(items)).catch(() => setDone([]));
  }, []);
  return done.length > 0 && html`<details class="before"><summary>${t("forget_before", { count: done.length })}</summary>
    <ul>${done.map((each) => html`<li key=${each.digest + each.done_at}>${t(each.what === "retain" ? "forget_retained" : "forget_forgotten", {
      when: formatShortDay(each.done_at), messages: each.counts.messages, beliefs: each.counts.memories,
    })} <a href=${`/forget/${PROOF}/${each.digest.slice(0, SHOWN)}`} onClick=${followLink}>${t("proof_open")} <code>${each.digest.slice(0, SHOWN)}</code></a></li>`)}</ul></details>`;
}
