// The details of one entity: its relations and the beliefs about it.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { ListError, UndoToast } from "../memory/undo_toast.js";
import * as beliefList from "../memory/belief_list.js";
import { MergeForm } from "../memory/edit_form.js";
import { BeliefRow, Quote } from "../memory/belief_row.js";
import { useLiveUpdates } from "../live_updates.js";
import { NotFound } from "../not_found.js";
import { followLink } from "../router.js";
import * as store from "../store.js";
import { formatShortDay, t } from "../i18n.js";
import { peopleApi } from "./api.js";
import { Avatar, formatRelation } from "./avatar.js";
import { SameQuestion } from "./same_question.js";

const MAX_QUOTES = 4;

const ID_PATTERN = /^[0-9a-f-]{4,}$/i;

/** @param {{id: string}} props the id in the URL, which may be invalid */
export function EntityDetails({ id }) {
  if (!ID_PATTERN.test(id)) return html`<${NotFound} to="/people" label=${t("people_all")} />`;
  return html`<${Details} id=${id} />`;
}

function Details({ id }) {
  const [details, setDetails] = useState(null);
  const [error, setError] = useState("");
  const [isGone, setGone] = useState(false);
  const [isJoining, setJoining] = useState(false);
  useEffect(() => void (beliefList.actionError.value = ""), [id]);
  useEffect(() => setDetails(null), [id, store.rewriteCount.value]);
  const updates = useLiveUpdates([store.entitiesChanged.value, store.learned.value]);
  useEffect(() => {
    let isCurrent = true;
    const onLoaded = (loaded) => isCurrent && (setDetails(loaded), setError(""));
    const onFailed = (failure) => {
      if (!isCurrent) return;
      if (failure.status === 404) return setGone(true);
      setError(failure.message || t("lost"));
    };
    peopleApi.entity(id).then(onLoaded, onFailed);
    return () => (isCurrent = false);
  }, [id, store.rewriteCount.value, beliefList.decisionCount.value, updates]);
  const back = html`<p><a href="/people" onClick=${followLink}>← ${t("people_all")}</a></p>`;
  const alert = error && html`<p class="bad" role="alert">${error}</p>`;
  if (isGone) return html`<${NotFound} to="/people" label=${t("people_all")} />`;
  if (!details) return html`${back}${alert || html`<p class="empty" role="status">${t("loading")}</p>`}`;
  const { about } = details;
  const isPerson = about.kind === "person";
  return html`${back}${alert}<${ListError} /><${UndoToast} />
    <header class="person-head"><${Avatar} entity=${about} /><div><h2>${about.name}</h2><p class="relation">${formatRelation(about)}</p></div></header>
    ${about.aliases.length > 0 && html`<p class="meta">${t("people_also", { names: about.aliases.join(", ") })}</p>`}
    ${about.description && html`<p class="lead">${about.description}</p>`}
    <${SameQuestion} about=${about} />
    ${isJoining
      ? html`<${MergeForm} belief=${details.belief} ...${isPerson && { question: t("people_same_who"), none: t("people_same_none") }} onDone=${() => setJoining(false)} />`
      : html`<p class="choices"><button class="quiet" onClick=${() => setJoining(true)}>${t(isPerson ? "people_same_as" : "memory_merge")}</button>
      <a href=${`/memory/${about.id}`} onClick=${followLink}>${t("people_change")}</a>
      <a href=${`/forget/${about.id}`} onClick=${followLink}>${t("forget")}</a></p>`}
    <${QuoteList} details=${details} />
    ${details.relations.length > 0 && html`<section><h3>${t("people_ties")}</h3>
      ${details.relations.map((tie) => html`<div class="tie" key=${tie.belief.id}><${BeliefRow} belief=${tie.belief} />
        ${tie.other && html`<p class="to-other"><a href=${`/people/${tie.other}`} onClick=${followLink}>${tie.name} <span aria-hidden="true">→</span></a></p>`}</div>`)}</section>`}
    ${details.others.length > 0 && html`<section><h3>${t("people_else")}</h3>
      ${details.others.map((each) => html`<${BeliefRow} key=${each.id} belief=${each} />`)}</section>`}
    ${!details.relations.length && !details.others.length && html`<p class="empty">${t("people_nothing")}</p>`}`;
}

/** The latest quotes about an entity, at most MAX_QUOTES, each message once. */
function QuoteList({ details }) {
  const names = [details.about.name, ...details.about.aliases].map((each) => each.toLowerCase());
  const quotesByMessage = new Map();
  for (const belief of [...details.others, ...details.relations.map((tie) => tie.belief), details.belief]) {
    for (const quote of belief.words) {
      const isName = names.includes(quote.quote.toLowerCase()); // a quote of only the name tells nothing
      if (!isName && !quotesByMessage.has(quote.message)) quotesByMessage.set(quote.message, quote);
    }
  }
  if (!quotesByMessage.size) return null;
  const latest = [...quotesByMessage.values()].toSorted((details, b) => Date.parse(b.at) - Date.parse(details.at)).slice(0, MAX_QUOTES);
  return html`<section class="said-of"><h3>${t("people_said")}</h3>
    <ol>${latest.map((quote) => html`<li key=${quote.message}><time datetime=${quote.at}>${formatShortDay(quote.at)}</time>
      <${Quote} quote=${quote} hasDate=${false} /></li>`)}</ol></section>`;
}
