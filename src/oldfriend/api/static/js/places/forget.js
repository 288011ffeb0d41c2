// Forget: on the left what is chosen, on the right what follows from it; afterwards the proof.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { Chooser } from "../forget/chooser.js";
import { Follows } from "../forget/follows.js";
import { Proof } from "../forget/proof.js";
import { foreseen, isBusy, listDone, trouble, wishIn, foresee, wish, namesNothing } from "../forget/wishing.js";
import { html } from "../html.js";
import { follow, within } from "../places.js";
import * as store from "../store.js";
import { shortDayOf, t } from "../words.js";

const PROOF = "proof";
const SHOWN = 16; // signs of its number

export default function Forget() {
  const named = within.value;
  const isProof = named.split("/")[0] === PROOF;
  const title = useRef(null);
  useEffect(() => {
    if (!isProof) foresee(named ? wishIn(named) : {});
  }, [named]);
  useEffect(() => {
    if (store.rewritten.value && !isBusy.value && !namesNothing(wish.value)) foresee(wish.value);
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
        ${trouble.value && html`<p class="bad" role="alert">${trouble.value === "lost" ? t("lost") : trouble.value}</p>`}
        ${foreseen.value ? html`<${Follows} goOn=${goOn} />` : !trouble.value && html`<p class="empty">${t(namesNothing(wish.value) ? "forget_choose" : "loading")}</p>`}
      </section>
    </div>
    <${Before} />
  </div>`;
}

/** That something was forgotten before; without a word of it. */
function Before() {
  const [done, setDone] = useState([]);
  useEffect(() => {
    listDone().then(({ items }) => setDone(items)).catch(() => setDone([]));
  }, []);
  return done.length > 0 && html`<details class="before"><summary>${t("forget_before", { count: done.length })}</summary>
    <ul>${done.map((each) => html`<li key=${each.digest + each.done_at}>${t(each.what === "retain" ? "forget_retained" : "forget_forgotten", {
      when: shortDayOf(each.done_at), messages: each.counts.messages, beliefs: each.counts.memories,
    })} <a href=${`/forget/${PROOF}/${each.digest.slice(0, SHOWN)}`} onClick=${follow}>${t("proof_open")} <code>${each.digest.slice(0, SHOWN)}</code></a></li>`)}</ul></details>`;
}
