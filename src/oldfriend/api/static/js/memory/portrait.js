// The portrait: who the person is in a few sentences, what is pinned, what is coming up.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { useLiveUpdates } from "../live_updates.js";
import { followLink } from "../router.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { memoryApi } from "./api.js";
import { findDeadline, formatOwnTime } from "./labels.js";

const MOST = 7; // sentences
const MOST_LISTED = 3;
const FIRST = ["name", "preferred_name", "age", "occupation", "workplace", "location", "relationship_status", "studies"]; // then by kind
const KINDS = ["fact", "preference", "pattern"];
const ALL = { kinds: [], statuses: [], subject: "", tag: "", pinned: false, ended: false, sort: "kind", q: "" };
const SETTLE_MS = 120;

export function Portrait() {
  const [shown, setShown] = useState(null);
  const { day, by } = beliefList.asOf();
  const news = useLiveUpdates([store.learned.value, beliefList.decisionCount.value]);
  useEffect(() => setShown(null), [store.rewritten.value]);
  useEffect(() => {
    const asked = new AbortController();
    const read = (some) => memoryApi.page({ ...ALL, ...some }, { day, by }, null, asked.signal);
    const timer = setTimeout(async () => {
      try {
        const [known, pinned, coming] = await Promise.all([
          read({ kinds: KINDS, subject: "person", sort: "surest" }), read({ pinned: true }), read({ kinds: ["commitment", "expectation"] })]);
        if (!asked.signal.aborted) setShown({ told: chosen(known.items), pinned: pinned.items, coming: comingUp(coming.items, day) });
      } catch {
        // the list below says what went wrong
      }
    }, shown ? SETTLE_MS : 0);
    return () => (clearTimeout(timer), asked.abort());
  }, [day, by, news, store.rewritten.value]);
  if (!shown || beliefList.isFiltered.value || !shown.told.length) return null;
  return html`<section class="portrait" aria-label=${t("memory_portrait")}>
    <p class="portrait-prose">${shown.told.map((each) => html`<a key=${each.id} href=${`/memory/${each.id}`} onClick=${followLink}>${each.sentence}</a> `)}</p>
    <div class="portrait-lists"><${Few} title="memory_pinned_title" items=${shown.pinned} /><${Few} title="memory_coming" items=${shown.coming} /></div>
  </section>`;
}

function Few({ title, items }) {
  if (!items.length) return null;
  return html`<div><h3>${t(title)}</h3><ul role="list">${items.slice(0, MOST_LISTED).map((each) => html`<li key=${each.id}>
    <${KindIcon} kind=${each.kind} /><a href=${`/memory/${each.id}`} onClick=${followLink}>${each.sentence}</a> <span class="meta">${formatOwnTime(each)}</span></li>`)}</ul></div>`;
}

/** The sentences that say most of who somebody is: what is sure and said to them, not mere quotes.
 * @param {any[]} items */
function chosen(items) {
  const rank = ({ key, kind }) => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length + KINDS.indexOf(kind));
  const sure = items.filter((each) => each.status === "active" && each.key !== "in_own_words");
  const told = sure.filter((each) => each.sentence !== each.text); // where the language tells nobody, all are alike
  return (told.length ? told : sure).toSorted((one, other) => rank(one) - rank(other)).slice(0, MOST);
}

/** What is due from the day on that is looked at, the next first. @param {any[]} items @param {string | null} day */
function comingUp(items, day) {
  const now = day ? Date.parse(day) : Date.now();
  return items.filter((each) => each.due_at && findDeadline(each.due_at, each.grain) >= now).toSorted((one, other) => Date.parse(one.due_at) - Date.parse(other.due_at));
}
