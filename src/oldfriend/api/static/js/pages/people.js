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

const TYPING_MS = 200;
const MOST_READ_AGAIN = 300;
const WIDE = matchMedia("(min-width: 721px)");
const page = signal(null); // {items, total, next}
const part = signal("");
const kinds = signal([]);
const trouble = signal("");
let asked = 0; // of several answers, the one asked for last counts
let isReadingOn = false;

effect(() => {
  if (!store.rewritten.value) return;
  asked += 1; // what is on its way may hold what was forgotten
  page.value = null;
});

async function read() {
  const mine = ++asked;
  await show(mine, null, (found) => found);
}

/** Read anew as much as is there: what was learned has come. */
async function readAgain() {
  const count = page.value?.items.length ?? 0;
  if (count > MOST_READ_AGAIN) return;
  await read();
  let before = null; // where nothing more comes, the server was lost
  while (page.value?.next && page.value.items.length < count && page.value !== before && !isReadingOn) {
    before = page.value;
    await readOn();
  }
}

/** The next page, each of whom is there once: whoever is told of meanwhile has moved to the top. */
async function readOn() {
  if (!page.value?.next || isReadingOn) return;
  isReadingOn = true;
  await show(asked, page.value.next, (found) => {
    const known = new Set(page.value.items.map((each) => each.id));
    return { ...found, items: [...page.value.items, ...found.items.filter((each) => !known.has(each.id))] };
  });
  isReadingOn = false;
}

async function show(mine, from, joined) {
  try {
    const found = await peopleApi.list(part.value, kinds.value, from);
    if (mine !== asked) return;
    page.value = joined(found);
    trouble.value = "";
  } catch (problem) {
    if (mine === asked) trouble.value = problem.message || t("lost");
  }
}

export default function People() {
  const where = subpath.value;
  if (where && where !== "graph") return html`<div class="people"><${EntityDetails} key=${where} id=${where} /></div>`;
  return html`<div class="people">
    <h2>${t("people_title")}</h2>
    <p class="people-tabs"><a href="/people" aria-current=${where ? null : "page"} onClick=${followLink}>${t("people_cards")}</a>
      <a href="/people/graph" aria-current=${where ? "page" : null} onClick=${followLink}>${t("people_drawing")}</a></p>
    ${where ? html`<${Graph} />` : html`<${Cards} />`}
  </div>`;
}

function Cards() {
  const timer = useRef(0);
  const across = useColumns();
  const decided = useRef(beliefList.decisionCount.value);
  useEffect(() => {
    read();
  }, [store.rewritten.value, language.value]);
  const news = useLiveUpdates([store.entitiesChanged.value]);
  useEffect(() => {
    if (news || decided.current !== beliefList.decisionCount.value) readAgain();
    decided.current = beliefList.decisionCount.value;
  }, [news, beliefList.decisionCount.value]);
  const look = ({ target }) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      part.value = target.value.trim();
      read();
    }, TYPING_MS);
  };
  const choose = (kind) => {
    kinds.value = kinds.value.includes(kind) ? kinds.value.filter((each) => each !== kind) : [...kinds.value, kind];
    read();
  };
  const shown = page.value;
  const isNobody = shown && !shown.items.length && !part.value && !kinds.value.length;
  if (isNobody) return html`<${Nobody} />`;
  return html`<div class="filters"><input class="search" type="search" value=${part.value} placeholder=${t("people_search")} aria-label=${t("people_search")} onInput=${look} />
      <p class="chips" role="group" aria-label=${t("people_kinds")}>${Object.keys(KINDS).map((kind) => html`<button key=${kind} class="chip"
        aria-pressed=${kinds.value.includes(kind)} onClick=${() => choose(kind)}>${t(KINDS[kind])}</button>`)}</p></div>
    ${trouble.value && html`<p class="bad" role="alert">${trouble.value}</p>`}<${ListError} /><${UndoToast} />
    ${shown && !shown.items.length && html`<p class="empty">${part.value ? t("search_none", { words: part.value }) : t("people_none_so")}</p>`}
    ${shown && shown.items.length > 0 && html`<${VirtualList} items=${rowsOf(shown.items, across)} keyOf=${(each) => each.key} draw=${(row) => html`<${Row} row=${row} />`}
      label=${t("people_title")} of=${`${part.value} ${kinds.value} ${across}`} onNearEnd=${readOn} />`}`;
}

/** Whoever has named nobody yet sees how it will be. */
function Nobody() {
  return html`<p class="lead">${t("people_none")}</p>
    <article class="card is-sample" aria-hidden="true"><span class="initial kind-person">${t("people_sample").slice(0, 1)}</span>
      <div><h4>${t("people_sample")}</h4><p class="relation">${t("people_sample_relation")}</p></div></article>`;
}

/** How many cards stand beside each other. */
function useColumns() {
  const [across, setAcross] = useState(WIDE.matches ? 2 : 1);
  useEffect(() => {
    const look = () => setAcross(WIDE.matches ? 2 : 1);
    WIDE.addEventListener("change", look);
    return () => WIDE.removeEventListener("change", look);
  }, []);
  return across;
}

/** Cards in rows of as many as stand beside each other; the first of a group has its heading. */
function rowsOf(items, across) {
  const rows = [];
  for (const one of items) {
    const last = rows.at(-1);
    if (last?.group === one.group && last.cards.length < across) last.cards.push(one);
    else rows.push({ key: one.id, group: one.group, isFirst: last?.group !== one.group, cards: [one] });
  }
  return rows;
}

const Row = ({ row }) => html`${row.isFirst && html`<h3 class="group">${t(GROUPS[row.group])}</h3>`}
  <div class="cards">${row.cards.map((one) => html`<${Card} key=${one.id} one=${one} />`)}</div>`;

function Card({ one }) {
  return html`<article class="card"><${Avatar} one=${one} />
    <div><h4><a href=${`/people/${one.id}`} onClick=${followLink}>${one.name}</a></h4>
      <p class="relation">${formatRelation(one)}</p>
      ${one.status === "uncertain" && html`<${SameQuestion} about=${one} />`}
      ${one.line && html`<p class="card-line">${one.line}</p>`}
      ${one.told_at && html`<p class="meta">${t("people_told", { when: formatShortDay(one.told_at) })}</p>`}</div></article>`;
}
