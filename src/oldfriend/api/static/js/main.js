// The entry point: signs in by a one-time link, loads the state, draws the page, and listens for events.
import { useEffect } from "../vendor/hooks.js";
import { render } from "../vendor/preact.js";
import { effect, signal } from "../vendor/signals.js";
import { api } from "./api.js";
import { Chat } from "./chat.js";
import { Drawer } from "./drawer.js";
import { listen } from "./events.js";
import { html } from "./html.js";
import { openHelp } from "./keys.js";
import { NotFound } from "./not_found.js";
import { Mark } from "./icons.js";
import { Learned, LearnedStrip } from "./learned.js";
import { currentPage, Navigation } from "./router.js";
import { findToken } from "./session.js";
import { SignInQuestion, canUsePasskeys, signInByLink, signWithPasskey, OwnerLabel } from "./sign_in.js";
import { registerServiceWorker, renewSubscription, unsubscribe } from "./app_shell.js";
import * as store from "./store.js";
import * as outbox from "./outbox.js";
import { translateServerText, language, ready, t } from "./i18n.js";

const SHORTEST_LINK = 20;
const PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;

function Page() {
  if (store.phase.value === "loading") return html`<p class="alone" role="status">${t("loading")}</p>`;
  if (store.phase.value === "unreachable") return html`<${Unreachable} />`;
  if (store.phase.value === "asking") return html`<${SignInQuestion} />`;
  if (store.phase.value === "signed-out") return html`<${SignedOut} />`;
  if (["authorize", "welcome"].includes(currentPage.value)) return html`<${Elsewhere} name=${currentPage.value} />`;
  const isTalk = currentPage.value === "chat";
  return html`<a class="skip" href=${isTalk ? "#say" : "#place"}>${t(isTalk ? "skip" : "skip_to_place")}</a>
    <div class=${`room ${isTalk ? "is-talk" : ""} ${store.drawer.value ? "has-drawer" : ""}`}><${Companion} /><${Navigation} />
      ${isTalk ? html`<${Chat} strip=${html`<${LearnedStrip} />`} /><${Learned} />` : currentPage.value === "nowhere"
        ? html`<main class="place" id="place" tabindex="-1"><${NotFound} /></main>` : html`<${Elsewhere} key=${currentPage.value} name=${currentPage.value} />`}
      </div><${Drawer} />`;
}

const READ = { // what draws a place, in a bundle of its own
  authorize: () => import("./pages/authorize.js"),
  bring: () => import("./pages/bring.js"),
  days: () => import("./pages/days.js"),
  forget: () => import("./pages/forget.js"),
  memory: () => import("./pages/memory.js"),
  people: () => import("./pages/people.js"),
  settings: () => import("./pages/settings.js"),
  welcome: () => import("./pages/welcome.js"),
};
const drawn = signal({}); // what draws a place, by its name; read when it is first gone to
const failures = signal({}); // how often what draws a place could not be read, by its name

/** A place besides the talk; what could not be read is read again until it is there. @param {{name: string}} given */
function Elsewhere({ name }) {
  const Inside = drawn.value[name];
  const failed = failures.value[name] ?? 0;
  useEffect(() => {
    if (Inside) return undefined;
    const again = setTimeout(readPlace, failed && Math.min(PAUSE_MS * 2 ** failed, LONGEST_PAUSE_MS), name);
    return () => clearTimeout(again);
  }, [name, Inside, failed, store.isConnected.value]);
  if (Inside) return html`<main class="place" id="place" tabindex="-1"><${Inside} key=${store.reloadCount.value} /></main>`;
  return html`<main class="place" id="place" tabindex="-1" aria-busy=${!failed}>${failed
    ? html`<div class="alone"><p role="alert">${t("place_lost")}</p><button onClick=${() => readPlace(name)}>${t("settings_again")}</button></div>`
    : html`<div class="skeleton" role="status"><span class="visually-hidden">${t("loading")}</span></div>`}</main>`;
}

