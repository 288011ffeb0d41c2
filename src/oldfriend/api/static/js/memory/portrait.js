// The portrait: who the person is in a few sentences, what is pinned, what is coming up.
import { useEffect, useState } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { KindIcon } from "../icons.js";
import { useLiveUpdates } from "../live_updates.js";
import { followLink } from "../router.js";
import * as store from "../store.js";
import { language, t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { memoryApi } from "./api.js";
import { findDeadline, formatOwnTime } from "./labels.js";

const MAX_SENTENCES = 7;
const MAX_LISTED = 3;
const KEYS_FIRST = ["name", "preferred_name", "age", "occupation", "workplace", "location", "relationship_status", "studies"]; // keys shown first; the rest by kind
const KINDS = ["fact", "preference", "pattern"];
const NO_FILTERS = { kinds: [], statuses: [], subject: "", tag: "", pinned: false, ended: false, sort: "kind", q: "" };
const DEBOUNCE_MS = 120;

export function Portrait() {
  const [portrait, setPortrait] = useState(null);
  const { day, by } = beliefList.asOf();
  const updates = useLiveUpdates([store.learned.value, beliefList.decisionCount.value]);
  useEffect(() => setPortrait(null), [store.rewriteCount.value]);
  useEffect(() => {
    const request = new AbortController();
    const load = (filters) => memoryApi.beliefs({ ...NO_FILTERS, ...filters }, { day, by }, null, request.signal);
    const timer = setTimeout(async () => {
      try {
        const [aboutPerson, pinned, upcoming] = await Promise.all([
          load({ kinds: KINDS, subject: "person", sort: "surest" }), load({ pinned: true }), load({ kinds: ["commitment", "expectation"] })]);
        if (!request.signal.aborted) setPortrait({ sentences: chooseSentences(aboutPerson.items), pinned: pinned.items, upcoming: findUpcoming(upcoming.items, day) });
      } catch {
        // the list below reports the error
      }
    }, portrait ? DEBOUNCE_MS : 0);
    return () => (clearTimeout(timer), request.abort());
  }, [day, by, updates, store.rewriteCount.value]);
  if (!portrait || beliefList.isFiltered.value || !portrait.sentences.length) return null;
  return html`<section class="portrait" aria-label=${t("memory_portrait")}>
    <p class="portrait-prose">${portrait.sentences.map((each) => html`<a key=${each.id} href=${`/memory/${each.id}`} lang=${each.sentence_language} onClick=${followLink}>${each.sentence}</a> `)}</p>
    <div class="portrait-lists"><${ShortList} title="memory_pinned_title" items=${portrait.pinned} /><${ShortList} title="memory_coming" items=${portrait.upcoming} /></div>
  </section>`;
}

function ShortList({ title, items }) {
  if (!items.length) return null;
  return html`<div><h3>${t(title)}</h3><ul role="list">${items.slice(0, MAX_LISTED).map((each) => html`<li key=${each.id}>
    <${KindIcon} kind=${each.kind} /><a href=${`/memory/${each.id}`} lang=${each.sentence_language} onClick=${followLink}>${each.sentence}</a> <span class="meta">${formatOwnTime(each)}</span></li>`)}</ul></div>`;
}

/** The active beliefs that describe a person best, at most MAX_SENTENCES, without quotes in their own words.
 * @param {any[]} items */
function chooseSentences(items) {
  const rank = ({ key, kind }) => (KEYS_FIRST.includes(key) ? KEYS_FIRST.indexOf(key) : KEYS_FIRST.length + KINDS.indexOf(kind));
  const sure = items.filter((each) => each.status === "active" && each.key !== "in_own_words");
  const [current, past] = [sure.filter((each) => !each.as_of), sure.filter((each) => each.as_of)]; // what was last said long ago comes after all that holds now
  const phrased = current.filter((each) => each.sentence !== each.text && each.sentence_language === language.value); // told to the person in the page's language; one without such phrases has none
  const ranked = [phrased.length ? phrased : current, past].map((each) => each.toSorted((a, b) => rank(a) - rank(b)));
  return ranked.flat().slice(0, MAX_SENTENCES);
}

/** Beliefs due from the selected day on, the next first. @param {any[]} items @param {string | null} day */
function findUpcoming(items, day) {
  const now = day ? Date.parse(day) : Date.now();
  return items.filter((each) => each.due_at && findDeadline(each.due_at, each.grain) >= now).toSorted((a, b) => Date.parse(a.due_at) - Date.parse(b.due_at));
}
