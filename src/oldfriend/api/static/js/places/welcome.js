// The first run: what one may expect, and two steps that can be skipped; what is done on each is kept at once.
import { useLayoutEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { Mark } from "../icons.js";
import { go } from "../places.js";
import { Sample } from "../sample.js";
import { Whose } from "../signing_in.js";
import * as store from "../store.js";
import { Both, More } from "../welcome/steps.js";
import { t } from "../words.js";

const STEPS = [Both, More];

export default function Welcome() {
  const [step, setStep] = useState(-1);
  const keep = useRef(null); // keeps what a step has asked for
  const heading = useRef(null);
  const [trouble, setTrouble] = useState("");
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [step]);
  const leave = (address = "/") => {
    store.load();
    go(address);
  };
  const turn = (to) => {
    keep.current = null;
    setTrouble("");
    setStep(to);
  };
  const next = async () => {
    try {
      await keep.current?.();
      if (step + 1 < STEPS.length) turn(step + 1);
      else {
        store.settle();
        leave();
      }
    } catch (problem) {
      setTrouble(problem.message || t("lost"));
    }
  };
  if (step < 0) {
    return html`<div class="first-run"><${Mark} /><h1 ref=${heading} tabindex="-1">${t("welcome_hello", { name: store.state.value.companion })}</h1>
      <${Whose} /><p class="lead">${t("welcome_lead")}</p><${Sample} />
      <p class="choices"><button class="primary" onClick=${() => turn(0)}>${t("welcome_begin")}</button>
        <button class="quiet" onClick=${() => leave()}>${t("welcome_skip_all")}</button></p></div>`;
  }
  const Step = STEPS[step];
  const isLast = step === STEPS.length - 1;
  return html`<div class="first-run"><p class="meta" ref=${heading} tabindex="-1">${t("welcome_step", { step: step + 1, steps: STEPS.length })}</p>
    <${Whose} /><progress max=${STEPS.length} value=${step + 1} aria-hidden="true"></progress>
    <${Step} key=${step} keep=${keep} leave=${leave} calm=${() => setTrouble("")} />
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}
    <p class="choices first-run-foot">
      <button class="quiet" onClick=${() => turn(step - 1)}>${t("welcome_back")}</button>
      ${!isLast && html`<button class="quiet" onClick=${() => turn(step + 1)}>${t("welcome_skip")}</button>`}
      <button class="primary" onClick=${next}>${t(isLast ? "welcome_talk" : "welcome_next")}</button></p></div>`;
}
