// Memory: what is known, grouped by kind, now or on any day; beside it one thing and its history.
import { useEffect, useLayoutEffect, useRef } from "../../vendor/hooks.js";
import { showWords } from "../chat.js";
import { useEscape } from "../focus.js";
import { html } from "../html.js";
import { GROUPS } from "../kinds.js";
import { Trouble, Undo } from "../memory/aftermath.js";
import * as book from "../memory/book.js";
import { Changes } from "../memory/changes.js";
import { Moods } from "../memory/chart.js";
import { Filters } from "../memory/filters.js";
import { Goals } from "../memory/goals.js";
import { Line, TakenBack } from "../memory/line.js";
import { Panel } from "../memory/panel.js";
import { Portrait } from "../memory/portrait.js";
import { Besides, Slider } from "../memory/slider.js";
import { Tasks } from "../memory/tasks.js";
import { many } from "../memory/telling.js";
import { Thinking } from "../memory/thinking.js";
import { go, within } from "../places.js";
import { Rows } from "../rows.js";
import { Sample } from "../sample.js";
import * as store from "../store.js";
import { channelName, shortDayOf, t } from "../words.js";

export default function Memory() {
  useEffect(book.open, []);
  const beside = within.value;
  return html`<div class=${`memory ${beside ? "has-panel" : ""}`}>
    <div class="memory-main">
      <header class="memory-head"><h2>${t("memory_title")}</h2><${Besides} /></header>
      ${isNothing() ? html`<p class="lead">${t("memory_none")}</p><${Sample} />` : html`<${Slider} />`}
      <${Portrait} />
      <${Tasks} />
      <${Goals} />
      ${!isNothing() && html`<${Filters} /><${Trouble} /><${Said} /><${Book} />`}
    </div>
    ${beside && html`<${Beside} name=${beside} />`}
    <${Undo} after=${() => book.read(book.book.value?.items.length ?? 0)} />
  </div>`;
}

/** Whether nothing was said yet, and so there is nothing to look for. */
const isNothing = () => book.book.value?.items.length === 0 && !book.isFiltered.value && !book.day.value && !store.messages.value.length;

function Book() {
  const shown = book.book.value;
  if (!shown) return html`<div class="skeleton" aria-busy="true" role="status"><span class="visually-hidden">${t("loading")}</span></div>`;
  if (!shown.items.length) return html`<p class="empty nothing">${nothing()}</p>`;
  const isByKind = book.filters.value.sort === "kind" && !book.filters.value.q;
  const taken = book.takenBack.value;
  const draw = (belief, index) => {
    const group = groupOf(belief);
    const opens = isByKind && (index === 0 || groupOf(shown.items[index - 1]) !== group);
    return html`${opens && html`<h3 class="group">${t(group.phrase)} <span class="count">${many(countOf(group, shown.kinds))}</span></h3>`}${
      belief.id === taken?.belief.id ? html`<${TakenBack} ...${taken} />` : html`<${Line} belief=${belief} />`}`;
  };
  return html`<${Rows} items=${shown.items} keyOf=${(each) => each.id} draw=${draw} total=${shown.total} of=${shown.of}
    label=${t("memory_title")} onNearEnd=${book.readOn} />`;
}

const groupOf = (belief) => GROUPS.find(({ kinds }) => kinds.includes(belief.kind)) ?? GROUPS[0];
const countOf = (group, kinds) => group.kinds.reduce((sum, kind) => sum + (kinds[kind] ?? 0), 0);

/** Why there is nothing. */
function nothing() {
  if (book.filters.value.q) return t("search_none", { words: book.filters.value.q });
  if (book.isFiltered.value) return t("memory_none_so");
  return t(book.day.value ? "memory_none_then" : "memory_none");
}

/** What was said with these words. */
function Said() {
  const found = book.said.value;
  if (!found?.items.length || found.words !== book.filters.value.q) return null;
  return html`<details class="said-so" open=${found.items.length <= 3}><summary>${t("memory_said_so", { count: found.items.length })}</summary>
    <ul role="list">${found.items.map((each) => html`<li key=${each.id}><button class="words" onClick=${() => showWords(each.id)}>
      <q>${each.text}</q> <span class="where">${[each.role === "person" ? "" : each.speaker, shortDayOf(each.at), channelName(each.channel)].filter(Boolean).join(" · ")}</span></button></li>`)}</ul></details>`;
}

function Beside({ name }) {
  const panel = useRef(null);
  const opener = useRef(document.activeElement);
  const close = () => {
    go("/memory");
    opener.current?.focus?.();
  };
  useLayoutEffect(() => panel.current.focus({ preventScroll: true }), [name]);
  useEscape(true, ({ defaultPrevented }) => defaultPrevented || store.drawer.value || close());
  const inside = { changes: html`<${Changes} />`, thinking: html`<${Thinking} />`, moods: book.moods.value.length > 1 && html`<${Moods} />` };
  return html`<section class="memory-panel" role="region" aria-labelledby="panel-title" tabindex="-1" ref=${panel}>
    <button class="quiet close" onClick=${close}>${t("close")}</button>
    ${name in inside ? inside[name] : html`<${Panel} id=${name} />`}</section>`;
}
