// Requests of Settings.
import { api, request } from "../api.js";
import { language } from "../i18n.js";

const at = encodeURIComponent;
const post = (json = {}) => ({ method: "POST", json });
const put = (json) => ({ method: "PUT", json });
const gone = { method: "DELETE" };

export const settingsApi = {
  choices: () => request("/settings"),
  choose: (values) => request("/settings", { method: "PATCH", json: { values } }),
  models: () => request("/models"),
  reading: () => request("/learning"),
  tryModel: (use, wanted) => request(`/models/${use}/test`, post(wanted)),
  useModel: (use, wanted) => request(`/models/${use}`, put(wanted)),
  goOffline: () => request("/models", gone),
  forgetKey: (provider) => request(`/providers/${at(provider)}/key`, gone),
  first: () => request("/proactive"),
  chooseFirst: (changes) => request("/proactive", put(changes)),
  checklist: () => request("/proactive/checklist"),
  writeChecklist: (wanted) => request("/proactive/checklist", put(wanted)),
  push: () => request("/proactive/push"),
  pushKey: () => request("/proactive/push/key", post()),
  notify: api.notify,
  notifyNoMore: () => request("/proactive/push", gone),
  impulses: (status, limit) => request(`/proactive/impulses?status=${status}&limit=${limit}`),
  tools: () => request(`/tools?limit=10&language=${language.value}`),
  audit: ({ kind, status }, cursor) => {
    const query = new URLSearchParams({ limit: "25", language: language.value });
    for (const [name, value] of Object.entries({ kind, status, cursor })) if (value) query.set(name, value);
    return request(`/audit?${query}`);
  },
  ring: () => request("/oura"),
  nameRingApplication: (id, secret) => request("/oura/application", put({ id, secret })),
  askRing: () => request("/oura/consent", post()),
  connectRing: (code, state) => request("/oura/consent", put({ code, state })),
  readRing: () => request("/oura/reading", post()),
  leaveRing: () => request("/oura", gone),
  character: () => request("/character"),
  write: (block, text, version) =>
    request(`/character/${block}`, { ...put({ text }), headers: version === undefined ? {} : { "If-Match": `"${version}"` } }),
  nameCompanion: (name) => request("/character/name", put({ name })),
  versions: (block, cursor) => request(`/character/${block}/versions${cursor ? `?cursor=${at(cursor)}` : ""}`),
  decide: (id, decision) => request(`/character/suggestions/${at(id)}`, post(decision)),
  channel: (channel) => request(`/${channel}`),
  connectBot: (channel, credentials) => request(`/${channel}/token`, put({ credentials })),
  letBotGo: (channel) => request(`/${channel}/token`, gone),
  code: (channel) => request(`/${channel}/code`, post()),
  leaveChannel: (channel) => request(`/${channel}/mine`, gone),
  removeFromChannel: (channel, name) => request(`/${channel}/people/${at(name)}`, gone),
  spending: (days) => request(`/spending?days=${days}`),
  letters: (cursor) => request(`/jobs${cursor ? `?cursor=${at(cursor)}` : ""}`),
  retry: (id) => request(`/jobs/${at(id)}/retry`, post()),
  drop: (id) => request(`/jobs/${at(id)}`, gone),
  doctor: () => request("/doctor"),
  household: () => request("/household"),
  invite: (name) => request("/invitations", post({ name })),
  endInvitation: (id) => request(`/invitations/${at(id)}`, gone),
  whoAsks: (asked) => request("/authorization", post(asked)),
  letIn: (asked, allow) => request("/authorization/decision", post({ request: asked, allow })),
  places: () => request("/places"),
  placeCode: () => request("/places/code", post()),
  lookAtPlace: (code) => request("/places/preview", post({ code })),
  joinPlace: (code) => request("/places/join", post({ code })),
  leavePlace: (channel, address) => request(`/places?channel=${at(channel)}&address=${at(address)}`, gone),
  undoJoin: (id) => request(`/places/merges/${at(id)}/undo`, post()),
  sessions: () => request("/sessions"),
  endSession: (id) => request(`/sessions/${at(id)}`, gone),
  endOtherSessions: () => request("/sessions", gone),
  feed: () => request("/tasks/feed"),
  makeFeed: () => request("/tasks/feed", post({})),
  endFeed: () => request("/tasks/feed", gone),
  tokens: () => request("/tokens"),
  makeToken: (wanted) => request("/tokens", post(wanted)),
  renewToken: (id) => request(`/tokens/${at(id)}/renew`, post()),
  endToken: (id) => request(`/tokens/${at(id)}`, gone),
  passkeys: () => request("/passkeys"),
  askForPasskey: () => request("/passkeys/options", post()),
  addPasskey: (made) => request("/passkeys", post(made)),
  takePasskey: (id) => request(`/passkeys/${at(id)}`, gone),
};
