// What does the page know now? Signals, and the few functions that change them.
import { batch, computed, signal } from "../vendor/signals.js";
import { api } from "./api.js";

export const me = signal(null);
export const state = signal(null);
export const mood = signal(null);
export const phase = signal("loading"); // loading, signed-out, open
export const isConnected = signal(true);

export const messages = signal([]); // oldest first
export const earlier = signal(null);
export const drafts = signal({}); // by turn: {asked, text, remark}
export const ended = signal({}); // by turn or asked id: why no reply comes
export const pending = signal(kept("pending", [])); // said, and not yet taken in

export const learned = signal([]); // the latest first
export const earlierLearned = signal(null);
export const latest = signal(null); // what was learned while looking on
export const takenBack = signal(null); // what was just called wrong
export const drawer = signal(null); // {kind: "receipt" | "forget", …}
export const isTimelineOpen = signal(false); // on a phone

const asked = signal({}); // by turn: said while the page was open

/** The last thing said whose reply is still to come, as far as this page can know. */
export const waitingFor = computed(() => {
  const last = messages.value.findLast((each) => each.role === "person" && each.turn);
  if (!last || !(asked.value[last.turn] || drafts.value[last.turn])) return null;
  if (ended.value[last.turn] || ended.value[last.id]) return null;
  return messages.value.some((each) => each.role === "companion" && each.turn === last.turn) ? null : last;
});

/** Something was said just now: it takes its place, and its reply is waited for. */
export function hear(message) {
  batch(() => {
    place(message);
    if (message.turn) asked.value = { ...asked.value, [message.turn]: true };
  });
}

/** Put messages among the others; one that is there already is replaced. */
export function place(...given) {
  const byId = new Map(messages.value.map((each) => [each.id, each]));
  for (const each of given) byId.set(each.id, each);
  messages.value = [...byId.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || (a.id < b.id ? -1 : 1));
}

/** A piece of a reply, from where it begins in it. */
export function extend({ turn, asked, start, text, remark }) {
  const before = drafts.value[turn]?.text ?? "";
  drafts.value = { ...drafts.value, [turn]: { asked, text: before.slice(0, start) + text, remark } };
}

/** A reply as it was kept; nothing of it is a draft any more. */
export function finish(message) {
  batch(() => {
    const { [message.turn]: _, ...others } = drafts.value;
    drafts.value = others;
    place(message);
  });
}

/** No reply comes to something (a turn, or what was asked): say why. */
export function giveUp(name, why) {
  const left = Object.entries(drafts.value).filter(([turn, draft]) => turn !== name && draft.asked !== name);
  batch(() => {
    drafts.value = Object.fromEntries(left);
    ended.value = { ...ended.value, [name]: why };
  });
}

/** A decision about something believed: it takes its place, or goes. */
export function learn(decided, isNew) {
  const others = learned.value.filter((each) => each.belief.id !== decided.belief.id);
  if (decided.belief.ended_at) {
    learned.value = others;
    return;
  }
  const index = learned.value.findIndex((each) => each.belief.id === decided.belief.id);
  const shown = { ...decided, isNew };
  learned.value = index < 0 ? [shown, ...others] : learned.value.with(index, { ...shown, isNew: false });
  if (isNew) latest.value = decided;
}

/** Everything anew, as it is now; where from events go on. */
export async function load() {
  const [now, said, known] = await Promise.all([api.state(), api.messages(), api.learned()]);
  batch(() => {
    state.value = now;
    mood.value = now.mood;
    messages.value = said.items;
    earlier.value = said.earlier;
    learned.value = known.items;
    earlierLearned.value = known.earlier;
    phase.value = "open";
  });
  return said.position;
}

export async function loadEarlier() {
  const page = await api.messages(earlier.value);
  batch(() => {
    earlier.value = page.earlier;
    place(...page.items);
  });
}

export async function loadEarlierLearned() {
  const page = await api.learned(earlierLearned.value);
  const known = new Set(learned.value.map((each) => each.belief.id));
  learned.value = [...learned.value, ...page.items.filter((each) => !known.has(each.belief.id))];
  earlierLearned.value = page.earlier;
}

/** Say something: kept in the browser until the house has taken it in, and said once. */
export async function say(text) {
  keepPending([...pending.value, { key: `page-${crypto.randomUUID()}`, text }]);
  await sendPending();
}

let isSending = false;

/** Send what waits, in order; what cannot be sent now waits on. */
export async function sendPending() {
  if (isSending) return;
  isSending = true;
  try {
    for (let next = first(); next; next = first()) {
      try {
        const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
        hear(await api.say(next.key, next.text, zone));
        keepPending(pending.value.filter((each) => each.key !== next.key));
      } catch (problem) {
        if (problem.status === 0 || problem.status >= 500 || problem.status === 401) return;
        keepPending(pending.value.map((each) => (each.key === next.key ? { ...each, why: problem.message } : each)));
      }
    }
  } finally {
    isSending = false;
  }
}

const first = () => pending.value.find((each) => !each.why);

export function dropPending(key) {
  keepPending(pending.value.filter((each) => each.key !== key));
}

export function retryPending(key) {
  keepPending(pending.value.map((each) => (each.key === key ? { ...each, why: undefined } : each)));
  return sendPending();
}

function keepPending(value) {
  pending.value = value;
  localStorage.setItem("pending", JSON.stringify(value));
}

/** What this browser has kept under a name. */
export function kept(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}
