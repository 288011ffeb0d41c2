// Who the person is, in a few sentences, as of the day that is looked at; what is pinned, and what is coming up.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { useNews } from "../news.js";
import { follow } from "../places.js";
import * as store from "../store.js";
import { t } from "../words.js";
import * as book from "./book.js";
import { house } from "./house.js";
import { deadlineOf, timeOfIt } from "./telling.js";

const MOST = 7; // sentences
const MOST_LISTED = 3;
const FIRST = ["name", "preferred_name", "age", "occupation", "workplace", "location", "relationship_status", "studies"]; // then by kind
const KINDS = ["fact", "preference", "pattern"];
const ALL = { kinds: [], statuses: [], subject: "", tag: "", pinned: false, ended: false, sort: "kind", q: "" };
const SETTLE_MS = 120;

export function Portrait() {
  const [shown, setShown] = useState(null);
  const { day, by } = book.when();
  const news = useNews([store.learned.value, book.decided.value]);
  useEffect(() => setShown(null), [store.rewritten.value]);
  useEffect(() => {
    const asked = new AbortController();
    const read = (some) => house.page({ ...ALL, ...some }, { day, by }, null, asked.signal);
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
  if (!shown || book.isFiltered.value || !shown.told.length) return null;
  return html`<section class="portrait" aria-label=${t("memory_portrait")}>
    <p class="portrait-prose">${shown.told.map((each) => html`<a key=${each.id} href=${`/memory/${each.id}`} onClick=${follow}>${each.sentence}</a> `)}</p>
    <div class="portrait-lists"><${Few} title="memory_pinned_title" items=${shown.pinned} /><${Few} title="memory_coming" items=${shown.coming} /></div>
  </section>`;
}

function Few({ title, items }) {
  if (!items.length) return null;
  return html`<div><h3>${t(title)}</h3><ul role="list">${items.slice(0, MOST_LISTED).map((each) => html`<li key=${each.id}>
    <${KindIcon} kind=${each.kind} /><a href=${`/memory/${each.id}`} onClick=${follow}>${each.sentence}</a> <span class="meta">${timeOfIt(each)}</span></li>`)}</ul></div>`;
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
  return items.filter((each) => each.due_at && deadlineOf(each.due_at, each.grain) >= now).toSorted((one, other) => Date.parse(one.due_at) - Date.parse(other.due_at));
}
