// What settings ask of the house.
import { ask } from "../api.js";

const at = encodeURIComponent;
const post = (json = {}) => ({ method: "POST", json });
const put = (json) => ({ method: "PUT", json });
const gone = { method: "DELETE" };

export const house = {
  choices: () => ask("/settings"),
  choose: (values) => ask("/settings", { method: "PATCH", json: { values } }),
  models: () => ask("/models"),
  reading: () => ask("/bring/reading"),
  tryModel: (use, wanted) => ask(`/models/${use}/test`, post(wanted)),
  useModel: (use, wanted) => ask(`/models/${use}`, put(wanted)),
  goOffline: () => ask("/models", gone),
  forgetKey: (provider) => ask(`/providers/${at(provider)}/key`, gone),
  character: () => ask("/character"),
  write: (block, text, version) =>
    ask(`/character/${block}`, { ...put({ text }), headers: version === undefined ? {} : { "If-Match": `"${version}"` } }),
  nameCompanion: (name) => ask("/character/name", put({ name })),
  versions: (block, cursor) => ask(`/character/${block}/versions${cursor ? `?cursor=${at(cursor)}` : ""}`),
  decide: (id, decision) => ask(`/character/suggestions/${at(id)}`, post(decision)),
  channel: (channel) => ask(`/${channel}`),
  connectBot: (channel, token) => ask(`/${channel}/token`, put({ token })),
  letBotGo: (channel) => ask(`/${channel}/token`, gone),
  code: (channel) => ask(`/${channel}/code`, post()),
  leaveChannel: (channel) => ask(`/${channel}/mine`, gone),
  removeFromChannel: (channel, name) => ask(`/${channel}/people/${at(name)}`, gone),
  spending: (days) => ask(`/spending?days=${days}`),
  letters: (cursor) => ask(`/letters${cursor ? `?cursor=${at(cursor)}` : ""}`),
  retry: (id) => ask(`/letters/${at(id)}/retry`, post()),
  drop: (id) => ask(`/letters/${at(id)}`, gone),
  doctor: () => ask("/doctor"),
  household: () => ask("/household"),
  invite: (name) => ask("/invitations", post({ name })),
  endInvitation: (id) => ask(`/invitations/${at(id)}`, gone),
  sessions: () => ask("/sessions"),
  endSession: (id) => ask(`/sessions/${at(id)}`, gone),
  endOtherSessions: () => ask("/sessions", gone),
  tokens: () => ask("/tokens"),
  makeToken: (wanted) => ask("/tokens", post(wanted)),
  endToken: (id) => ask(`/tokens/${at(id)}`, gone),
  passkeys: () => ask("/passkeys"),
  askForPasskey: () => ask("/passkeys/options", post()),
  addPasskey: (made) => ask("/passkeys", post(made)),
  takePasskey: (id) => ask(`/passkeys/${at(id)}`, gone),
};
