// Channels: the owner connects a bot, each person links their account by a code.
import { useState } from "../../vendor/hooks.js";
import { CHANNELS } from "../channels.js";
import { CopyButton } from "../chat/copy_button.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { translateServerText, t, formatShortDay, formatTime } from "../i18n.js";
import { SettingField, installSettings, loadSettings } from "./install_settings.js";
import { settingsApi } from "./api.js";
import { CollapsibleSection, Section, ConfirmButton, showDone, ErrorMessage, useChange, useLoaded, useAction, Loading } from "./form_parts.js";

/** @param {{openChannel: string}} props the channel whose section is open, if any */
export function ChannelsSection({ openChannel }) {
  return html`<${Section} id="apps" title=${t("settings_apps")} lead=${t("settings_apps_lead")}>
    <div class="folds">${CHANNELS.map((channel) => html`<${Channel} key=${channel} channel=${channel} isOpen=${openChannel === channel} />`)}</div></${Section}>`;
}

function Channel({ channel, isOpen }) {
  const [status, loadError, reload] = useLoaded(() => settingsApi.channel(channel));
  useChange(store.linkedAccountsChanged.value, reload);
  const isPaused = installSettings.value?.[`${channel}.enabled`]?.value === false;
  const connected = isPaused ? "settings_app_paused" : status?.is_mine ? "settings_app_on" : "settings_app_open";
  const since = status?.is_connected && !isPaused && status.unreachable_since;
  const state = loadError ? t("lost") : since ? t("settings_app_away", { when: formatShortDay(since) }) : status && t(status.is_connected ? connected : "settings_app_off");
  return html`<${CollapsibleSection} id=${channel} title=${t(`${channel}_title`)} state=${state} isGood=${status?.is_connected && status.is_mine && !isPaused && !since} isOpen=${isOpen}>
    <p class="lead">${t(`${channel}_lead`)}</p>
    ${status ? html`<${ChannelContent} channel=${channel} status=${status} isOwner=${store.me.value.is_owner} reload=${reload} />` : html`<${Loading} error=${loadError} reload=${reload} />`}</${CollapsibleSection}>`;
}

/** The address of a bot as people write it: a number with a plus, a name with an at sign, all else as it is. @param {string} bot */
const formatBot = (bot) => (/^\d+$/.test(bot) ? `+${bot}` : bot.includes("@") ? bot : `@${bot}`);

function ChannelContent({ channel, status, isOwner, reload }) {
  const [actionError, , run] = useAction();
  if (!status.is_connected) return isOwner ? html`<${ConnectForm} channel=${channel} fields=${status.credentials} makeLink=${status.make_link} port=${status.listen_port} reload=${reload} />` : html`<p class="hint">${t("settings_no_bot")}</p>`;
  const unlink = () => run(async () => (await settingsApi.unlinkChannel(channel), await reload(), showDone(t("settings_left_channel"))));
  const remove = (name) => run(async () => (await settingsApi.removeFromChannel(channel, name), await reload(), showDone(t("settings_removed", { name }))));
  const disconnect = () => run(async () => (await settingsApi.disconnectBot(channel), await reload(), showDone(t("settings_bot_gone"))));
  return html`<p>${status.bot ? t("settings_bot", { bot: formatBot(status.bot) }) : t("settings_bot_silent", { title: t(`${channel}_title`) })} ${status.is_mine ? t("settings_is_mine") : t("settings_not_mine")}</p>
    ${(status.pairs_by_code || !isOwner) && html`<${Pairing} channel=${channel} isMine=${status.is_mine} isPublic=${status.pairs_by_code} />`}
    ${status.is_mine && html`<p class="choices"><${ConfirmButton} label=${t("settings_leave_channel")} question=${t("settings_leave_channel_ask")} onConfirm=${unlink} /></p>`}
    ${!status.pairs_by_code && isOwner && html`<${OwnAddress} channel=${channel} reload=${reload} />`}
    ${isOwner && status.needed_setting && html`<${NeededSetting} channel=${channel} name=${status.needed_setting} />`}
    ${isOwner && html`<h5>${t("settings_known_there")}</h5>
      ${status.people.length ? html`<ul role="list" class="list">${status.people.map(({ name, addresses }) => html`<li key=${name}><span>${name}${addresses > 1 ? ` (${addresses})` : ""}</span>
        <${ConfirmButton} label=${t("settings_remove")} name=${name} question=${t("settings_remove_ask")} onConfirm=${() => remove(name)} /></li>`)}</ul>` : html`<p class="hint">${t("settings_nobody_there")}</p>`}
      <${SettingField} name=${`${channel}.allowed`} kind="list" label=${t(status.pairs_by_code ? "settings_allowed" : "settings_let_in")} hint=${t(`${channel}_allowed_hint`)} />
      <${SettingField} name=${`${channel}.enabled`} kind="toggle" label=${t("settings_channel_on")} hint=${t("settings_channel_on_hint")} />
      ${!status.is_mine && html`<p class="hint">${t(`${channel}_bot_make`, { port: status.listen_port })}</p>`}
      <p class="choices">${status.token_in && html`<span class="hint">${t("settings_token_in", { where: translateServerText(status.token_in) })}</span>`}
        <${ConfirmButton} label=${t("settings_bot_let_go")} question=${t("settings_bot_let_go_ask")} onConfirm=${disconnect} /></p>`}
    <${ErrorMessage} text=${actionError} />`;
}

