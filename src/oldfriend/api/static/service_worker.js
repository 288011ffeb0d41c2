// Keeps the files of the page, so that it opens while nobody answers. Of what the house says nothing is kept.
/* global SHELL */ // {version, files, later}: written before this by api/page_assets.py

const CACHE = `oldfriend-${SHELL.version}`;
const PAGE = "/"; // the same for everybody, whatever address of it is opened

async function keepShell() {
  const cache = await caches.open(CACHE);
  await cache.add(new Request(PAGE, { cache: "reload", credentials: "omit" }));
  await cache.addAll(SHELL.files);
  await skipWaiting();
}

/** Nothing of an older page stays. */
async function dropOthers() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name)));
  await clients.claim();
}

/** A file of this version, which never changes; one that is not kept from the beginning is kept from now on. @param {Request} request */
async function findFile(request) {
  const kept = await caches.match(request, { cacheName: CACHE, ignoreSearch: true, ignoreVary: true });
  if (kept) return kept;
  const found = await fetch(request);
  if (found.ok) await (await caches.open(CACHE)).put(request, found.clone());
  return found;
}

/** The page as it is now; the one that was kept only where nobody answers. @param {Request} request */
async function findPage(request) {
  try {
    return await fetch(request);
  } catch (problem) {
    const kept = await caches.match(PAGE, { cacheName: CACHE, ignoreVary: true });
    if (!kept) throw problem;
    return kept;
  }
}

/** What was said unasked, unless somebody has the page before their eyes; of what is shown nothing is kept here. @param {any} told */
async function show({ title, body, tag }) {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  if (pages.some((each) => each.focused)) return;
  await registration.showNotification(title, { body, tag, icon: "/static/icons/icon-192.png" });
}

/** The talk: in a page that is open, else in a new one. */
async function openTalk() {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const found = pages.find((each) => new URL(each.url).pathname === PAGE);
  await (found ? found.focus() : clients.openWindow(PAGE));
}

/** The browser has another subscription now: the house goes on with that. It knows this browser by the address of before. @param {any} event */
async function renewSubscription({ oldSubscription, newSubscription }) {
  if (!oldSubscription) return;
  const renewed = newSubscription ?? (await registration.pushManager.subscribe(oldSubscription.options));
  const { endpoint, keys } = renewed.toJSON();
  const body = JSON.stringify({ was: oldSubscription.endpoint, endpoint, keys });
  await fetch("/api/v1/proactive/push/renewal", { method: "PUT", headers: { "Content-Type": "application/json" }, body });
}

addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renewSubscription(event)));
addEventListener("push", (event) => event.waitUntil(show(event.data.json())));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openTalk());
});
addEventListener("install", (event) => event.waitUntil(keepShell()));
addEventListener("activate", (event) => event.waitUntil(dropOthers()));
addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  if (SHELL.files.includes(pathname) || SHELL.later.includes(pathname)) event.respondWith(findFile(event.request));
  else if (mode === "navigate" && !pathname.startsWith("/api/")) event.respondWith(findPage(event.request));
});
