// The service worker: caches the page's files for offline use, and shows push notifications. API responses are never cached.
/* global SHELL */ // {version, files, later}: prepended by api/page_assets.py

const CACHE = `oldfriend-${SHELL.version}`;
const PAGE = "/"; // the same document for every path and person

async function precacheFiles() {
  const cache = await caches.open(CACHE);
  await cache.add(new Request(PAGE, { cache: "reload", credentials: "omit" }));
  await cache.addAll(SHELL.files);
  await skipWaiting();
}

/** Deletes the caches of other versions. */
async function deleteOldCaches() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name)));
  await clients.claim();
}

/** Returns a file of this version from the cache; fetches and caches it on first use. @param {Request} request */
async function serveFile(request) {
  const cached = await caches.match(request, { cacheName: CACHE, ignoreSearch: true, ignoreVary: true });
  if (cached) return cached;
  const response = await fetch(request);
  if (response.ok) await (await caches.open(CACHE)).put(request, response.clone());
  return response;
}

/** Returns the current page, or the cached one if the server is not reached. @param {Request} request */
async function servePage(request) {
  try {
    return await fetch(request);
  } catch (problem) {
    const cached = await caches.match(PAGE, { cacheName: CACHE, ignoreVary: true });
    if (!cached) throw problem;
    return cached;
  }
}

/** Shows a notification, unless a page has the focus; its content is not stored. @param {any} payload */
async function showNotification({ title, body, tag, buttons = [] }) {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  if (pages.some((each) => each.focused)) return;
  const actions = buttons.map(([label], index) => ({ action: String(index), title: label }));
  const data = { message: tag, commands: buttons.map(([, command]) => command) };
  await registration.showNotification(title, { body, tag, actions, data, icon: "/static/icons/icon-192.png" });
}

/** Focuses an open page, else opens a new one. */
async function openChat() {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((each) => new URL(each.url).pathname === PAGE);
  await (page ? page.focus() : clients.openWindow(PAGE));
}

/** Presses a button of a message; opens the chat if that did not work, as when nobody is signed in.
 * The subscription's endpoint proves to the server that it is this browser. @param {string} message @param {string} command */
async function pressButton(message, command) {
  try {
    const { endpoint } = await registration.pushManager.getSubscription();
    const body = JSON.stringify({ endpoint, message, command });
    const response = await fetch("/api/v1/proactive/push/press", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    if (!response.ok) await openChat();
  } catch {
    await openChat();
  }
}

/** Sends a renewed push subscription to the server, which finds it by the old endpoint. @param {any} event */
async function renewSubscription({ oldSubscription, newSubscription }) {
  if (!oldSubscription) return;
  const renewed = newSubscription ?? (await registration.pushManager.subscribe(oldSubscription.options));
  const { endpoint, keys } = renewed.toJSON();
  const body = JSON.stringify({ was: oldSubscription.endpoint, endpoint, keys });
  await fetch("/api/v1/proactive/push/renewal", { method: "PUT", headers: { "Content-Type": "application/json" }, body });
}

addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renewSubscription(event)));
addEventListener("push", (event) => event.waitUntil(showNotification(event.data.json())));
addEventListener("notificationclick", (event) => {
  const { action, notification } = event;
  const command = notification.data?.commands[action];
  notification.close();
  event.waitUntil(command ? pressButton(notification.data.message, command) : openChat());
});
addEventListener("install", (event) => event.waitUntil(precacheFiles()));
addEventListener("activate", (event) => event.waitUntil(deleteOldCaches()));
addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  if (SHELL.files.includes(pathname) || SHELL.later.includes(pathname)) event.respondWith(serveFile(event.request));
  else if (mode === "navigate" && !pathname.startsWith("/api/")) event.respondWith(servePage(event.request));
});
