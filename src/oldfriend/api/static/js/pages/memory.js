// Memory: beliefs grouped by kind, as of now or any day, and one with its history beside them.
import { useEffect, useLayoutEffect, useRef } from "../../vendor/hooks.js";
import { showMessage } from "../chat.js";
import { useEscape } from "../focus.js";
import { html } from "../html.js";
import { GROUPS } from "../kinds.js";
import { ListError, UndoToast } from "../memory/undo_toast.js";
import * as beliefList from "../memory/belief_list.js";
import { Changes } from "../memory/changes.js";
import { MoodChart } from "../memory/chart.js";
import { Filters } from "../memory/filters.js";
import { Goals } from "../memory/goals.js";
import { BeliefRow, RejectedRow } from "../memory/belief_row.js";
import { BeliefPanel } from "../memory/belief_panel.js";
import { Portrait } from "../memory/portrait.js";
import { DayExtras, DateSlider } from "../memory/date_slider.js";
import { Tasks } from "../memory/tasks.js";
import { formatCount } from "../memory/labels.js";
import { Reflections } from "../memory/reflections.js";
import { navigate, subpath } from "../router.js";
import { VirtualList } from "../virtual_list.js";
import { Example } from "../example.js";
import * as store from "../store.js";
import { channelName, formatShortDay, t } from "../i18n.js";

export default function Memory() {
  useEffect(beliefList.watchList, []);
  const beside = subpath.value;
  return html`<div class=${`memory ${beside ? "has-panel" : ""}`}>
    <div class="memory-main">
      <header class="memory-head"><h2>${t("memory_title")}</h2><${DayExtras} /></header>
      ${isNothing() ? html`<p class="lead">${t("memory_none")}</p><${Example} />` : html`<${DateSlider} />`}
      <${Portrait} />
      <${Tasks} />
      <${Goals} />
      ${!isNothing() && html`<${Filters} /><${ListError} /><${Said} /><${Book} />`}
    </div>
    ${beside && html`<${Beside} name=${beside} />`}
    <${UndoToast} after=${() => beliefList.load(beliefList.beliefs.value?.items.length ?? 0)} />
  </div>`;
}

/** Whether nothing was said yet, and so there is nothing to look for. */
const isNothing = () => beliefList.beliefs.value?.items.length === 0 && !beliefList.isFiltered.value && !beliefList.day.value && !store.messages.value.length;

function Book() {
  const shown = beliefList.beliefs.value;
  if (!shown) return html`<div class="skeleton" aria-busy="true" role="status"><span class="visually-hidden">${t("loading")}</span></div>`;
  if (!shown.items.length) return html`<p class="empty nothing">${nothing()}</p>`;
  const isByKind = beliefList.filters.value.sort === "kind" && !beliefList.filters.value.q;
  const taken = beliefList.rejected.value;
  const draw = (belief, index) => {
    const group = groupOf(belief);
    const opens = isByKind && (index === 0 || groupOf(shown.items[index - 1]) !== group);
    return html`${opens && html`<h3 class="group">${t(group.phrase)} <span class="count">${formatCount(countOf(group, shown.kinds))}</span></h3>`}${
      belief.id === taken?.belief.id ? html`<${RejectedRow} ...${taken} />` : html`<${BeliefRow} belief=${belief} />`}`;
  };
  return html`<${VirtualList} items=${shown.items} keyOf=${(each) => each.id} draw=${draw} total=${shown.total} of=${shown.of}
    label=${t("memory_title")} onNearEnd=${beliefList.loadMore} />`;
}

const groupOf = (belief) => GROUPS.find(({ kinds }) => kinds.includes(belief.kind)) ?? GROUPS[0];
const countOf = (group, kinds) => group.kinds.reduce((sum, kind) => sum + (kinds[kind] ?? 0), 0);

/** Why there is nothing. */
function nothing() {
  if (beliefList.filters.value.q) return t("search_none", { words: beliefList.filters.value.q });
  if (beliefList.isFiltered.value) return t("memory_none_so");
  return t(beliefList.day.value ? "memory_none_then" : "memory_none");
}

/** What was said with these words. */
function Said() {
  const found = beliefList.foundMessages.value;
  if (!found?.items.length || found.words !== beliefList.filters.value.q) return null;
  return html`<details class="said-so" open=${found.items.length <= 3}><summary>${t("memory_said_so", { count: found.items.length })}</summary>
    <ul role="list">${found.items.map((each) => html`<li key=${each.id}><button class="words" onClick=${() => showMessage(each.id)}>
      <q>${each.text}</q> <span class="where">${[each.role === "person" ? "" : each.speaker, formatShortDay(each.at), channelName(each.channel)].filter(Boolean).join(" · ")}</span></button></li>`)}</ul></details>`;
}

function Beside({ name }) {
  const panel = useRef(null);
  const opener = useRef(document.activeElement);
  const close = () => {
    navigate("/memory");
    opener.current?.focus?.();
  };
  useLayoutEffect(() => panel.current.focus({ preventScroll: true }), [name]);
  useEscape(true, ({ defaultPrevented }) => defaultPrevented || store.drawer.value || close());
  const inside = { changes: html`<${Changes} />`, thinking: html`<${Reflections} />`, moods: beliefList.moods.value.length > 1 && html`<${MoodChart} />` };
  return html`<section class="memory-panel" role="region" aria-labelledby="panel-title" tabindex="-1" ref=${panel}>
    <button class="quiet close" onClick=${close}>${t("close")}</button>
    ${name in inside ? inside[name] : html`<${BeliefPanel} id=${name} />`}</section>`;
}
