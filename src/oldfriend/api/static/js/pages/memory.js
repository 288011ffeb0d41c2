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
  const panelName = subpath.value;
  return html`<div class=${`memory ${panelName ? "has-panel" : ""}`}>
    <div class="memory-main">
      <header class="memory-head"><h2>${t("memory_title")}</h2></header>
      ${isMemoryEmpty() ? html`<p class="lead">${t("memory_none")}</p><${Example} />` : html`<${DateSlider} />`}
      <${Portrait} /><${DayExtras} />
      <${Tasks} />
      <${Goals} />
      ${!isMemoryEmpty() && html`<${Filters} /><${ListError} /><${FoundMessages} /><${GroupedBeliefs} />`}
    </div>
    ${panelName && html`<${SidePanel} name=${panelName} />`}
    <${UndoToast} onUndone=${() => beliefList.load(beliefList.beliefs.value?.items.length ?? 0)} />
  </div>`;
}

/** Whether there are no messages and no beliefs yet, so that there is nothing to filter. */
const isMemoryEmpty = () => beliefList.beliefs.value?.items.length === 0 && !beliefList.isFiltered.value && !beliefList.day.value && !store.messages.value.length;

function GroupedBeliefs() {
  const beliefs = beliefList.beliefs.value;
  if (!beliefs) return html`<div class="skeleton" aria-busy="true" role="status"><span class="visually-hidden">${t("loading")}</span></div>`;
  if (!beliefs.items.length) return html`<p class="empty nothing">${explainEmpty()}</p>`;
  const isByKind = beliefList.filters.value.sort === "kind" && !beliefList.filters.value.q;
  const rejected = beliefList.rejected.value;
  const draw = (belief, index) => {
    const group = groupOf(belief);
    const startsGroup = isByKind && (index === 0 || groupOf(beliefs.items[index - 1]) !== group);
    return html`${startsGroup && html`<h3 class="group">${t(group.phrase)} <span class="count">${formatCount(countInGroup(group, beliefs.kinds))}</span></h3>`}${
      belief.id === rejected?.belief.id ? html`<${RejectedRow} ...${rejected} />` : html`<${BeliefRow} belief=${belief} />`}`;
  };
  return html`<${VirtualList} items=${beliefs.items} keyOf=${(each) => each.id} renderRow=${draw} total=${beliefs.total} listKey=${beliefs.listKey}
    label=${t("memory_title")} onNearEnd=${beliefList.loadMore} />`;
}

const groupOf = (belief) => GROUPS.find(({ kinds }) => kinds.includes(belief.kind)) ?? GROUPS[0];
const countInGroup = (group, kinds) => group.kinds.reduce((sum, kind) => sum + (kinds[kind] ?? 0), 0);

/** Why the list is empty. */
function explainEmpty() {
  if (beliefList.filters.value.q) return t("search_none", { words: beliefList.filters.value.q });
  if (beliefList.isFiltered.value) return t("memory_none_so");
  return t(beliefList.day.value ? "memory_none_then" : "memory_none");
}

/** Messages that contain the searched words. */
function FoundMessages() {
  const messages = beliefList.foundMessages.value;
  if (!messages?.items.length || messages.query !== beliefList.filters.value.q) return null;
  return html`<details class="said-so" open=${messages.items.length <= 3}><summary>${t("memory_said_so", { count: messages.items.length })}</summary>
    <ul role="list">${messages.items.map((each) => html`<li key=${each.id}><button class="words" onClick=${() => showMessage(each.id)}>
      <q>${each.text}</q> <span class="where">${[each.role === "person" ? "" : each.speaker, formatShortDay(each.at), channelName(each.channel)].filter(Boolean).join(" · ")}</span></button></li>`)}</ul></details>`;
}

function SidePanel({ name }) {
  const panel = useRef(null);
  const opener = useRef(document.activeElement);
  const close = () => {
    navigate("/memory");
    opener.current?.focus?.();
  };
  useLayoutEffect(() => panel.current.focus({ preventScroll: true }), [name]);
  useEscape(true, ({ defaultPrevented }) => defaultPrevented || store.drawer.value || close());
  const panels = { changes: html`<${Changes} />`, thinking: html`<${Reflections} />`, moods: beliefList.moods.value.length > 1 && html`<${MoodChart} />` };
  return html`<section class="memory-panel" role="region" aria-labelledby="panel-title" tabindex="-1" ref=${panel}>
    <button class="quiet close" onClick=${close}>${t("close")}</button>
    ${name in panels ? panels[name] : html`<${BeliefPanel} id=${name} />`}</section>`;
}
