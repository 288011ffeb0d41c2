// Server-sent events: each changes the store; nothing is missed over a lost connection.
import { api, takeMissedRead } from "./api.js";
import { KINDS } from "./kinds.js";
import { reloadIfOutdated } from "./app_shell.js";
import * as store from "./store.js";
import * as outbox from "./outbox.js";

const PAUSES_S = [0.5, 1, 2, 2, 2, 2, 2, 4]; // a restarted server is seen at once
const SILENT_S = 75; // the server sends a heartbeat every 30 s
const UNSEEN_S = 60; // a browser has six connections for all of its tabs

/** @type {Record<string, (data?: any) => unknown>} */
const HEARD = {
  "chat.connection.ready": ({ person, companion, mood, progress, page }) => {
    if (person !== store.me.value.id) return location.reload(); // somebody else has signed in beside
    store.isConnected.value = true;
    if (!isTyping()) reloadIfOutdated(page);
    store.tasksChanged.value += 1;
    if (takeMissedRead() && !isTyping()) store.reloadCount.value += 1; // what could not be read meanwhile is read now
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
    store.tasksChanged.value += 1; // what was said may have set or ended one, or is a reminder
    store.finishReply(message);
  },
  "chat.tasks.updated": () => (store.tasksChanged.value += 1),
  "chat.message.stopped": (marker) => store.endWithoutReply(marker.turn, "stopped"),
  "chat.message.given_up": (marker) => store.endWithoutReply(marker.turn, "failed"),
  "chat.message.failed": ({ asked, why }) => store.noteFailure(asked, why),
  "chat.message.voice_ready": ({ message }) => store.markAudioReady(message),
  "chat.session.boundary": () => {},
  "chat.mood.update": ({ mood }) => (store.mood.value = mood),
  "chat.companion.renamed": ({ companion }) => store.renameCompanion(companion),
  "chat.settings.updated": () => surely(store.readState),
  "chat.history.changed": () => {
    store.tasksChanged.value += 1;
    store.entitiesChanged.value += 1;
    return surely(store.load);
  },
  "memory.rewritten": () => {
    store.clear();
    return surely(store.load);
  },
  "memory.thinking": ({ progress }) => {
    store.progress.value = progress;
    return progress ? undefined : surely(store.readState); // whether all that was said is read
  },
};
for (const topic of ["entity.confirmed", "entity.description_updated", "entity.changed", "triple.created", "triple.changed"]) {
  HEARD[`memory.${topic}`] = () => (store.entitiesChanged.value += 1);
}
for (const { name } of KINDS.filter((each) => each.isLearned)) {
  HEARD[`memory.${name}.created`] = (decided) => store.addLearned(decided, true);
  HEARD[`memory.${name}.changed`] = (decided) => store.addLearned(decided, false);
}

/** Whether drawing the place anew would take away what is being written there. */
function isTyping() {
  const field = /** @type {HTMLInputElement | null} */ (document.activeElement);
  return Boolean(field?.matches("textarea:not(#say), input") && field.value); // what is to be said is kept
}

const pauseMs = (failures) => PAUSES_S[Math.min(failures, PAUSES_S.length - 1)] * 1000;

/** Read something, however long the server is away meanwhile. @param {() => Promise<unknown>} read */
async function surely(read) {
  for (let failures = 0; store.phase.value === "open"; failures++) {
    try {
      await read();
      return;
    } catch (problem) {
      if (problem.status === 401) store.phase.value = "signed-out";
      else await new Promise((resolve) => setTimeout(resolve, pauseMs(failures)));
    }
  }
}

/** Listen from a position on, for as long as the page is open. @param {string} position */
export function listen(position) {
  let after = position;
  let failures = 0;
  let watch = 0;
  let again = 0;
  let unseen = 0;
  let source;

  function open() {
    source?.close();
    const alive = () => {
      clearTimeout(watch);
      watch = setTimeout(() => lose(mine), SILENT_S * 1000);
    };
    const hear = (topic, data, id) => {
      if (!HEARD[topic]) return;
      alive();
      failures = 0;
      if (id) after = id;
      store.notePosition(after);
      HEARD[topic](data);
    };
    const mine = api.events(after, { hear, lose: () => lose(mine) });
    source = mine;
    alive();
  }

  function lose(lost) {
    lost.close();
    clearTimeout(watch);
    clearTimeout(again);
    store.isConnected.value = false;
    again = setTimeout(retry, pauseMs(failures++));
  }

  async function retry() {
    try {
      const now = await api.who();
      if (now.id !== store.me.value.id) {
        location.reload(); // somebody else has signed in beside
        return;
      }
    } catch (problem) {
      if (problem.status === 401) {
        store.phase.value = "signed-out";
        return;
      }
    }
    open();
  }

  function rest() {
    source?.close();
    source = null;
    clearTimeout(watch);
    clearTimeout(again);
  }

  document.addEventListener("visibilitychange", () => {
    clearTimeout(unseen);
    if (document.hidden) unseen = setTimeout(rest, UNSEEN_S * 1000);
    else if (!source) retry();
    else tryNow();
  });
  addEventListener("focus", () => (store.tasksChanged.value += 1)); // another program may have changed what is to be done
  const tryNow = () => store.isConnected.value || (clearTimeout(again), retry());
  addEventListener("online", tryNow);
  open();
}
