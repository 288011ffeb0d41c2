// The people of this installation and invitations, for the owner.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { formatShortDay, t } from "../i18n.js";
import { settingsApi } from "./api.js";
import { Section, ShownOnce, ConfirmButton, showDone, ErrorMessage, useLoaded, useAction, Loading } from "./form_parts.js";

export function PeopleSection() {
  const [household, loadError, reload] = useLoaded(settingsApi.household);
  return html`<${Section} id="household" title=${t("settings_people")} lead=${t("settings_people_lead")}>
    ${household ? html`<${PeopleList} household=${household} reload=${reload} />` : html`<${Loading} error=${loadError} reload=${reload} />`}</${Section}>`;
}

function PeopleList({ household, reload }) {
  const [name, setName] = useState("");
  const [invitation, setInvitation] = useState(null);
  const [actionError, isBusy, run] = useAction();
  const invite = (event) => {
    event.preventDefault();
    run(async () => {
      setInvitation(await settingsApi.invite(name));
      setName("");
      await reload();
    });
  };
  const revoke = (id) => run(async () => (await settingsApi.revokeInvitation(id), invitation?.id === id && setInvitation(null), await reload(), showDone(t("settings_invitation_ended"))));
  return html`<ul role="list" class="list">${household.people.map((each) => html`<li key=${each.name}><span>${each.name}${each.is_owner ? ` · ${t("settings_owner")}` : ""}</span></li>`)}</ul>
    <form class="asking" onSubmit=${invite}><label class="visually-hidden" for="guest">${t("settings_guest")}</label>
      <input id="guest" maxlength="200" placeholder=${t("settings_guest")} value=${name} onInput=${({ target }) => setName(target.value)} />
      <button disabled=${isBusy || !name.trim()}>${t("settings_invite")}</button></form><${ErrorMessage} text=${actionError} />
    ${invitation && html`<${ShownOnce} text=${invitation.link} label=${t("settings_invited", { name: invitation.name })} />`}
    ${household.invitations.length > 0 && html`<h4>${t("settings_invitations")}</h4><ul role="list" class="list">${household.invitations.map((each) => html`<li key=${each.id}>
      <span>${each.name} <span class="meta">${t("settings_until", { when: formatShortDay(each.expires_at) })}</span></span>
      <${ConfirmButton} label=${t("settings_end")} name=${each.name} question=${t("settings_end_invitation_ask")} onConfirm=${() => revoke(each.id)} /></li>`)}</ul>`}`;
}
