// The entry point: signs in by a one-time link, loads the state, draws the page, and listens for events.
import { useEffect } from "../vendor/hooks.js";
import { render } from "../vendor/preact.js";
import { effect, signal } from "../vendor/signals.js";
import { api } from "./api.js";
import { Chat } from "./chat.js";
import { Drawer } from "./drawer.js";
import { listen } from "./events.js";
import { announcement, keepFocus } from "./focus.js";
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
import { translateServerText, language, ready, shownZone, t } from "./i18n.js";

const MIN_LINK_CHARS = 20;
const RETRY_DELAY_MS = 1000;
const MAX_RETRY_DELAY_MS = 10_000;

function Page() {
  if (store.phase.value === "loading") return html`<p class="alone" role="status">${t("loading")}</p>`;
  if (store.phase.value === "unreachable") return html`<${Unreachable} />`;
  if (store.phase.value === "asking") return html`<${SignInQuestion} />`;
  if (store.phase.value === "signed-out") return html`<${SignedOut} />`;
  if (["authorize", "welcome"].includes(currentPage.value)) return html`<${LazyPage} name=${currentPage.value} />`;
  const isChat = currentPage.value === "chat";
  return html`<a class="skip" href=${isChat ? "#say" : "#place"}>${t(isChat ? "skip" : "skip_to_place")}</a>
    <div class=${`room ${isChat ? "is-talk" : ""} ${store.drawer.value ? "has-drawer" : ""}`}><${CompanionHeader} /><${Navigation} />
      ${isChat ? html`<${Chat} strip=${html`<${LearnedStrip} />`} /><${Learned} />` : currentPage.value === "nowhere"
        ? html`<main class="place" id="place" tabindex="-1"><${NotFound} /></main>` : html`<${LazyPage} key=${currentPage.value} name=${currentPage.value} />`}
      </div><${Drawer} /><p class="visually-hidden" role="status">${announcement.value}</p>`;
}

const PAGE_LOADERS = { // loaders of the pages, each in a bundle of its own
  authorize: () => import("./pages/authorize.js"),
  bring: () => import("./pages/bring.js"),
  days: () => import("./pages/days.js"),
  forget: () => import("./pages/forget.js"),
  memory: () => import("./pages/memory.js"),
  people: () => import("./pages/people.js"),
  settings: () => import("./pages/settings.js"),
  welcome: () => import("./pages/welcome.js"),
};
const pageComponents = signal({}); // components of the loaded pages, by name
const failureCounts = signal({}); // how often a page failed to load, by name

/** A page loaded on demand; retries until it is loaded. @param {{name: string}} props */
function LazyPage({ name }) {
  const PageComponent = pageComponents.value[name];
  const failureCount = failureCounts.value[name] ?? 0;
  useEffect(() => {
    if (PageComponent) return undefined;
    const timer = setTimeout(loadPage, failureCount && Math.min(RETRY_DELAY_MS * 2 ** failureCount, MAX_RETRY_DELAY_MS), name);
    return () => clearTimeout(timer);
  }, [name, PageComponent, failureCount, store.isConnected.value]);
  if (PageComponent) return html`<main class="place" id="place" tabindex="-1"><${PageComponent} key=${store.reloadCount.value} /></main>`;
  return html`<main class="place" id="place" tabindex="-1" aria-busy=${!failureCount}>${failureCount
    ? html`<div class="alone"><p role="alert">${t("place_lost")}</p><button onClick=${() => loadPage(name)}>${t("settings_again")}</button></div>`
    : html`<div class="skeleton" role="status"><span class="visually-hidden">${t("loading")}</span></div>`}</main>`;
}

/** Loads the component of a page. @param {string} name */
async function loadPage(name) {
  try {
    const module = await PAGE_LOADERS[name]();
    pageComponents.value = { ...pageComponents.value, [name]: module.default };
  } catch {
    failureCounts.value = { ...failureCounts.value, [name]: (failureCounts.value[name] ?? 0) + 1 };
  }
}

function CompanionHeader() {
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

/** Shown when the server cannot be reached: the page comes from the cache and keeps retrying. */
function Unreachable() {
  return html`<main class="alone" role="status"><${Mark} /><h1>${t("unreachable_title")}</h1><p>${t("unreachable")}</p></main>`;
}

function SignedOut() {
  useEffect(() => { // continues here after a sign-in in another tab
    addEventListener("storage", reloadIfSignedIn);
    return () => removeEventListener("storage", reloadIfSignedIn);
  }, []);
  return html`<div class="alone"><${Mark} /><h1>${t("signed_out_title")}</h1>
    ${isLinkInvalid.value && html`<p class="bad" role="alert">${t("signed_out_spent")}</p>`}<p>${t("signed_out_guest")}</p><p>${t("signed_out")}</p>
    <pre>oldfriend link</pre><p>${t("signed_out_make")}</p>${canUsePasskeys && html`<p class="choices"><button onClick=${signIn}>${t("settings_passkey_sign_in")}</button></p>`}
    ${passkeyError.value && html`<p class="bad" role="alert">${passkeyError.value}</p>`}</div>`;
}

const reloadIfSignedIn = () => findToken() && location.reload();
const passkeyError = signal("");
const isLinkInvalid = signal(false); // the sign-in link was used or has expired

/** Signs in with a passkey; does nothing if the person cancels. */
async function signIn() {
  passkeyError.value = "";
  try {
    if (await signWithPasskey()) location.reload(); // it may be another person, who must see nothing of this page
  } catch (failure) {
    passkeyError.value = failure.message;
  }
}

/** Signs in with the link token in the hash if there is one, loads the state and starts the page; retries while the
 * server is not reached. */
async function start(link = location.hash.slice(1)) {
  const isLink = link.length > MIN_LINK_CHARS;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    store.me.value ??= await (isLink ? signInByLink(link) : api.getSession());
    outbox.loadPending();
    const position = await store.load();
    if (isLink) await adoptTimeZone();
    listen(position);
    registerServiceWorker();
    renewSubscription(api.notify).catch(() => {}); // the next start tries again
  } catch (failure) {
    isLinkInvalid.value = isLink;
    if (failure.status === 401) store.phase.value = "signed-out";
    else setTimeout(start, RETRY_DELAY_MS, link);
    if (failure.status === 0 && store.phase.value === "loading") store.phase.value = "unreachable";
  }
}

/** Sets a new person's time zone to the browser's. */
async function adoptTimeZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (store.state.value.is_new && zone !== store.me.value.zone) await store.updateMe({ zone }).catch(() => {});
}

effect(() => {
  document.documentElement.lang = language.value;
  document.title = store.state.value?.companion ?? "Oldfriend";
});
effect(() => {
  shownZone.value = store.me.value?.zone ?? "";
});
effect(() => {
  if (store.phase.value === "signed-out") unsubscribe().catch(() => {}); // no notifications after signing out
});
ready.then(() => render(html`<${Page} />`, /** @type {HTMLElement} */ (document.getElementById("page"))));
keepFocus();
addEventListener("hashchange", () => location.hash.length > MIN_LINK_CHARS && location.reload());
start();