function ConnectForm({ channel, fields, makeLink, port, reload }) {
  const [values, setValues] = useState({});
  const [actionError, isBusy, run] = useAction();
  const connect = (event) => {
    event.preventDefault();
    run(async () => {
      const { name } = await settingsApi.connectBot(channel, values);
      setValues({});
      await reload();
      showDone(t("settings_bot", { bot: formatBot(name) }));
    });
  };
  return html`<ol class="how-to"><li>${t(`${channel}_bot_make`, { port })}${makeLink && html`<p class="choices"><a href=${makeLink} rel="noreferrer" target="_blank">${t("settings_make_bot")}</a> <${CopyButton} text=${makeLink} /></p>`}</li><li>${t("settings_bot_paste")}</li></ol>
    <form class="asking" onSubmit=${connect}>${fields.map((each) => {
      const label = fields.length > 1 ? t(`${channel}_credential_${each.name}`) : t("settings_bot_token");
      return html`<label class="visually-hidden" for=${`${channel}-${each.name}`}>${label}</label>
      <input id=${`${channel}-${each.name}`} type=${each.is_secret ? "password" : "text"} autocomplete="off" placeholder=${each.default ? `${label} (${each.default})` : label} value=${values[each.name] ?? ""} onInput=${({ target }) => setValues({ ...values, [each.name]: target.value })} />`;
    })}
      <button class="main" disabled=${isBusy || fields.some(({ name, default: defaultValue }) => !defaultValue && !values[name]?.trim())}>${t("settings_connect")}</button></form>
    <p class="hint">${t(`${channel}_bot_reads`)}</p><${ErrorMessage} text=${actionError} />`;
}

/** A code that links whoever sends it; where strangers are not heard, first their address must be let in. */
function Pairing({ channel, isMine, isPublic }) {
  const [pairing, setPairing] = useState(null);
  const [actionError, isBusy, run] = useAction();
  const createCode = () => run(async () => setPairing(await settingsApi.pairingCode(channel)));
  useChange(isMine, () => setPairing(null));
  return html`${!isPublic && !isMine && html`<p class="hint">${t("settings_ask_to_be_let_in")}</p>`}<p class="choices"><button disabled=${isBusy} onClick=${createCode}>${t("settings_get_code")}</button></p><${ErrorMessage} text=${actionError} />
    ${pairing && html`<div class="pairing" role="status">
      ${pairing.qr && html`<svg class="qr" viewBox=${`0 0 ${pairing.qr_size} ${pairing.qr_size}`} role="img" aria-label=${t("settings_qr")}><rect width="100%" height="100%" /><path d=${pairing.qr} /></svg>`}
      <div><p class="code">${pairing.code.slice(0, 3)} ${pairing.code.slice(3)}</p>
        <p>${t(!isPublic ? "settings_code_how_mail" : pairing.link ? "settings_code_how" : "settings_code_how_alone", { time: formatTime(pairing.expires_at) })}</p>
        ${pairing.link && html`<p><a href=${pairing.link} rel="noreferrer" target="_blank">${t(isPublic ? "settings_open_bot" : "settings_code_mail")}</a></p>`}</div></div>`}`;
}

/** The owner's own address, on a channel where nobody sends a code. @param {{channel: string, reload: () => unknown}} props */
function OwnAddress({ channel, reload }) {
  const [address, setAddress] = useState("");
  const [actionError, isBusy, run] = useAction();
  const link = (event) => {
    event.preventDefault();
    run(async () => {
      await settingsApi.linkOwnAddress(channel, address);
      setAddress("");
      await Promise.all([reload(), loadSettings()]);
      showDone(t("settings_is_mine"));
    });
  };
  return html`<form class="asking" onSubmit=${link}><label class="visually-hidden" for=${`${channel}-mine`}>${t("settings_own_address")}</label>
    <input id=${`${channel}-mine`} autocomplete="off" placeholder=${t("settings_own_address")} value=${address} onInput=${({ target }) => setAddress(target.value)} />
    <button disabled=${isBusy || !address.trim()}>${t("settings_own_address_link")}</button></form><${ErrorMessage} text=${actionError} />`;
}

/** The setting without which nobody is answered on a channel, with what the checks say of it. @param {{channel: string, name: string}} props */
function NeededSetting({ channel, name }) {
  const [findings, setFindings] = useState(null);
  const [actionError, isBusy, run] = useAction();
  const look = () => run(async () => setFindings((await settingsApi.checkBot(channel)).findings.filter(({ is_well }) => !is_well)));
  return html`<${SettingField} name=${name} kind="text" label=${t("email_needed")} hint=${t("email_needed_hint")} />
    ${!installSettings.value[name].value && html`<p class="choices"><button disabled=${isBusy} onClick=${look}>${isBusy ? t("settings_looking") : t("email_needed_look")}</button></p>
      <div role="status">${findings?.map(({ message }) => html`<p key=${message.text}>${translateServerText(message)}</p>`)}</div>`}<${ErrorMessage} text=${actionError} />`;
}
