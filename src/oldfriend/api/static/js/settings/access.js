// The sections You and Access: name, language, linked accounts, passkeys, sessions, tokens, and the calendar feed.
import { useState } from "../../vendor/hooks.js";
import { api } from "../api.js";
import { html } from "../html.js";
import { unsubscribe } from "../app_shell.js";
import { canMakePasskeys } from "../sign_in.js";
import * as store from "../store.js";
import * as outbox from "../outbox.js";
import { LANGUAGES, channelName, language, formatShortDay, setLanguage, t, formatTime, listTimeZones } from "../i18n.js";
import { settingsApi } from "./api.js";
import { Section, ShownOnce, ConfirmButton, showDone, ErrorMessage, useChange, useLoaded, useAction, Loading } from "./form_parts.js";

const SCOPES = [["read", "settings_scope_read"], ["write", "settings_scope_write"], ["speak", "settings_scope_speak"], ["frontend", "settings_scope_frontend"], ["admin", "settings_scope_admin"]];

export function YouSection() {
  const [actionError, isBusy, run] = useAction();
  const me = store.me.value;
  const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const change = (changes, previous, label) => run(async () => {
    await store.updateMe(changes);
    showDone(t("settings_saved", { what: label }), () => store.updateMe(previous));
  });
  const rename = ({ target }) => target.value.trim() && target.value.trim() !== me.name && change({ name: target.value.trim() }, { name: me.name }, t("settings_name"));
  const setZone = (zone) => change({ zone }, { zone: me.zone }, t("settings_zone"));
  return html`<${Section} id="you" title=${t("settings_you")}>
    <div class="choice"><label for="my-name">${t("settings_name")}</label><span class="given"><input id="my-name" maxlength="200" value=${me.name} disabled=${isBusy} onChange=${rename} /></span>
      <p class="hint">${t("settings_name_hint")}</p></div>
    <div class="choice is-choice"><label for="language">${t("language")}</label><span class="given"><select id="language" value=${language.value} onChange=${({ target }) => setLanguage(target.value)}>
      ${Object.entries(LANGUAGES).map(([code, name]) => html`<option key=${code} value=${code}>${name}</option>`)}</select></span>
      <p class="hint">${t("settings_language_hint")}</p></div>
    <div class="choice is-choice"><label for="zone">${t("settings_zone")}</label><span class="given">
      ${browserZone !== me.zone && html`<button onClick=${() => setZone(browserZone)}>${t("settings_zone_use", { zone: browserZone })}</button>`}
      <select id="zone" value=${me.zone} disabled=${isBusy} onChange=${({ target }) => setZone(target.value)}>${listTimeZones(me.zone, browserZone).map((each) => html`<option key=${each}>${each}</option>`)}</select></span>
      <p class="hint">${t("settings_zone_hint")}</p></div>
    <${ErrorMessage} text=${actionError} />
    <p class="choices"><button onClick=${() => run(signOut)}>${t("sign_out")}</button></p></${Section}>`;
}


/** Sign out and go to the start page; an expired session counts as signed out. */
async function signOut() {
  await api.signOut().catch((error) => {
    if (error.status !== 401) throw error;
  });
  outbox.clearForSignOut();
  await unsubscribe().catch(() => {}); // the server has ended the subscription already
  location.assign("/");
}

export function AccessSection() {
  return html`<${Section} id="signing" title=${t("settings_signing")} lead=${t("settings_signing_lead")}><${LinkedAccounts} /><${Passkeys} /><${Sessions} /><${Tokens} /><${Feed} /></${Section}>`;
}

const accountKey = ({ channel, address }) => `${channel} ${address}`;

