// Who is here, and who is invited? For the owner.
import { useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { shortDayOf, t } from "../words.js";
import { house } from "./house.js";
import { Section, ShownOnce, Sure, tell, Trouble, useAnswer, useDeed, Waiting } from "./parts.js";

export function PeopleSection() {
  const [told, problem, again] = useAnswer(house.household);
  return html`<${Section} id="household" title=${t("settings_people")} lead=${t("settings_people_lead")}>
    ${told ? html`<${Inside} told=${told} again=${again} />` : html`<${Waiting} problem=${problem} again=${again} />`}</${Section}>`;
}

function Inside({ told, again }) {
  const [name, setName] = useState("");
  const [made, setMade] = useState(null);
  const [trouble, isBusy, run] = useDeed();
  const invite = (event) => {
    event.preventDefault();
    run(async () => {
      setMade(await house.invite(name));
      setName("");
      await again();
    });
  };
  const end = (id) => run(async () => (await house.endInvitation(id), made?.id === id && setMade(null), await again(), tell(t("settings_invitation_ended"))));
  return html`<ul role="list" class="list">${told.people.map((each) => html`<li key=${each.name}><span>${each.name}${each.is_owner ? ` · ${t("settings_owner")}` : ""}</span></li>`)}</ul>
    <form class="asking" onSubmit=${invite}><label class="visually-hidden" for="guest">${t("settings_guest")}</label>
      <input id="guest" maxlength="200" placeholder=${t("settings_guest")} value=${name} onInput=${({ target }) => setName(target.value)} />
      <button disabled=${isBusy || !name.trim()}>${t("settings_invite")}</button></form><${Trouble} text=${trouble} />
    ${made && html`<${ShownOnce} text=${made.link} label=${t("settings_invited", { name: made.name })} />`}
    ${told.invitations.length > 0 && html`<h4>${t("settings_invitations")}</h4><ul role="list" class="list">${told.invitations.map((each) => html`<li key=${each.id}>
      <span>${each.name} <span class="meta">${t("settings_until", { when: shortDayOf(each.expires_at) })}</span></span>
      <${Sure} label=${t("settings_end")} name=${each.name} ask=${t("settings_end_invitation_ask")} onSure=${() => end(each.id)} /></li>`)}</ul>`}`;
}
