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
  const saveStep = useRef(null); // saves the input of the current step; null if it has none
  const heading = useRef(null);
  const [error, setError] = useState("");
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [step]);
  const leave = (address = "/") => {
    store.load();
    navigate(address);
  };
  const showStep = (index) => {
    saveStep.current = null;
    setError("");
    setStep(index);
  };
  const next = async () => {
    try {
      await saveStep.current?.();
      if (step + 1 < STEPS.length) showStep(step + 1);
      else {
        store.endFirstRun();
        leave();
      }
    } catch (failure) {
      setError(failure.message || t("lost"));
    }
  };
  if (step < 0) {
    return html`<div class="first-run"><${Mark} /><h1 ref=${heading} tabindex="-1">${t("welcome_hello", { name: store.state.value.companion })}</h1>
      <${OwnerLabel} /><p class="lead">${t("welcome_lead")}</p><${Example} />
      <p class="choices"><button class="primary" onClick=${() => showStep(0)}>${t("welcome_begin")}</button>
        <button class="quiet" onClick=${() => leave()}>${t("welcome_skip_all")}</button></p></div>`;
  }
  const Step = STEPS[step];
  const isLast = step === STEPS.length - 1;
  return html`<div class="first-run"><p class="meta" ref=${heading} tabindex="-1">${t("welcome_step", { step: step + 1, steps: STEPS.length })}</p>
    <${OwnerLabel} /><progress max=${STEPS.length} value=${step + 1} aria-hidden="true"></progress>
    <${Step} key=${step} saveRef=${saveStep} leave=${leave} clearError=${() => setError("")} />
    ${error && html`<p class="bad" role="alert">${error}</p>`}
    <p class="choices first-run-foot">
      <button class="quiet" onClick=${() => showStep(step - 1)}>${t("welcome_back")}</button>
      ${!isLast && html`<button class="quiet" onClick=${() => showStep(step + 1)}>${t("welcome_skip")}</button>`}
      <button class="primary" onClick=${next}>${t(isLast ? "welcome_talk" : "welcome_next")}</button></p></div>`;
}
