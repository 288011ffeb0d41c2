// People: entities as cards, as a graph, and one at a time.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { effect, signal } from "../../vendor/signals.js";
import { html } from "../html.js";
import { ListError, UndoToast } from "../memory/undo_toast.js";
import * as beliefList from "../memory/belief_list.js";
import { useLiveUpdates } from "../live_updates.js";
import { Graph } from "../people/graph.js";
import { peopleApi } from "../people/api.js";
import { Avatar, formatRelation } from "../people/avatar.js";
import { GROUPS, KINDS } from "../people/kinds.js";
import { EntityDetails } from "../people/entity_details.js";
import { SameQuestion } from "../people/same_question.js";
import { followLink, subpath } from "../router.js";
import { VirtualList } from "../virtual_list.js";
import * as store from "../store.js";
import { language, formatShortDay, t } from "../i18n.js";

const DEBOUNCE_MS = 200;
const MAX_RELOADED = 300;
const WIDE_QUERY = matchMedia("(min-width: 721px)");
const page = signal(null); // {items, total, next}
const searchText = signal("");
const kinds = signal([]);
const error = signal("");
let lastRequest = 0; // number of the last request: responses to earlier ones are ignored
let isLoadingMore = false;

effect(() => {
  if (!store.rewriteCount.value) return;
  lastRequest += 1; // the response may contain what was just forgotten
  page.value = null;
});

async function load() {
  const request = ++lastRequest;
  await loadPage(request, null, (loaded) => loaded);
}

/** Load as many rows again as are shown, after something was learned; not if they are more than MAX_RELOADED. */
async function reload() {
  const count = page.value?.items.length ?? 0;
  if (count > MAX_RELOADED) return;
  await load();
  let previous = null; // to stop when a request fails and adds nothing
  while (page.value?.next && page.value.items.length < count && page.value !== previous && !isLoadingMore) {
    previous = page.value;
    await loadMore();
  }
}

/** Load and append the next page, without entities that moved between pages meanwhile. */
async function loadMore() {
  if (!page.value?.next || isLoadingMore) return;
  isLoadingMore = true;
  await loadPage(lastRequest, page.value.next, (loaded) => {
    const knownIds = new Set(page.value.items.map((each) => each.id));
    return { ...loaded, items: [...page.value.items, ...loaded.items.filter((each) => !knownIds.has(each.id))] };
  });
  isLoadingMore = false;
}

async function loadPage(request, cursor, combine) {
  try {
    const loaded = await peopleApi.list(searchText.value, kinds.value, cursor);
    if (request !== lastRequest) return;
    page.value = combine(loaded);
    error.value = "";
  } catch (failure) {
    if (request === lastRequest) error.value = failure.message || t("lost");
  }
}

export default function People() {
  const route = subpath.value;
  if (route && route !== "graph") return html`<div class="people"><${EntityDetails} key=${route} id=${route} /></div>`;
  return html`<div class="people">
    <h2>${t("people_title")}</h2>
    <p class="people-tabs"><a href="/people" aria-current=${route ? null : "page"} onClick=${followLink}>${t("people_cards")}</a>
      <a href="/people/graph" aria-current=${route ? "page" : null} onClick=${followLink}>${t("people_drawing")}</a></p>
    ${route ? html`<${Graph} />` : html`<${Cards} />`}
  </div>`;
}

function Cards() {
  const timer = useRef(0);
  const columns = useColumns();
  const seenDecisions = useRef(beliefList.decisionCount.value);
  useEffect(() => {
    load();
  }, [store.rewriteCount.value, language.value]);
  const updates = useLiveUpdates([store.entitiesChanged.value]);
  useEffect(() => {
    if (updates || seenDecisions.current !== beliefList.decisionCount.value) reload();
    seenDecisions.current = beliefList.decisionCount.value;
  }, [updates, beliefList.decisionCount.value]);
  const onSearch = ({ target }) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      searchText.value = target.value.trim();
      load();
    }, DEBOUNCE_MS);
  };
  const toggleKind = (kind) => {
    kinds.value = kinds.value.includes(kind) ? kinds.value.filter((each) => each !== kind) : [...kinds.value, kind];
    load();
  };
  const loaded = page.value;
  const isEmpty = loaded && !loaded.items.length && !searchText.value && !kinds.value.length;
  if (isEmpty) return html`<${EmptyState} />`;
  return html`<div class="filters"><input class="search" type="search" value=${searchText.value} placeholder=${t("people_search")} aria-label=${t("people_search")} onInput=${onSearch} />
      <p class="chips" role="group" aria-label=${t("people_kinds")}>${Object.keys(KINDS).map((kind) => html`<button key=${kind} class="chip"
        aria-pressed=${kinds.value.includes(kind)} onClick=${() => toggleKind(kind)}>${t(KINDS[kind])}</button>`)}</p></div>
    ${error.value && html`<p class="bad" role="alert">${error.value}</p>`}<${ListError} /><${UndoToast} />
    ${loaded && !loaded.items.length && html`<p class="empty">${searchText.value ? t("search_none", { words: searchText.value }) : t("people_none_so")}</p>`}
    ${loaded && loaded.items.length > 0 && html`<${VirtualList} items=${groupIntoRows(loaded.items, columns)} keyOf=${(each) => each.key} renderRow=${(row) => html`<${Row} row=${row} />`}
      label=${t("people_title")} listKey=${`${searchText.value} ${kinds.value} ${columns}`} onNearEnd=${loadMore} />`}`;
}

/** An example card, shown while no entity is known. */
function EmptyState() {
  return html`<p class="lead">${t("people_none")}</p>
    <article class="card is-sample" aria-hidden="true"><span class="initial kind-person">${t("people_sample").slice(0, 1)}</span>
      <div><h4>${t("people_sample")}</h4><p class="relation">${t("people_sample_relation")}</p></div></article>`;
}

/** The number of cards in a row. */
function useColumns() {
  const [columns, setColumns] = useState(WIDE_QUERY.matches ? 2 : 1);
  useEffect(() => {
    const update = () => setColumns(WIDE_QUERY.matches ? 2 : 1);
    WIDE_QUERY.addEventListener("change", update);
    return () => WIDE_QUERY.removeEventListener("change", update);
  }, []);
  return columns;
}

/** Rows of up to `columns` cards of the same group; the first row of a group has its heading. */
function groupIntoRows(items, columns) {
  const rows = [];
  for (const entity of items) {
    const last = rows.at(-1);
    if (last?.group === entity.group && last.cards.length < columns) last.cards.push(entity);
    else rows.push({ key: entity.id, group: entity.group, isFirst: last?.group !== entity.group, cards: [entity] });
  }
  return rows;
}

const Row = ({ row }) => html`${row.isFirst && html`<h3 class="group">${t(GROUPS[row.group])}</h3>`}
  <div class="cards">${row.cards.map((entity) => html`<${Card} key=${entity.id} entity=${entity} />`)}</div>`;

function Card({ entity }) {
  return html`<article class="card"><${Avatar} entity=${entity} />
    <div><h4><a href=${`/people/${entity.id}`} onClick=${followLink}>${entity.name}</a></h4>
      <p class="relation">${formatRelation(entity)}</p>
      <${SameQuestion} about=${entity} />
      ${entity.line && html`<p class="card-line">${entity.line}</p>`}
      ${entity.told_at && html`<p class="meta">${t("people_told", { when: formatShortDay(entity.told_at) })}</p>`}</div></article>`;
}