/** The person's accounts on chat platforms: listing and unlinking them, linking another by a code, and undoing the last merge. */
function LinkedAccounts() {
  const [accounts, loadError, reload] = useLoaded(settingsApi.linkedAccounts);
  useChange(store.linkedAccountsChanged.value, async () => {
    const before = accounts?.items.map(accountKey);
    const loaded = await reload();
    if (before && loaded?.items.some((each) => !before.includes(accountKey(each)))) setLinkCode(null); // it was used
  });
  const [linkCode, setLinkCode] = useState(null);
  const [code, setCode] = useState("");
  const [preview, setPreview] = useState(null);
  const [actionError, isBusy, run] = useAction();
  const createCode = () => run(async () => setLinkCode(await settingsApi.linkCode()));
  const showPreview = (event) => {
    event.preventDefault();
    run(async () => setPreview(await settingsApi.previewLink(code)));
  };
  const join = () => run(async () => {
    await settingsApi.joinAccount(code);
    location.reload(); // the name of the signed-in person may have changed
  });
  const unlink = ({ channel, address }) => run(async () => (await settingsApi.unlinkAccount(channel, address), await reload(), showDone(t("settings_place_left"))));
  const undoMerge = (id) => run(async () => (await settingsApi.undoMerge(id), await reload(), showDone(t("settings_join_undone"))));
  return html`<h4>${t("settings_places")}</h4><p class="hint">${t("settings_places_hint")}</p>
    ${accounts ? html`<ul role="list" class="list">${accounts.items.map((each) => html`<li key=${accountKey(each)}><span><span class="channel">${channelName(each.channel)}</span> <span class="meta">${each.label}</span></span>
      <${ConfirmButton} label=${t("settings_place_leave")} name=${channelName(each.channel)} question=${t("settings_place_leave_ask")} onConfirm=${() => unlink(each)} /></li>`)}
      ${accounts.merges.map((each, index) => html`<li key=${each.id}><span>${t("settings_joined_with", { name: each.name, when: formatShortDay(each.merged_at) })}</span>
        ${index === 0 && html`<${ConfirmButton} label=${t("settings_join_undo")} name=${each.name} question=${t("settings_join_undo_ask", { name: each.name, when: formatShortDay(each.undo_until) })} onConfirm=${() => undoMerge(each.id)} />`}</li>`)}</ul>` : html`<${Loading} error=${loadError} reload=${reload} />`}
    <p class="choices"><button disabled=${isBusy} onClick=${createCode}>${t("settings_get_code")}</button></p>
    ${linkCode && html`<div class="pairing" role="status"><div><p class="code">${linkCode.code.slice(0, 3)} ${linkCode.code.slice(3)}</p><p>${t("settings_place_code_how", { time: formatTime(linkCode.expires_at) })}</p></div></div>`}
    <form class="asking" onSubmit=${showPreview}><label class="visually-hidden" for="place-code">${t("settings_place_code")}</label>
      <input id="place-code" inputmode="numeric" autocomplete="off" placeholder=${t("settings_place_code")} value=${code} onInput=${({ target }) => (setCode(target.value), setPreview(null))} />
      <button disabled=${isBusy || !/^\s*\d{3}[ -]?\d{3}\s*$/.test(code)}>${t("settings_place_look")}</button></form>
    ${preview && html`<div role="status"><p>${t("settings_join_what", preview)} ${Object.entries(preview.counts).filter(([, count]) => count).map(([what, count]) => `${t(`settings_join_${what}`)}: ${count}`).join(", ")}</p>
      ${preview.contradictions.length > 0 && html`<p class="hint">${t("settings_join_rivals")}</p><ul class="list">${preview.contradictions.map(({ older, newer }) => html`<li key=${older + newer}>${older} → ${newer}</li>`)}</ul>`}
      <p class="hint">${t("settings_join_then")} ${preview.ends_oura && t("settings_join_oura")}</p><p class="choices"><button class="main" disabled=${isBusy} onClick=${join}>${t("settings_join")}</button></p></div>`}
    <${ErrorMessage} text=${actionError} />`;
}

function Passkeys() {
  const [passkeys, loadError, reload] = useLoaded(settingsApi.passkeys);
  const [actionError, isBusy, run] = useAction();
  const add = () => run(async () => {
    const { options } = await settingsApi.passkeyOptions();
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    const credential = /** @type {PublicKeyCredential | null} */ (await navigator.credentials.create({ publicKey }).catch(ignoreRefusal));
    if (!credential) return;
    const { name } = await settingsApi.addPasskey({ credential: credential.toJSON(), name: "" });
    await reload();
    showDone(t("settings_saved", { what: name }));
  });
  const remove = (id) => run(async () => (await settingsApi.deletePasskey(id), await reload(), showDone(t("settings_passkey_gone"))));
  return html`<h4>${t("settings_passkeys")}</h4><p class="hint">${t("settings_passkeys_hint")}</p>
    ${passkeys ? html`<ul role="list" class="list">${passkeys.items.map((each) => html`<li key=${each.id}><span>${each.name} <span class="meta">${formatLastUsed(each.used_at)}</span></span>
      <${ConfirmButton} label=${t("settings_remove")} name=${each.name} question=${t("settings_passkey_ask")} onConfirm=${() => remove(each.id)} /></li>`)}</ul>` : html`<${Loading} error=${loadError} reload=${reload} />`}
    ${canMakePasskeys ? html`<p class="choices"><button disabled=${isBusy} onClick=${add}>${t("settings_passkey_add")}</button></p>` : html`<p class="hint">${t("settings_passkey_not_here")}</p>`}
    <${ErrorMessage} text=${actionError} />`;
}

/** Returns null if the person or the device cancelled a passkey dialog; other errors are thrown. @param {DOMException} error */
export function ignoreRefusal(error) {
  if (error.name === "NotAllowedError" || error.name === "AbortError") return null;
  throw new Error(error.name === "InvalidStateError" ? t("settings_passkey_known") : error.message);
}

const formatLastUsed = (at) => (at ? t("settings_used", { when: formatShortDay(at) }) : t("settings_never_used"));

