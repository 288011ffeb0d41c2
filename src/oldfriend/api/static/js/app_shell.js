// The service worker that keeps the page's files offline, push subscriptions, and reloading when the server has a newer page.
const VERSION = new URL(import.meta.url).pathname.split("/")[3]; // of /static/v/VERSION/…
const RELOADED_KEY = "oldfriend-renewed"; // session storage: the version for which this tab was reloaded

/** Registers the service worker, which caches the page's files, one second after the start. */
export function registerServiceWorker() {
  if (!("serviceWorker" in navigator)) return;
  const register = () => navigator.serviceWorker.register("/service-worker.js").catch(() => {});
  setTimeout(register, 1000);
}

/** Whether this browser supports push notifications. */
export const canNotify = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

/** Registers the service worker and returns its registration once it is active. */
export async function findServiceWorker() {
  await navigator.serviceWorker.register("/service-worker.js");
  return navigator.serviceWorker.ready;
}

const SUBSCRIPTION_KEY = "oldfriend-push"; // local storage: {endpoint, shows} of the subscription that the server knows

/** Subscribes to push notifications and sends the subscription to the server.
 * @param {string} key @param {string} shows @param {(subscription: any) => Promise<any>} notify */
export async function subscribe(key, shows, notify) {
  const { pushManager } = await findServiceWorker();
  await (await pushManager.getSubscription())?.unsubscribe(); // it may belong to another server key
  return sendSubscription(await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }), shows, notify);
}

async function sendSubscription(subscription, shows, notify) {
  const { endpoint, keys } = subscription.toJSON();
  const response = await notify({ endpoint, keys, shows });
  localStorage.setItem(SUBSCRIPTION_KEY, JSON.stringify({ endpoint, shows }));
  return response;
}

/** Sends the browser's subscription to the server if it has changed; not every browser fires pushsubscriptionchange.
 * @param {(subscription: any) => Promise<any>} notify */
export async function renewSubscription(notify) {
  const { endpoint, shows } = JSON.parse(localStorage.getItem(SUBSCRIPTION_KEY) ?? "{}");
  if (!endpoint || !canNotify || Notification.permission !== "granted") return;
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  if (subscription && subscription.endpoint !== endpoint) await sendSubscription(subscription, shows, notify);
}

/** Removes this device's push subscription and its open notifications. */
export async function unsubscribe() {
  localStorage.removeItem(SUBSCRIPTION_KEY);
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const each of (await registration?.getNotifications()) ?? []) each.close();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}

/** Reloads the page if the server has another version of it; once per version, to avoid a reload loop. @param {string} version */
export function reloadIfOutdated(version) {
  if (version === VERSION || sessionStorage.getItem(RELOADED_KEY) === version) return;
  sessionStorage.setItem(RELOADED_KEY, version);
  location.reload();
}