/** Read what draws a place. @param {string} name */
async function readPlace(name) {
  try {
    const read = await READ[name]();
    drawn.value = { ...drawn.value, [name]: read.default };
  } catch {
    failures.value = { ...failures.value, [name]: (failures.value[name] ?? 0) + 1 };
  }
}

function Companion() {
  const { companion, model, troubles } = store.state.value;
  return html`<header class="companion">
    <${Mark} />
    <div class="who"><h1>${companion}</h1>${!model && html`<span class="pill only-phone">${t("offline_short")}</span>`}<p class="mood">${t("mood", { phrase: store.mood.value?.phrase ?? t("mood_none") })}</p><${OwnerLabel} /></div>
    <div class="how">
      <p>${model ? t("model", { model }) : t("offline")}</p>
      ${troubles.map((each) => html`<p class="bad" key=${each.text}>${translateServerText(each)}</p>`)}
    </div>
    <button class="help" aria-label=${t("help")} title=${t("help")} onClick=${openHelp}>?</button>
    ${!store.isConnected.value && html`<p class="lost" role="status">${t("lost")}</p>`}
  </header>`;
}

/** Nobody answers: the page is here because the browser has kept it, and goes on by itself. */
function Unreachable() {
  return html`<main class="alone" role="status"><${Mark} /><h1>${t("unreachable_title")}</h1><p>${t("unreachable")}</p></main>`;
}

function SignedOut() {
  useEffect(() => { // who signs in elsewhere in this browser goes on here
    addEventListener("storage", reloadSigned);
    return () => removeEventListener("storage", reloadSigned);
  }, []);
  return html`<div class="alone"><${Mark} /><h1>${t("signed_out_title")}</h1>
    ${isSpent.value && html`<p class="bad" role="alert">${t("signed_out_spent")}</p>`}<p>${t("signed_out_guest")}</p><p>${t("signed_out")}</p>
    <pre>oldfriend link</pre><p>${t("signed_out_make")}</p>${canUsePasskeys && html`<p class="choices"><button onClick=${sign}>${t("settings_passkey_sign_in")}</button></p>`}
    ${refusal.value && html`<p class="bad" role="alert">${refusal.value}</p>`}</div>`;
}

const reloadSigned = () => findToken() && location.reload();
const refusal = signal("");
const isSpent = signal(false); // one came by a link that opens nothing any more

/** Sign in with what a device keeps; whoever changes their mind is left in peace. */
async function sign() {
  refusal.value = "";
  try {
    if (await signWithPasskey()) location.reload(); // it may be somebody else: nothing of this page is theirs
  } catch (problem) {
    refusal.value = problem.message;
  }
}

/** Sign in with what stands behind #, if anything does; try again where nobody answers. */
async function begin(link = location.hash.slice(1)) {
  const isLink = link.length > SHORTEST_LINK;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    store.me.value ??= await (isLink ? signInByLink(link) : api.who());
    outbox.loadPending();
    const position = await store.load();
    if (isLink) await takeClocks();
    listen(position);
    registerServiceWorker();
    renewSubscription(api.notify).catch(() => {}); // the next start tries again
  } catch (problem) {
    isSpent.value = isLink;
    if (problem.status === 401) store.phase.value = "signed-out";
    else setTimeout(begin, PAUSE_MS, link);
    if (problem.status === 0 && store.phase.value === "loading") store.phase.value = "unreachable";
  }
}

/** Whoever comes for the first time lives by the clocks of their browser, until they say otherwise. */
async function takeClocks() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (store.state.value.is_new && zone !== store.me.value.zone) await store.updateMe({ zone }).catch(() => {});
}

effect(() => {
  document.documentElement.lang = language.value;
  document.title = store.state.value?.companion ?? "Oldfriend";
});
effect(() => {
  if (store.phase.value === "signed-out") unsubscribe().catch(() => {}); // nobody is told anything here
});
ready.then(() => render(html`<${Page} />`, /** @type {HTMLElement} */ (document.getElementById("page"))));
addEventListener("hashchange", () => location.hash.length > SHORTEST_LINK && location.reload());
begin();
