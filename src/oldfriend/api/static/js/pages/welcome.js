// The first run: two steps, both of which can be skipped.
import { useLayoutEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { Mark } from "../icons.js";
import { navigate } from "../router.js";
import { Example } from "../example.js";
import { OwnerLabel } from "../sign_in.js";
import * as store from "../store.js";
import { PeopleStep, ModelStep } from "../welcome/steps.js";
import { t } from "../i18n.js";

const STEPS = [PeopleStep, ModelStep];

export default function Welcome() {
  const [step, setStep] = useState(-1);
  const keep = useRef(null); // keeps what a step has asked for
  const heading = useRef(null);
  const [trouble, setTrouble] = useState("");
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [step]);
  const leave = (address = "/") => {
    store.load();
    navigate(address);
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
        store.endFirstRun();
        leave();
      }
    } catch (problem) {
      setTrouble(problem.message || t("lost"));
    }
  };
  if (step < 0) {
    return html`<div class="first-run"><${Mark} /><h1 ref=${heading} tabindex="-1">${t("welcome_hello", { name: store.state.value.companion })}</h1>
      <${OwnerLabel} /><p class="lead">${t("welcome_lead")}</p><${Example} />
      <p class="choices"><button class="primary" onClick=${() => turn(0)}>${t("welcome_begin")}</button>
        <button class="quiet" onClick=${() => leave()}>${t("welcome_skip_all")}</button></p></div>`;
  }
  const Step = STEPS[step];
  const isLast = step === STEPS.length - 1;
  return html`<div class="first-run"><p class="meta" ref=${heading} tabindex="-1">${t("welcome_step", { step: step + 1, steps: STEPS.length })}</p>
    <${OwnerLabel} /><progress max=${STEPS.length} value=${step + 1} aria-hidden="true"></progress>
    <${Step} key=${step} keep=${keep} leave=${leave} calm=${() => setTrouble("")} />
    ${trouble && html`<p class="bad" role="alert">${trouble}</p>`}
    <p class="choices first-run-foot">
      <button class="quiet" onClick=${() => turn(step - 1)}>${t("welcome_back")}</button>
      ${!isLast && html`<button class="quiet" onClick=${() => turn(step + 1)}>${t("welcome_skip")}</button>`}
      <button class="primary" onClick=${next}>${t(isLast ? "welcome_talk" : "welcome_next")}</button></p></div>`;
}
