// Server-sent events: each changes the store; nothing is missed over a lost connection.
import { api, takeMissedRead } from "./api.js";
import { KINDS } from "./kinds.js";
import { reloadIfOutdated } from "./app_shell.js";
import { language } from "./i18n.js";
import * as store from "./store.js";
import * as outbox from "./outbox.js";

const RETRY_DELAYS_S = [0.5, 1, 2, 2, 2, 2, 2, 4]; // short at first, so that a server restart is noticed quickly
const HEARTBEAT_TIMEOUT_S = 75; // the server sends a heartbeat every 30 s
const HIDDEN_TIMEOUT_S = 10; // hidden pages disconnect: browsers allow six connections for all tabs

/** @type {Record<string, (data?: any) => unknown>} */
const HANDLERS = {
  "chat.connection.ready": ({ person, companion, mood, progress, page, linked_accounts: linkedAccounts }) => {
    if (store.linkedAccounts.value && store.linkedAccounts.value !== linkedAccounts) store.linkedAccountsChanged.value += 1; // linked while disconnected
    store.linkedAccounts.value = linkedAccounts;
    if (person !== store.me.value.id) return location.reload(); // another person has signed in in this browser
    store.isConnected.value = true;
    if (!hasUnsavedInput()) reloadIfOutdated(page);
    store.tasksChanged.value += 1;
    if (takeMissedRead() && !hasUnsavedInput()) store.reloadCount.value += 1; // reloads what failed to load meanwhile
    store.renameCompanion(companion);
    store.mood.value = mood;
    store.progress.value = progress;
    return outbox.sendPending();
  },
  "chat.connection.heartbeat": () => {},
  "chat.message.user_appended": (message) => store.addMessage(message),
  "chat.message.edited": (message) => store.updateMessage(message),
  "chat.message.token": (piece) => store.extendDraft(piece),
  "chat.message.done": (message) => {
    store.tasksChanged.value += 1; // the message may have created or finished a task, or is a reminder
    store.finishReply(message);
  },
  "chat.tasks.updated": () => (store.tasksChanged.value += 1),
  "chat.linked_accounts.updated": ({ linked_accounts: linkedAccounts }) => {
    store.linkedAccounts.value = linkedAccounts;
    store.linkedAccountsChanged.value += 1;
  },
  "chat.message.stopped": (marker) => store.endWithoutReply(marker.turn, "stopped"),
  "chat.message.given_up": (marker) => store.endWithoutReply(marker.turn, "failed"),
  "chat.message.failed": ({ asked, why }) => store.noteFailure(asked, why),
  "chat.message.voice_ready": ({ message }) => store.markAudioReady(message),
  "chat.session.boundary": () => {},
  "chat.mood.update": ({ mood }) => (store.mood.value = mood),
  "chat.companion.renamed": ({ companion }) => store.renameCompanion(companion),
  "chat.settings.updated": () => retryUntilDone(store.loadState),
  "chat.history.changed": () => {
    store.tasksChanged.value += 1;
    store.entitiesChanged.value += 1;
    return retryUntilDone(store.load);
  },
  "memory.rewritten": () => {
    store.clear();
    return retryUntilDone(store.load);
  },
  "memory.thinking": ({ progress }) => {
    store.progress.value = progress;
    return progress ? undefined : retryUntilDone(store.loadState); // updates whether all messages have been learned from
  },
};
for (const topic of ["entity.confirmed", "entity.description_updated", "entity.changed", "triple.created", "triple.changed"]) {
  HANDLERS[`memory.${topic}`] = () => (store.entitiesChanged.value += 1);
}
for (const { name } of KINDS.filter((each) => each.isLearned)) {
  HANDLERS[`memory.${name}.created`] = (decision) => store.addLearned(decision, true);
  HANDLERS[`memory.${name}.changed`] = (decision) => store.addLearned(decision, false);
}

/** Whether a reload would discard text that is being typed; the composer keeps its text. */
function hasUnsavedInput() {
  const field = /** @type {HTMLInputElement | null} */ (document.activeElement);
  return Boolean(field?.matches("textarea:not(#say), input") && field.value); // the composer saves its own text
}

const retryDelayMs = (failures) => RETRY_DELAYS_S[Math.min(failures, RETRY_DELAYS_S.length - 1)] * 1000;

/** Calls a loader until it succeeds, or the session ends. @param {() => Promise<unknown>} load */
async function retryUntilDone(load) {
  for (let failures = 0; store.phase.value === "open"; failures++) {
    try {
      await load();
      return;
    } catch (failure) {
      if (failure.status === 401) store.phase.value = "signed-out";
      else await new Promise((resolve) => setTimeout(resolve, retryDelayMs(failures)));
    }
  }
}

/** Receives events from a position on, reconnecting for as long as the page is open. @param {string} position */
export function listen(position) {
  let lastPosition = position;
  let failures = 0;
  let heartbeatTimer = 0;
  let retryTimer = 0;
  let hiddenTimer = 0;
  let stream;

  function open() {
    stream?.close();
    const resetHeartbeatTimer = () => {
      clearTimeout(heartbeatTimer);
      heartbeatTimer = setTimeout(() => reconnectLater(opened), HEARTBEAT_TIMEOUT_S * 1000);
    };
    const onEvent = (topic, data, id) => {
      if (!HANDLERS[topic]) return;
      resetHeartbeatTimer();
      failures = 0;
      if (id) lastPosition = id;
      store.notePosition(lastPosition);
      HANDLERS[topic](data);
    };
    const opened = api.openEvents(lastPosition, { onEvent, onClose: () => reconnectLater(opened) });
    stream = opened;
    resetHeartbeatTimer();
  }

  function reconnectLater(closedStream) {
    closedStream.close();
    clearTimeout(heartbeatTimer);
    clearTimeout(retryTimer);
    store.isConnected.value = false;
    retryTimer = setTimeout(retry, retryDelayMs(failures++));
  }

  async function retry() {
    try {
      const session = await api.getSession();
      if (session.id !== store.me.value.id) {
        location.reload(); // another person has signed in in this browser
        return;
      }
    } catch (failure) {
      if (failure.status === 401) {
        store.phase.value = "signed-out";
        return;
      }
    }
    open();
  }

  function disconnect() {
    stream?.close();
    stream = null;
    clearTimeout(heartbeatTimer);
    clearTimeout(retryTimer);
  }

  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiddenTimer);
    if (document.hidden) hiddenTimer = setTimeout(disconnect, HIDDEN_TIMEOUT_S * 1000);
    else if (!stream) retry();
    else retryNow();
  });
  addEventListener("pagehide", disconnect); // a page that was left may live on, unseen
  addEventListener("focus", () => (store.tasksChanged.value += 1)); // another program may have changed the tasks
  const retryNow = () => store.isConnected.value || (clearTimeout(retryTimer), retry());
  addEventListener("online", retryNow);
  let shownLanguage = language.value;
  language.subscribe((chosen) => {
    if (chosen === shownLanguage) return;
    shownLanguage = chosen;
    if (stream) open(); // the server tells beliefs in the language of the request
    retryUntilDone(store.load);
  });
  if (!document.hidden) open(); // a tab that is opened behind others waits
}
