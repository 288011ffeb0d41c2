// The service worker that keeps the page's files offline, push subscriptions, and reloading when the server has a newer page.
const VERSION = new URL(import.meta.url).pathname.split("/")[3]; // of /static/v/VERSION/…
const RENEWED = "oldfriend-renewed"; // for which version this tab has read the page anew

/** Have the browser keep the page, once it has nothing better to do; of what the server says it keeps nothing. */
export function registerServiceWorker() {
  if (!("serviceWorker" in navigator)) return;
  const keep = () => navigator.serviceWorker.register("/service-worker.js").catch(() => {});
  setTimeout(keep, 1000);
}

/** Whether this browser can be told something while the page is closed. */
export const canNotify = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

/** What shows notifications, as soon as it is there. */
export async function findServiceWorker() {
  await navigator.serviceWorker.register("/service-worker.js");
  return navigator.serviceWorker.ready;
}

const TOLD = "oldfriend-push"; // {endpoint, shows}: where the server was asked to tell this browser, and what

/** Subscribe at the push service of this browser, and have the server tell it there.
 * @param {string} key @param {string} shows @param {(subscription: any) => Promise<any>} notify */
export async function subscribe(key, shows, notify) {
  const { pushManager } = await findServiceWorker();
  await (await pushManager.getSubscription())?.unsubscribe(); // it may be of another key
  return tellWhere(await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }), shows, notify);
}

async function tellWhere(subscription, shows, notify) {
  const { endpoint, keys } = subscription.toJSON();
  const told = await notify({ endpoint, keys, shows });
  localStorage.setItem(TOLD, JSON.stringify({ endpoint, shows }));
  return told;
}

/** Have the server go on where the browser has another subscription by now, which not every browser tells its worker.
 * @param {(subscription: any) => Promise<any>} notify */
export async function renewSubscription(notify) {
  const { endpoint, shows } = JSON.parse(localStorage.getItem(TOLD) ?? "{}");
  if (!endpoint || !canNotify || Notification.permission !== "granted") return;
  const worker = await navigator.serviceWorker.getRegistration();
  const subscription = await worker?.pushManager.getSubscription();
  if (subscription && subscription.endpoint !== endpoint) await tellWhere(subscription, shows, notify);
}

/** Nothing is shown on this device any more, and what was shown is gone. */
export async function unsubscribe() {
  localStorage.removeItem(TOLD);
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const each of (await registration?.getNotifications()) ?? []) each.close();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}

/** Read the page anew where the server has another version of it: once, so that nothing goes round. @param {string} version */
export function reloadIfOutdated(version) {
  if (version === VERSION || sessionStorage.getItem(RENEWED) === version) return;
  sessionStorage.setItem(RENEWED, version);
  location.reload();
}
