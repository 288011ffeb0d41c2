// What settings ask of the house.
import { api, ask } from "../api.js";
import { language } from "../words.js";

const at = encodeURIComponent;
const post = (json = {}) => ({ method: "POST", json });
const put = (json) => ({ method: "PUT", json });
const gone = { method: "DELETE" };

export const house = {
  choices: () => ask("/settings"),
  choose: (values) => ask("/settings", { method: "PATCH", json: { values } }),
  models: () => ask("/models"),
  reading: () => ask("/learning"),
  tryModel: (use, wanted) => ask(`/models/${use}/test`, post(wanted)),
  useModel: (use, wanted) => ask(`/models/${use}`, put(wanted)),
  goOffline: () => ask("/models", gone),
  forgetKey: (provider) => ask(`/providers/${at(provider)}/key`, gone),
  first: () => ask("/proactive"),
  chooseFirst: (changes) => ask("/proactive", put(changes)),
  checklist: () => ask("/proactive/checklist"),
  writeChecklist: (wanted) => ask("/proactive/checklist", put(wanted)),
  push: () => ask("/proactive/push"),
  pushKey: () => ask("/proactive/push/key", post()),
  notify: api.notify,
  notifyNoMore: () => ask("/proactive/push", gone),
  impulses: (status, limit) => ask(`/proactive/impulses?status=${status}&limit=${limit}`),
  tools: () => ask(`/tools?limit=10&language=${language.value}`),
  audit: ({ kind, status }, cursor) => {
    const query = new URLSearchParams({ limit: "25", language: language.value });
    for (const [name, value] of Object.entries({ kind, status, cursor })) if (value) query.set(name, value);
    return ask(`/audit?${query}`);
  },
  ring: () => ask("/oura"),
  nameRingApplication: (id, secret) => ask("/oura/application", put({ id, secret })),
  askRing: () => ask("/oura/consent", post()),
  connectRing: (code, state) => ask("/oura/consent", put({ code, state })),
  readRing: () => ask("/oura/reading", post()),
  leaveRing: () => ask("/oura", gone),
  character: () => ask("/character"),
  write: (block, text, version) =>
    ask(`/character/${block}`, { ...put({ text }), headers: version === undefined ? {} : { "If-Match": `"${version}"` } }),
  nameCompanion: (name) => ask("/character/name", put({ name })),
  versions: (block, cursor) => ask(`/character/${block}/versions${cursor ? `?cursor=${at(cursor)}` : ""}`),
  decide: (id, decision) => ask(`/character/suggestions/${at(id)}`, post(decision)),
  channel: (channel) => ask(`/${channel}`),
  connectBot: (channel, credentials) => ask(`/${channel}/token`, put({ credentials })),
  letBotGo: (channel) => ask(`/${channel}/token`, gone),
  code: (channel) => ask(`/${channel}/code`, post()),
  leaveChannel: (channel) => ask(`/${channel}/mine`, gone),
  removeFromChannel: (channel, name) => ask(`/${channel}/people/${at(name)}`, gone),
  spending: (days) => ask(`/spending?days=${days}`),
  letters: (cursor) => ask(`/jobs${cursor ? `?cursor=${at(cursor)}` : ""}`),
  retry: (id) => ask(`/jobs/${at(id)}/retry`, post()),
  drop: (id) => ask(`/jobs/${at(id)}`, gone),
  doctor: () => ask("/doctor"),
  household: () => ask("/household"),
  invite: (name) => ask("/invitations", post({ name })),
  endInvitation: (id) => ask(`/invitations/${at(id)}`, gone),
  whoAsks: (asked) => ask("/authorization", post(asked)),
  letIn: (asked, allow) => ask("/authorization/decision", post({ request: asked, allow })),
  places: () => ask("/places"),
  placeCode: () => ask("/places/code", post()),
  lookAtPlace: (code) => ask("/places/preview", post({ code })),
  joinPlace: (code) => ask("/places/join", post({ code })),
  leavePlace: (channel, address) => ask(`/places?channel=${at(channel)}&address=${at(address)}`, gone),
  undoJoin: (id) => ask(`/places/merges/${at(id)}/undo`, post()),
  sessions: () => ask("/sessions"),
  endSession: (id) => ask(`/sessions/${at(id)}`, gone),
  endOtherSessions: () => ask("/sessions", gone),
  feed: () => ask("/tasks/feed"),
  makeFeed: () => ask("/tasks/feed", post({})),
  endFeed: () => ask("/tasks/feed", gone),
  tokens: () => ask("/tokens"),
  makeToken: (wanted) => ask("/tokens", post(wanted)),
  renewToken: (id) => ask(`/tokens/${at(id)}/renew`, post()),
  endToken: (id) => ask(`/tokens/${at(id)}`, gone),
  passkeys: () => ask("/passkeys"),
  askForPasskey: () => ask("/passkeys/options", post()),
  addPasskey: (made) => ask("/passkeys", post(made)),
  takePasskey: (id) => ask(`/passkeys/${at(id)}`, gone),
};
