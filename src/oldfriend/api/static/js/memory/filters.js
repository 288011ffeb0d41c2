// The search field, filter chips and order of the list of beliefs.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { GROUPS } from "../kinds.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { memoryApi } from "./api.js";
import { formatCount } from "./labels.js";

const DEBOUNCE_MS = 200;
const MAX_TAGS = 12;
const SUBJECTS = [["person", "memory_about_you"], ["companion", "memory_about_me"], ["shared", "memory_about_both"], ["other", "memory_about_others"]];
const SORTS = [["kind", "memory_sort_kind"], ["newest", "memory_sort_newest"], ["oldest", "memory_sort_oldest"], ["learned", "memory_sort_learned"], ["surest", "memory_sort_surest"], ["seen", "memory_sort_seen"]];

/** The search field, the order, and the filter chips. */
export function Filters() {
  const [isExpanded, setExpanded] = useState(false);
  const filters = beliefList.filters.value;
  const kinds = beliefList.beliefs.value?.kinds ?? {};
  return html`<div class="filters" role="search">
    <div class="filters-first"><${Search} />
      <label class="sort"><span class="visually-hidden">${t("memory_sort")}</span>
        <select value=${filters.sort} onChange=${({ target }) => beliefList.setFilters({ sort: target.value })}>
          ${SORTS.map(([name, phrase]) => html`<option key=${name} value=${name}>${t(phrase)}</option>`)}</select></label></div>
    <div class="chips" role="group" aria-label=${t("memory_kinds")}>
      ${GROUPS.map((group) => html`<${KindChip} key=${group.phrase} group=${group} count=${countOf(group, kinds)} />`)}
      <button class="chip more-chips" aria-expanded=${isExpanded} onClick=${() => setExpanded(!isExpanded)}>${t("memory_more_filters")}</button>
      ${beliefList.isFiltered.value && html`<button class="quiet" onClick=${beliefList.clearFilters}>${t("memory_all")}</button>`}</div>
    ${(isExpanded || isNarrowed(filters)) && html`<${MoreFilters} filters=${filters} />`}
  </div>`;
}

const countOf = (group, kinds) => group.kinds.reduce((total, kind) => total + (kinds[kind] ?? 0), 0);
const isNarrowed = (filters) => filters.statuses.length || filters.subject || filters.tag || filters.pinned || filters.ended;

function KindChip({ group, count }) {
  const { kinds } = beliefList.filters.value;
  const isOn = group.kinds.every((kind) => kinds.includes(kind));
  if (!count && !isOn) return null;
  const toggle = () => beliefList.setFilters({ kinds: isOn ? kinds.filter((kind) => !group.kinds.includes(kind)) : [...kinds, ...group.kinds] });
  return html`<button class="chip" aria-pressed=${isOn} onClick=${toggle}>
    <span aria-hidden="true"><${KindIcon} kind=${group.kinds[0]} /></span> ${t(group.short)} <span class="count">${formatCount(count)}</span></button>`;
}

function MoreFilters({ filters }) {
  const tags = Object.keys(beliefList.tags.value);
  const visibleTags = [...new Set([...(filters.tag ? [filters.tag] : []), ...tags])].slice(0, MAX_TAGS);
  return html`<div class="chips" role="group" aria-label=${t("memory_more_filters")}>
    <${Chip} isOn=${filters.pinned} onToggle=${(on) => beliefList.setFilters({ pinned: on })} name=${t("memory_pinned")} />
    <${Chip} isOn=${filters.statuses.includes("tentative")} onToggle=${() => toggleStatus("tentative")} name=${t("status_tentative")} />
    <${Chip} isOn=${filters.statuses.includes("disputed")} onToggle=${() => toggleStatus("disputed")} name=${t("status_disputed")} />
    <${Chip} isOn=${filters.ended} onToggle=${(on) => beliefList.setFilters({ ended: on })} name=${t("memory_with_ended")} />
    <label class="chip-choice">${t("memory_about")} <select value=${filters.subject} onChange=${({ target }) => beliefList.setFilters({ subject: target.value })}>
      <option value="">${t("memory_about_all")}</option>
      ${SUBJECTS.map(([name, phrase]) => html`<option key=${name} value=${name}>${t(phrase)}</option>`)}</select></label>
    ${visibleTags.map((tag) => html`<${Chip} key=${tag} isOn=${filters.tag === tag} onToggle=${(on) => beliefList.setFilters({ tag: on ? tag : "" })} name=${`# ${tag}`} />`)}
  </div>`;
}

function toggleStatus(status) {
  const { statuses } = beliefList.filters.value;
  beliefList.setFilters({ statuses: statuses.includes(status) ? statuses.filter((each) => each !== status) : [...statuses, status] });
}

function Chip({ isOn, onToggle, name }) {
  return html`<button class="chip" aria-pressed=${Boolean(isOn)} onClick=${() => onToggle(!isOn)}>${name}</button>`;
}

function Search() {
  const timer = useRef(0);
  const field = useRef(null);
  const { q } = beliefList.filters.value;
  useEffect(() => {
    if (document.activeElement !== field.current) field.current.value = q;
  }, [q]);
  const onInput = ({ target }) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => search(target.value.trim()), DEBOUNCE_MS);
  };
  return html`<input class="search" type="search" maxlength="200" ref=${field} defaultValue=${q} placeholder=${t("memory_search_short")} aria-label=${t("memory_search")} onInput=${onInput} />`;
}

let lastSearch = 0;

async function search(query) {
  const searchNumber = ++lastSearch;
  beliefList.setFilters({ q: query });
  if (!query) {
    beliefList.foundMessages.value = null;
    return;
  }
  const page = await beliefList.tryAction(() => memoryApi.searchMessages(query));
  if (page && searchNumber === lastSearch) beliefList.foundMessages.value = { query, items: page.items };
}
