// Access: sign-in links, passkeys, tokens, linked apps, and active sessions.
import { useState } from "../../vendor/hooks.js";
import { api } from "../api.js";
import { html } from "../html.js";
import { unsubscribe } from "../app_shell.js";
import { canMakePasskeys } from "../sign_in.js";
import * as store from "../store.js";
import * as outbox from "../outbox.js";
import { LANGUAGES, channelName, language, formatShortDay, setLanguage, t, formatTime, listTimeZones } from "../i18n.js";
import { settingsApi } from "./api.js";
import { Section, ShownOnce, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

const SCOPES = [["read", "settings_scope_read"], ["write", "settings_scope_write"], ["speak", "settings_scope_speak"], ["frontend", "settings_scope_frontend"], ["admin", "settings_scope_admin"]];

export function YouSection() {
  const [trouble, isBusy, run] = useAction();
  const me = store.me.value;
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const change = (changes, before, what) => run(async () => {
    await store.updateMe(changes);
    showDone(t("settings_saved", { what }), () => store.updateMe(before));
  });
  const rename = ({ target }) => target.value.trim() && target.value.trim() !== me.name && change({ name: target.value.trim() }, { name: me.name }, t("settings_name"));
  const moveTo = (zone) => change({ zone }, { zone: me.zone }, t("settings_zone"));
  return html`<${Section} id="you" title=${t("settings_you")}>
    <div class="choice"><label for="my-name">${t("settings_name")}</label><span class="given"><input id="my-name" maxlength="200" value=${me.name} disabled=${isBusy} onChange=${rename} /></span>
      <p class="hint">${t("settings_name_hint")}</p></div>
    <div class="choice is-choice"><label for="language">${t("language")}</label><span class="given"><select id="language" value=${language.value} onChange=${({ target }) => setLanguage(target.value)}>
      ${Object.entries(LANGUAGES).map(([code, name]) => html`<option key=${code} value=${code}>${name}</option>`)}</select></span>
      <p class="hint">${t("settings_language_hint")}</p></div>
    <div class="choice is-choice"><label for="zone">${t("settings_zone")}</label><span class="given">
      ${here !== me.zone && html`<button onClick=${() => moveTo(here)}>${t("settings_zone_use", { zone: here })}</button>`}
      <select id="zone" value=${me.zone} disabled=${isBusy} onChange=${({ target }) => moveTo(target.value)}>${listTimeZones(me.zone, here).map((each) => html`<option key=${each}>${each}</option>`)}</select></span>
      <p class="hint">${t("settings_zone_hint")}</p></div>
    <${ErrorMessage} text=${trouble} />
    <p class="choices"><button onClick=${() => run(leave)}>${t("sign_out")}</button></p></${Section}>`;
}


/** Sign out; whose session is over already is out. */
async function leave() {
  await api.signOut().catch((problem) => {
    if (problem.status !== 401) throw problem;
  });
  outbox.clearForSignOut();
  await unsubscribe().catch(() => {}); // the server sends nothing any more, whether or not the browser can be told
  location.assign("/");
}

export function AccessSection() {
  return html`<${Section} id="signing" title=${t("settings_signing")} lead=${t("settings_signing_lead")}><${Places} /><${Passkeys} /><${Sessions} /><${Tokens} /><${Feed} /></${Section}>`;
}

/** Where somebody is known: codes by which another app is theirs too, and what was joined by one. */
function Places() {
  const [told, problem, again] = useLoaded(settingsApi.places);
  const [shown, setShown] = useState(null);
  const [code, setCode] = useState("");
  const [seen, setSeen] = useState(null);
  const [trouble, isBusy, run] = useAction();
  const give = () => run(async () => setShown(await settingsApi.placeCode()));
  const look = (event) => {
    event.preventDefault();
    run(async () => setSeen(await settingsApi.lookAtPlace(code)));
  };
  const join = () => run(async () => {
    await settingsApi.joinPlace(code);
    location.reload(); // who is signed in may have another name now
  });
  const leave = ({ channel, address }) => run(async () => (await settingsApi.leavePlace(channel, address), await again(), showDone(t("settings_place_left"))));
  const undo = (id) => run(async () => (await settingsApi.undoJoin(id), await again(), showDone(t("settings_join_undone"))));
  return html`<h4>${t("settings_places")}</h4><p class="hint">${t("settings_places_hint")}</p>
    ${told ? html`<ul role="list" class="list">${told.items.map((each) => html`<li key=${`${each.channel} ${each.address}`}><span><span class="channel">${channelName(each.channel)}</span> <span class="meta">${each.address}</span></span>
      <${ConfirmButton} label=${t("settings_place_leave")} name=${channelName(each.channel)} ask=${t("settings_place_leave_ask")} onSure=${() => leave(each)} /></li>`)}
      ${told.merges.map((each, place) => html`<li key=${each.id}><span>${t("settings_joined_with", { name: each.name, when: formatShortDay(each.merged_at) })}</span>
        ${place === 0 && html`<${ConfirmButton} label=${t("settings_join_undo")} name=${each.name} ask=${t("settings_join_undo_ask", { name: each.name, when: formatShortDay(each.undo_until) })} onSure=${() => undo(each.id)} />`}</li>`)}</ul>` : html`<${Loading} problem=${problem} again=${again} />`}
    <p class="choices"><button disabled=${isBusy} onClick=${give}>${t("settings_get_code")}</button></p>
    ${shown && html`<div class="pairing" role="status"><div><p class="code">${shown.code.slice(0, 3)} ${shown.code.slice(3)}</p><p>${t("settings_place_code_how", { time: formatTime(shown.expires_at) })}</p></div></div>`}
    <form class="asking" onSubmit=${look}><label class="visually-hidden" for="place-code">${t("settings_place_code")}</label>
      <input id="place-code" inputmode="numeric" autocomplete="off" placeholder=${t("settings_place_code")} value=${code} onInput=${({ target }) => (setCode(target.value), setSeen(null))} />
      <button disabled=${isBusy || !/^\s*\d{3}[ -]?\d{3}\s*$/.test(code)}>${t("settings_place_look")}</button></form>
    ${seen && html`<div role="status"><p>${t("settings_join_what", seen)} ${Object.entries(seen.counts).filter(([, count]) => count).map(([what, count]) => `${t(`settings_join_${what}`)}: ${count}`).join(", ")}</p>
      ${seen.contradictions.length > 0 && html`<p class="hint">${t("settings_join_rivals")}</p><ul class="list">${seen.contradictions.map(({ older, newer }) => html`<li key=${older + newer}>${older} → ${newer}</li>`)}</ul>`}
      <p class="hint">${t("settings_join_then")} ${seen.ends_oura && t("settings_join_oura")}</p><p class="choices"><button class="main" disabled=${isBusy} onClick=${join}>${t("settings_join")}</button></p></div>`}
    <${ErrorMessage} text=${trouble} />`;
}

function Passkeys() {
  const [told, problem, again] = useLoaded(settingsApi.passkeys);
  const [trouble, isBusy, run] = useAction();
  const add = () => run(async () => {
    const { options } = await settingsApi.askForPasskey();
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    const made = /** @type {PublicKeyCredential | null} */ (await navigator.credentials.create({ publicKey }).catch(ignoreRefusal));
    if (!made) return;
    const { name } = await settingsApi.addPasskey({ credential: made.toJSON(), name: "" });
    await again();
    showDone(t("settings_saved", { what: name }));
  });
  const take = (id) => run(async () => (await settingsApi.takePasskey(id), await again(), showDone(t("settings_passkey_gone"))));
  return html`<h4>${t("settings_passkeys")}</h4><p class="hint">${t("settings_passkeys_hint")}</p>
    ${told ? html`<ul role="list" class="list">${told.items.map((each) => html`<li key=${each.id}><span>${each.name} <span class="meta">${lastUsed(each.used_at)}</span></span>
      <${ConfirmButton} label=${t("settings_remove")} name=${each.name} ask=${t("settings_passkey_ask")} onSure=${() => take(each.id)} /></li>`)}</ul>` : html`<${Loading} problem=${problem} again=${again} />`}
    ${canMakePasskeys ? html`<p class="choices"><button disabled=${isBusy} onClick=${add}>${t("settings_passkey_add")}</button></p>` : html`<p class="hint">${t("settings_passkey_not_here")}</p>`}
    <${ErrorMessage} text=${trouble} />`;
}

/** Somebody changed their mind, or their device did not know them. @param {DOMException} error */
export function ignoreRefusal(error) {
  if (error.name === "NotAllowedError" || error.name === "AbortError") return null;
  throw new Error(error.name === "InvalidStateError" ? t("settings_passkey_known") : error.message);
}

const lastUsed = (at) => (at ? t("settings_used", { when: formatShortDay(at) }) : t("settings_never_used"));

function Sessions() {
  const [told, problem, again] = useLoaded(settingsApi.sessions);
  const [trouble, , run] = useAction();
  const end = (id) => run(async () => (await settingsApi.endSession(id), await again(), showDone(t("settings_session_ended"))));
  const endOthers = () => run(async () => (await settingsApi.endOtherSessions(), await again(), showDone(t("settings_others_ended"))));
  const ways = { link: t("settings_by_link"), invitation: t("settings_by_invitation"), passkey: t("settings_by_passkey") };
  return html`<h4>${t("settings_sessions")}</h4>
    ${told ? html`<ul role="list" class="list">${told.items.map((each) => html`<li key=${each.id}><span>${each.browser || t("settings_some_browser")}
        <span class="meta">${[each.is_this && t("settings_this_one"), ways[each.opened_with], lastUsed(each.used_at)].filter(Boolean).join(" · ")}</span></span>
      ${!each.is_this && html`<${ConfirmButton} label=${t("settings_end")} name=${each.browser} ask=${t("settings_end_session_ask")} onSure=${() => end(each.id)} />`}</li>`)}</ul>
      ${told.items.length > 1 && html`<p class="choices"><${ConfirmButton} label=${t("settings_end_others")} ask=${t("settings_end_session_ask")} onSure=${endOthers} /></p>`}` : html`<${Loading} problem=${problem} again=${again} />`}
    <${ErrorMessage} text=${trouble} />`;
}

/** The secret address at which a calendar reads reminders: shown once, until it is revoked. */
function Feed() {
  const [told, problem, again] = useLoaded(settingsApi.feed);
  const [made, setMade] = useState(null);
  const [trouble, isBusy, run] = useAction();
  const make = () => run(async () => {
    setMade(await settingsApi.makeFeed());
    await again();
  });
  const end = () => run(async () => (await settingsApi.endFeed(), setMade(null), await again(), showDone(t("settings_feed_ended"))));
  return html`<h4>${t("settings_feed")}</h4><p class="hint">${t("settings_feed_hint")}</p>
    ${told ? html`<p class="choices">${told.made && html`<span class="meta">${t("settings_feed_since", { when: formatShortDay(told.made) })}</span>`}
      <button disabled=${isBusy} onClick=${make}>${t(told.made ? "settings_feed_anew" : "settings_feed_make")}</button>
      ${told.made && html`<${ConfirmButton} label=${t("settings_end")} name=${t("settings_feed")} ask=${t("settings_feed_ask")} onSure=${end} />`}</p>` : html`<${Loading} problem=${problem} again=${again} />`}
    <${ErrorMessage} text=${trouble} />${made && html`<${ShownOnce} text=${location.origin + made.path} label=${t("settings_token_made")} />`}`;
}

function Tokens() {
  const [told, problem, again] = useLoaded(settingsApi.tokens);
  const [wanted, setWanted] = useState({ name: "", scope: "read", days: 90 });
  const [made, setMade] = useState(null);
  const [trouble, isBusy, run] = useAction();
  const make = (event) => {
    event.preventDefault();
    run(async () => {
      setMade(await settingsApi.makeToken(wanted));
      setWanted({ ...wanted, name: "" });
      await again();
    });
  };
  const end = (id) => run(async () => (await settingsApi.endToken(id), made?.id === id && setMade(null), await again(), showDone(t("settings_token_ended"))));
  const renew = (id) => run(async () => (setMade(await settingsApi.renewToken(id)), await again()));
  const set = (field, read) => ({ target }) => setWanted({ ...wanted, [field]: read ? read(target.value) : target.value });
  return html`<h4>${t("settings_tokens")}</h4><p class="hint">${t("settings_tokens_hint")}</p>
    ${told ? html`<ul role="list" class="list">${told.items.map((each) => html`<li key=${each.id}><span>${each.name}
        <span class="meta">${[t(SCOPES.find(([name]) => name === each.scope)?.[1] ?? each.scope), each.is_over ? t("settings_over") : t("settings_until", { when: formatShortDay(each.expires_at) }), lastUsed(each.used_at)].join(" · ")}</span></span>
      <span>${!each.is_hosted && html`<${ConfirmButton} label=${t("settings_renew")} name=${each.name} ask=${t("settings_renew_token_ask")} onSure=${() => renew(each.id)} />`}
      <${ConfirmButton} label=${t("settings_end")} name=${each.name} ask=${t("settings_end_token_ask")} onSure=${() => end(each.id)} /></span></li>`)}</ul>` : html`<${Loading} problem=${problem} again=${again} />`}
    <form class="choosing" onSubmit=${make}>
      <label for="token-name">${t("settings_token_name")}</label><input id="token-name" maxlength="80" value=${wanted.name} onInput=${set("name")} />
      <label for="token-scope">${t("settings_token_scope")}</label><select id="token-scope" value=${wanted.scope} onChange=${set("scope")}>${SCOPES.map(([name, words]) => html`<option key=${name} value=${name}>${t(words)}</option>`)}</select>
      <label for="token-days">${t("settings_token_days")}</label><input id="token-days" type="number" min="1" max="366" value=${wanted.days} onChange=${set("days", Number)} />
      <p class="choices wide"><button disabled=${isBusy || !wanted.name.trim()}>${t("settings_token_make")}</button></p></form>
    <${ErrorMessage} text=${trouble} />${made && html`<${ShownOnce} text=${made.token} label=${t("settings_token_made")} />`}`;
}
