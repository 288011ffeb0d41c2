// The details of one entity: its relations and the beliefs about it.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { ListError, UndoToast } from "../memory/undo_toast.js";
import * as beliefList from "../memory/belief_list.js";
import { BeliefRow, Quotes } from "../memory/belief_row.js";
import { useLiveUpdates } from "../live_updates.js";
import { NotFound } from "../not_found.js";
import { followLink } from "../router.js";
import * as store from "../store.js";
import { formatShortDay, t } from "../i18n.js";
import { peopleApi } from "./api.js";
import { Avatar, formatRelation } from "./avatar.js";
import { SameQuestion } from "./same_question.js";

const MOST_SAID = 4;

const ID = /^[0-9a-f-]{4,}$/i;

/** @param {{id: string}} given of the address, which may say anything */
export function EntityDetails({ id }) {
  if (!ID.test(id)) return html`<${NotFound} to="/people" label=${t("people_all")} />`;
  return html`<${Known} id=${id} />`;
}

function Known({ id }) {
  const [one, setOne] = useState(null);
  const [trouble, setTrouble] = useState("");
  const [isGone, setGone] = useState(false);
  useEffect(() => void (beliefList.actionError.value = ""), [id]);
  useEffect(() => setOne(null), [id, store.rewritten.value]);
  const news = useLiveUpdates([store.entitiesChanged.value, store.learned.value]);
  useEffect(() => {
    let isStill = true;
    const show = (found) => isStill && (setOne(found), setTrouble(""));
    const tell = (problem) => {
      if (!isStill) return;
      if (problem.status === 404) return setGone(true);
      setTrouble(problem.message || t("lost"));
    };
    peopleApi.one(id).then(show, tell);
    return () => (isStill = false);
  }, [id, store.rewritten.value, beliefList.decisionCount.value, news]);
  const back = html`<p><a href="/people" onClick=${followLink}>← ${t("people_all")}</a></p>`;
  const alert = trouble && html`<p class="bad" role="alert">${trouble}</p>`;
  if (isGone) return html`<${NotFound} to="/people" label=${t("people_all")} />`;
  if (!one) return html`${back}${alert || html`<p class="empty" role="status">${t("loading")}</p>`}`;
  const { about } = one;
  return html`${back}${alert}<${ListError} /><${UndoToast} />
    <header class="person-head"><${Avatar} one=${about} /><div><h2>${about.name}</h2><p class="relation">${formatRelation(about)}</p></div></header>
    ${about.aliases.length > 0 && html`<p class="meta">${t("people_also", { names: about.aliases.join(", ") })}</p>`}
    ${about.description && html`<p class="lead">${about.description}</p>`}
    ${about.status === "uncertain" && html`<${SameQuestion} about=${about} />`}
    <p class="choices"><a href=${`/memory/${about.id}`} onClick=${followLink}>${t("people_change")}</a>
      <a href=${`/forget/${about.id}`} onClick=${followLink}>${t("forget")}</a></p>
    <${Said} one=${one} />
    ${one.ties.length > 0 && html`<section><h3>${t("people_ties")}</h3>
      ${one.ties.map((tie) => html`<div class="tie" key=${tie.belief.id}><${BeliefRow} belief=${tie.belief} />
        ${tie.other && html`<p class="to-other"><a href=${`/people/${tie.other}`} onClick=${followLink}>${tie.name} <span aria-hidden="true">→</span></a></p>`}</div>`)}</section>`}
    ${one.others.length > 0 && html`<section><h3>${t("people_else")}</h3>
      ${one.others.map((each) => html`<${BeliefRow} key=${each.id} belief=${each} />`)}</section>`}
    ${!one.ties.length && !one.others.length && html`<p class="empty">${t("people_nothing")}</p>`}`;
}

/** What was said of them, the latest first: each message once, with its day. */
function Said({ one }) {
  const names = [one.about.name, ...one.about.aliases].map((each) => each.toLowerCase());
  const told = new Map();
  for (const belief of [...one.others, ...one.ties.map((tie) => tie.belief), one.belief]) {
    for (const words of belief.words) {
      const isName = names.includes(words.quote.toLowerCase()); // the name alone tells nothing
      if (!isName && !told.has(words.message)) told.set(words.message, words);
    }
  }
  if (!told.size) return null;
  const latest = [...told.values()].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at)).slice(0, MOST_SAID);
  return html`<section class="said-of"><h3>${t("people_said")}</h3>
    <ol>${latest.map((words) => html`<li key=${words.message}><time datetime=${words.at}>${formatShortDay(words.at)}</time>
      <${Quotes} words=${words} hasDate=${false} /></li>`)}</ol></section>`;
}
