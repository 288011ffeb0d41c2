// Requests of Settings.
import { api, request } from "../api.js";
import { language } from "../i18n.js";

const encode = encodeURIComponent;
const post = (json = {}) => ({ method: "POST", json });
const put = (json) => ({ method: "PUT", json });
const DELETE = { method: "DELETE" };

export const settingsApi = {
  settings: () => request("/settings"),
  saveSettings: (values) => request("/settings", { method: "PATCH", json: { values } }),
  models: () => request("/models"),
  learning: () => request("/learning"),
  testModel: (use, values) => request(`/models/${use}/test`, post(values)),
  useModel: (use, values) => request(`/models/${use}`, put(values)),
  goOffline: () => request("/models", DELETE),
  deleteKey: (provider) => request(`/providers/${encode(provider)}/key`, DELETE),
  speakingFirst: () => request("/proactive"),
  saveSpeakingFirst: (changes) => request("/proactive", put(changes)),
  checklist: () => request("/proactive/checklist"),
  saveChecklist: (values) => request("/proactive/checklist", put(values)),
  notifications: () => request("/proactive/push"),
  pushKey: () => request("/proactive/push/key", post()),
  notify: api.notify,
  stopNotifying: () => request("/proactive/push", DELETE),
  impulses: (status, limit) => request(`/proactive/impulses?status=${status}&limit=${limit}`),
  tools: () => request(`/tools?limit=10&language=${language.value}`),
  audit: ({ kind, status }, cursor) => {
    const query = new URLSearchParams({ limit: "25", language: language.value });
    for (const [name, value] of Object.entries({ kind, status, cursor })) if (value) query.set(name, value);
    return request(`/audit?${query}`);
  },
  oura: () => request("/oura"),
  saveOuraApplication: (id, secret) => request("/oura/application", put({ id, secret })),
  startOuraConsent: () => request("/oura/consent", post()),
  finishOuraConsent: (code, state) => request("/oura/consent", put({ code, state })),
  syncOura: () => request("/oura/reading", post()),
  disconnectOura: () => request("/oura", DELETE),
  character: () => request("/persona"),
  saveCharacter: (block, text, version) =>
    request(`/persona/${block}`, { ...put({ text }), headers: version === undefined ? {} : { "If-Match": `"${version}"` } }),
  renameCompanion: (name) => request("/persona/name", put({ name })),
  versions: (block, cursor) => request(`/persona/${block}/versions${cursor ? `?cursor=${encode(cursor)}` : ""}`),
  decideSuggestion: (id, decision) => request(`/persona/suggestions/${encode(id)}`, post(decision)),
  channel: (channel) => request(`/${channel}`),
  checkBot: (channel) => request(`/${channel}/check`),
  connectBot: (channel, credentials) => request(`/${channel}/token`, put({ credentials })),
  disconnectBot: (channel) => request(`/${channel}/token`, DELETE),
  pairingCode: (channel) => request(`/${channel}/code`, post()),
  linkOwnAddress: (channel, address) => request(`/${channel}/mine`, post({ address })),
  unlinkChannel: (channel) => request(`/${channel}/mine`, DELETE),
  removeFromChannel: (channel, name) => request(`/${channel}/people/${encode(name)}`, DELETE),
  spending: (days) => request(`/spending?days=${days}`),
  failedJobs: (cursor) => request(`/jobs${cursor ? `?cursor=${encode(cursor)}` : ""}`),
  retryJob: (id) => request(`/jobs/${encode(id)}/retry`, post()),
  deleteJob: (id) => request(`/jobs/${encode(id)}`, DELETE),
  doctor: () => request("/doctor"),
  household: () => request("/household"),
  invite: (name) => request("/invitations", post({ name })),
  revokeInvitation: (id) => request(`/invitations/${encode(id)}`, DELETE),
  authorizationRequest: (query) => request("/authorization", post(query)),
  decideAuthorization: (query, allow) => request("/authorization/decision", post({ request: query, allow })),
  linkedAccounts: () => request("/linked-accounts"),
  linkCode: () => request("/linked-accounts/code", post()),
  previewLink: (code) => request("/linked-accounts/preview", post({ code })),
  joinAccount: (code) => request("/linked-accounts/join", post({ code })),
  unlinkAccount: (channel, address) => request(`/linked-accounts?channel=${encode(channel)}&address=${encode(address)}`, DELETE),
  undoMerge: (id) => request(`/linked-accounts/merges/${encode(id)}/undo`, post()),
  sessions: () => request("/sessions"),
  endSession: (id) => request(`/sessions/${encode(id)}`, DELETE),
  endOtherSessions: () => request("/sessions", DELETE),
  feed: () => request("/tasks/feed"),
  createFeed: () => request("/tasks/feed", post({})),
  revokeFeed: () => request("/tasks/feed", DELETE),
  tokens: () => request("/tokens"),
  createToken: (values) => request("/tokens", post(values)),
  renewToken: (id) => request(`/tokens/${encode(id)}/renew`, post()),
  revokeToken: (id) => request(`/tokens/${encode(id)}`, DELETE),
  passkeys: () => request("/passkeys"),
  passkeyOptions: () => request("/passkeys/options", post()),
  addPasskey: (credential) => request("/passkeys", post(credential)),
  deletePasskey: (id) => request(`/passkeys/${encode(id)}`, DELETE),
};