function Sessions() {
  const [sessions, loadError, reload] = useLoaded(settingsApi.sessions);
  const [actionError, , run] = useAction();
  const end = (id) => run(async () => (await settingsApi.endSession(id), await reload(), showDone(t("settings_session_ended"))));
  const endOthers = () => run(async () => (await settingsApi.endOtherSessions(), await reload(), showDone(t("settings_others_ended"))));
  const methods = { link: t("settings_by_link"), invitation: t("settings_by_invitation"), passkey: t("settings_by_passkey") };
  return html`<h4>${t("settings_sessions")}</h4>
    ${sessions ? html`<ul role="list" class="list">${sessions.items.map((each) => html`<li key=${each.id}><span>${each.browser || t("settings_some_browser")}
        <span class="meta">${[each.is_this && t("settings_this_one"), methods[each.opened_with], formatLastUsed(each.used_at)].filter(Boolean).join(" · ")}</span></span>
      ${!each.is_this && html`<${ConfirmButton} label=${t("settings_end")} name=${each.browser} question=${t("settings_end_session_ask")} onConfirm=${() => end(each.id)} />`}</li>`)}</ul>
      ${sessions.items.length > 1 && html`<p class="choices"><${ConfirmButton} label=${t("settings_end_others")} question=${t("settings_end_session_ask")} onConfirm=${endOthers} /></p>`}` : html`<${Loading} error=${loadError} reload=${reload} />`}
    <${ErrorMessage} text=${actionError} />`;
}

/** The secret URL from which a calendar app reads reminders: created and revoked here, shown only once. */
function Feed() {
  const [feed, loadError, reload] = useLoaded(settingsApi.feed);
  const [created, setCreated] = useState(null);
  const [actionError, isBusy, run] = useAction();
  const create = () => run(async () => {
    setCreated(await settingsApi.createFeed());
    await reload();
  });
  const revoke = () => run(async () => (await settingsApi.revokeFeed(), setCreated(null), await reload(), showDone(t("settings_feed_ended"))));
  return html`<h4>${t("settings_feed")}</h4><p class="hint">${t("settings_feed_hint")}</p>
    ${feed ? html`<p class="choices">${feed.made && html`<span class="meta">${t("settings_feed_since", { when: formatShortDay(feed.made) })}</span>`}
      <button disabled=${isBusy} onClick=${create}>${t(feed.made ? "settings_feed_anew" : "settings_feed_make")}</button>
      ${feed.made && html`<${ConfirmButton} label=${t("settings_end")} name=${t("settings_feed")} question=${t("settings_feed_ask")} onConfirm=${revoke} />`}</p>` : html`<${Loading} error=${loadError} reload=${reload} />`}
    <${ErrorMessage} text=${actionError} />${created && html`<${ShownOnce} text=${location.origin + created.path} label=${t("settings_token_made")} />`}`;
}

function Tokens() {
  const [tokens, loadError, reload] = useLoaded(settingsApi.tokens);
  const [draft, setDraft] = useState({ name: "", scope: "read", days: 90 });
  const [created, setCreated] = useState(null);
  const [actionError, isBusy, run] = useAction();
  const create = (event) => {
    event.preventDefault();
    run(async () => {
      setCreated(await settingsApi.createToken(draft));
      setDraft({ ...draft, name: "" });
      await reload();
    });
  };
  const revoke = (id) => run(async () => (await settingsApi.revokeToken(id), created?.id === id && setCreated(null), await reload(), showDone(t("settings_token_ended"))));
  const renew = (id) => run(async () => (setCreated(await settingsApi.renewToken(id)), await reload()));
  const set = (field, parse) => ({ target }) => setDraft({ ...draft, [field]: parse ? parse(target.value) : target.value });
  return html`<h4>${t("settings_tokens")}</h4><p class="hint">${t("settings_tokens_hint")}</p>
    ${tokens ? html`<ul role="list" class="list">${tokens.items.map((each) => html`<li key=${each.id}><span>${each.name}
        <span class="meta">${[t(SCOPES.find(([name]) => name === each.scope)?.[1] ?? each.scope), each.is_over ? t("settings_over") : t("settings_until", { when: formatShortDay(each.expires_at) }), formatLastUsed(each.used_at)].join(" · ")}</span></span>
      <span>${!each.is_hosted && html`<${ConfirmButton} label=${t("settings_renew")} name=${each.name} question=${t("settings_renew_token_ask")} onConfirm=${() => renew(each.id)} />`}
      <${ConfirmButton} label=${t("settings_end")} name=${each.name} question=${t("settings_end_token_ask")} onConfirm=${() => revoke(each.id)} /></span></li>`)}</ul>` : html`<${Loading} error=${loadError} reload=${reload} />`}
    <form class="choosing" onSubmit=${create}>
      <label for="token-name">${t("settings_token_name")}</label><input id="token-name" maxlength="80" value=${draft.name} onInput=${set("name")} />
      <label for="token-scope">${t("settings_token_scope")}</label><select id="token-scope" value=${draft.scope} onChange=${set("scope")}>${SCOPES.map(([name, label]) => html`<option key=${name} value=${name}>${t(label)}</option>`)}</select>
      <label for="token-days">${t("settings_token_days")}</label><input id="token-days" type="number" min="1" max="366" value=${draft.days} onChange=${set("days", Number)} />
      <p class="choices wide"><button disabled=${isBusy || !draft.name.trim()}>${t("settings_token_make")}</button></p></form>
    <${ErrorMessage} text=${actionError} />${created && html`<${ShownOnce} text=${created.token} label=${t("settings_secret_of", { name: created.name })} />`}`;
}
