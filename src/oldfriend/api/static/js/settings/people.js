// The people of this installation and invitations, for the owner.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { formatShortDay, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { Section, ShownOnce, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

export function PeopleSection() {
  const [told, problem, again] = useLoaded(settingsApi.household);
  return html`<${Section} id="household" title=${t("settings_people")} lead=${t("settings_people_lead")}>
    ${told ? html`<${Inside} told=${told} again=${again} />` : html`<${Loading} problem=${problem} again=${again} />`}</${Section}>`;
}

function Inside({ told, again }) {
  const [name, setName] = useState("");
  const [made, setMade] = useState(null);
  const [trouble, isBusy, run] = useAction();
  const invite = (event) => {
    event.preventDefault();
    run(async () => {
      setMade(await settingsApi.invite(name));
      setName("");
      await again();
    });
  };
  const end = (id) => run(async () => (await settingsApi.endInvitation(id), made?.id === id && setMade(null), await again(), showDone(t("settings_invitation_ended"))));
  return html`<ul role="list" class="list">${told.people.map((each) => html`<li key=${each.name}><span>${each.name}${each.is_owner ? ` · ${t("settings_owner")}` : ""}</span></li>`)}</ul>
    <form class="asking" onSubmit=${invite}><label class="visually-hidden" for="guest">${t("settings_guest")}</label>
      <input id="guest" maxlength="200" placeholder=${t("settings_guest")} value=${name} onInput=${({ target }) => setName(target.value)} />
      <button disabled=${isBusy || !name.trim()}>${t("settings_invite")}</button></form><${ErrorMessage} text=${trouble} />
    ${made && html`<${ShownOnce} text=${made.link} label=${t("settings_invited", { name: made.name })} />`}
    ${told.invitations.length > 0 && html`<h4>${t("settings_invitations")}</h4><ul role="list" class="list">${told.invitations.map((each) => html`<li key=${each.id}>
      <span>${each.name} <span class="meta">${t("settings_until", { when: formatShortDay(each.expires_at) })}</span></span>
      <${ConfirmButton} label=${t("settings_end")} name=${each.name} ask=${t("settings_end_invitation_ask")} onSure=${() => end(each.id)} /></li>`)}</ul>`}`;
}
