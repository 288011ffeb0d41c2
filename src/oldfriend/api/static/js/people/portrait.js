// Somebody, or something with a name: their ties, and what else is believed about them.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { Trouble, Undo } from "../memory/aftermath.js";
import * as book from "../memory/book.js";
import { merge, separate } from "../memory/deciding.js";
import { house as memory } from "../memory/house.js";
import { Line, Words } from "../memory/line.js";
import { useNews } from "../news.js";
import { follow } from "../places.js";
import * as store from "../store.js";
import { t } from "../words.js";
import { house } from "./house.js";
import { KINDS } from "./kinds.js";

export function Portrait({ id }) {
  const [one, setOne] = useState(null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => void (book.trouble.value = ""), [id]);
  useEffect(() => setOne(null), [id, store.rewritten.value]);
  const news = useNews([store.acquainted.value, store.learned.value]);
  useEffect(() => {
    let isStill = true;
    const show = (found) => isStill && (setOne(found), setTrouble(""));
    const tell = (problem) => {
      if (!isStill) return;
      if (problem.status === 404) setOne(null);
      setTrouble(problem.message || t("lost"));
    };
    house.one(id).then(show, tell);
    return () => (isStill = false);
  }, [id, store.rewritten.value, book.decided.value, news]);
  const back = html`<p><a href="/people" onClick=${follow}>← ${t("people_all")}</a></p>`;
  const alert = trouble && html`<p class="bad" role="alert">${trouble}</p>`;
  if (!one) return html`${back}${alert || html`<p class="empty" role="status">${t("loading")}</p>`}`;
  const { about, belief } = one;
  return html`${back}${alert}<${Trouble} /><${Undo} />
    <h2>${about.name} <span class="pill">${t(KINDS[about.kind])}</span></h2>
    ${about.aliases.length > 0 && html`<p class="meta">${t("people_also", { names: about.aliases.join(", ") })}</p>`}
    ${about.description && html`<p class="lead">${about.description}</p>`}
    ${about.status === "uncertain" && html`<${Unsure} about=${about} belief=${belief} />`}
    ${belief.words.slice(0, 3).map((words) => html`<${Words} key=${words.message + words.quote} words=${words} />`)}
    <p class="choices"><a href=${`/memory/${about.id}`} onClick=${follow}>${t("people_change")}</a>
      <a href=${`/forget/${about.id}`} onClick=${follow}>${t("forget")}</a></p>
    ${one.ties.length > 0 && html`<section><h3>${t("people_ties")}</h3>
      ${one.ties.map((tie) => html`<${Line} key=${tie.belief.id} belief=${tie.belief} />
        ${tie.other && html`<p class="to-other"><a href=${`/people/${tie.other}`} onClick=${follow}>${tie.name}</a></p>`}`)}</section>`}
    ${one.others.length > 0 && html`<section><h3>${t("people_else")}</h3>
      ${one.others.map((each) => html`<${Line} key=${each.id} belief=${each} />`)}</section>`}
    ${!one.ties.length && !one.others.length && html`<p class="empty">${t("people_nothing")}</p>`}`;
}

/** Whether two are one is asked of the person, who decides. */
function Unsure({ about, belief }) {
  const [other, setOther] = useState(null);
  useEffect(() => {
    if (about.same_as) memory.one(about.same_as).then(setOther, () => setOther(null));
  }, [about.same_as]);
  if (!other) return html`<p class="pill">${t("status_tentative")}</p>`;
  return html`<p class="taken-back"><span>${t("people_same", { one: about.name, other: other.text })}</span>
    <button onClick=${() => merge(other, belief)}>${t("people_same_yes")}</button>
    <button onClick=${() => separate(other, belief.id)}>${t("people_same_no")}</button></p>`;
}
