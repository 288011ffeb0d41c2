// Channels: the owner connects a bot, each person links their account by a code.
import { useState } from "../../vendor/hooks.js";
import { CHANNELS } from "../channels.js";
import { html } from "../html.js";
import * as store from "../store.js";
import { translateServerText, t, formatTime } from "../i18n.js";
import { SettingField } from "./install_settings.js";
import { settingsApi } from "./api.js";
import { CollapsibleSection, Section, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

/** @param {{wanted: string}} props the channel that is opened, if any */
export function ChannelsSection({ wanted }) {
  return html`<${Section} id="apps" title=${t("settings_apps")} lead=${t("settings_apps_lead")}>
    <div class="folds">${CHANNELS.map((channel) => html`<${Channel} key=${channel} channel=${channel} isWanted=${wanted === channel} />`)}</div></${Section}>`;
}

function Channel({ channel, isWanted }) {
  const [told, problem, again] = useLoaded(() => settingsApi.channel(channel));
  const state = problem ? t("lost") : told && t(!told.is_connected ? "settings_app_off" : told.is_mine ? "settings_app_on" : "settings_app_open");
  return html`<${CollapsibleSection} id=${channel} title=${t(`${channel}_title`)} state=${state} isGood=${told?.is_connected && told.is_mine} isWanted=${isWanted}>
    <p class="lead">${t(`${channel}_lead`)}</p>
    ${told ? html`<${Inside} channel=${channel} told=${told} isOwner=${store.me.value.is_owner} again=${again} />` : html`<${Loading} problem=${problem} again=${again} />`}</${CollapsibleSection}>`;
}

function Inside({ channel, told, isOwner, again }) {
  const [trouble, , run] = useAction();
  if (!told.is_connected) return isOwner ? html`<${Connect} channel=${channel} asked=${told.credentials} again=${again} />` : html`<p class="hint">${t("settings_no_bot")}</p>`;
  const leave = () => run(async () => (await settingsApi.leaveChannel(channel), await again(), showDone(t("settings_left_channel"))));
  const remove = (name) => run(async () => (await settingsApi.removeFromChannel(channel, name), await again(), showDone(t("settings_removed", { name }))));
  const letGo = () => run(async () => (await settingsApi.letBotGo(channel), await again(), showDone(t("settings_bot_gone"))));
  return html`<p>${told.bot ? t("settings_bot", { bot: told.bot }) : t("settings_bot_silent", { title: t(`${channel}_title`) })} ${told.is_mine ? t("settings_is_mine") : t("settings_not_mine")}</p>
    ${told.pairs_by_code && html`<${Pairing} channel=${channel} />`}
    ${told.is_mine && html`<p class="choices"><${ConfirmButton} label=${t("settings_leave_channel")} ask=${t("settings_leave_channel_ask")} onSure=${leave} /></p>`}
    ${isOwner && html`<h5>${t("settings_known_there")}</h5>
      ${told.people.length ? html`<ul role="list" class="list">${told.people.map(({ name, addresses }) => html`<li key=${name}><span>${name}${addresses > 1 ? ` (${addresses})` : ""}</span>
        <${ConfirmButton} label=${t("settings_remove")} name=${name} ask=${t("settings_remove_ask")} onSure=${() => remove(name)} /></li>`)}</ul>` : html`<p class="hint">${t("settings_nobody_there")}</p>`}
      <${SettingField} name=${`${channel}.allowed`} kind="list" label=${t("settings_allowed")} hint=${t(`${channel}_allowed_hint`)} />
      <${SettingField} name=${`${channel}.enabled`} kind="toggle" label=${t("settings_channel_on")} hint=${t("settings_channel_on_hint")} />
      <p class="choices">${told.token_in && html`<span class="hint">${t("settings_token_in", { where: translateServerText(told.token_in) })}</span>`}
        <${ConfirmButton} label=${t("settings_bot_let_go")} ask=${t("settings_bot_let_go_ask")} onSure=${letGo} /></p>`}
    <${ErrorMessage} text=${trouble} />`;
}

function Connect({ channel, asked, again }) {
  const [given, setGiven] = useState({});
  const [trouble, isBusy, run] = useAction();
  const connect = (event) => {
    event.preventDefault();
    run(async () => {
      const { name } = await settingsApi.connectBot(channel, given);
      setGiven({});
      await again();
      showDone(t("settings_bot", { bot: name }));
    });
  };
  return html`<ol class="how-to"><li>${t(`${channel}_bot_make`)}</li><li>${t("settings_bot_paste")}</li></ol>
    <form class="asking" onSubmit=${connect}>${asked.map((each) => {
      const label = asked.length > 1 ? t(`${channel}_credential_${each.name}`) : t("settings_bot_token");
      return html`<label class="visually-hidden" for=${`${channel}-${each.name}`}>${label}</label>
      <input id=${`${channel}-${each.name}`} type=${each.is_secret ? "password" : "text"} autocomplete="off" placeholder=${each.default ? `${label} (${each.default})` : label} value=${given[each.name] ?? ""} onInput=${({ target }) => setGiven({ ...given, [each.name]: target.value })} />`;
    })}
      <button class="main" disabled=${isBusy || asked.some(({ name, default: usual }) => !usual && !given[name]?.trim())}>${t("settings_connect")}</button></form>
    <p class="hint">${t(`${channel}_bot_reads`)}</p><${ErrorMessage} text=${trouble} />`;
}

function Pairing({ channel }) {
  const [shown, setShown] = useState(null);
  const [trouble, isBusy, run] = useAction();
  const get = () => run(async () => setShown(await settingsApi.code(channel)));
  return html`<p class="choices"><button disabled=${isBusy} onClick=${get}>${t("settings_get_code")}</button></p><${ErrorMessage} text=${trouble} />
    ${shown && html`<div class="pairing" role="status">
      ${shown.qr && html`<svg class="qr" viewBox=${`0 0 ${shown.qr_size} ${shown.qr_size}`} role="img" aria-label=${t("settings_qr")}><rect width="100%" height="100%" /><path d=${shown.qr} /></svg>`}
      <div><p class="code">${shown.code.slice(0, 3)} ${shown.code.slice(3)}</p>
        <p>${t(shown.link ? "settings_code_how" : "settings_code_how_alone", { time: formatTime(shown.expires_at) })}</p>
        ${shown.link && html`<p><a href=${shown.link} rel="noreferrer" target="_blank">${t("settings_open_bot")}</a></p>`}</div></div>`}`;
}
