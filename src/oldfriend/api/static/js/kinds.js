// The kinds of belief: icon, group, and what may be done with each.
//
// A kind is called what `kind_NAME` says in words/*/talk.js.

/** @typedef {{name: string, group?: string, color?: string, hasDueDate?: boolean, isLearned?: boolean, shape: string}} Kind */

/** @type {Kind[]} */
export const KINDS = [
  { name: "note", group: "notes", isLearned: true,
    shape: "M4 2h8v12l-4-3-4 3z" },
  { name: "event", group: "events", color: "event", isLearned: true,
    shape: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3z" },
  { name: "fact", group: "facts", isLearned: true,
    shape: "M3 3h10v10H3z" },
  { name: "preference", group: "facts", color: "promise", isLearned: true,
    shape: "M8 13.5 2.8 8.2a3.2 3.2 0 0 1 5.2-3.7 3.2 3.2 0 0 1 5.2 3.7z" },
  { name: "pattern", group: "patterns", color: "pattern", isLearned: true,
    shape: "M8 2a6 6 0 1 0 6 6h-2.5A3.5 3.5 0 1 1 8 4.500z M8 2v4l3.500-2.200z" },
  { name: "commitment", group: "promises", color: "promise", hasDueDate: true, isLearned: true,
    shape: "M4 2h1.500v12H4z M5.500 2.500h7l-2 3 2 3h-7z" },
  { name: "expectation", group: "promises", color: "event", hasDueDate: true, isLearned: true,
    shape: "M8 2 14 13H2z" },
  { name: "thought", group: "thoughts", color: "thought", isLearned: true,
    shape: "M8 2.500c3.300 0 6 2 6 4.700s-2.700 4.700-6 4.700L4.500 14v-2.700C3 10.500 2 9 2 7.200c0-2.700 2.700-4.700 6-4.700z" },
  { name: "opinion", group: "opinions", color: "thought", isLearned: true,
    shape: "M8 2l1.800 3.900 4.200.5-3.100 2.900.8 4.200L8 11.400l-3.700 2.100.8-4.200L2 6.400l4.200-.5z" },
  { name: "triple", group: "ties", color: "person",
    shape: "M2 6h5v4H2z M9 6h5v4H9z M7 7.500h2v1H7z" },
  { name: "summary", group: "summaries", color: "thought",
    shape: "M2 3h12v2H2z M2 7h12v2H2z M2 11h8v2H2z" },
  { name: "entity", color: "person",
    shape: "M8 2.500a2.800 2.800 0 1 1 0 5.600 2.800 2.800 0 0 1 0-5.600z M2.500 14c0-3 2.500-5 5.500-5s5.500 2 5.500 5z" },
];
const FALLBACK = "fact";
const GROUP_NAMES = [
  ["facts", "memory_group_facts", "memory_short_facts"],
  ["events", "memory_group_events", "memory_short_events"],
  ["patterns", "memory_group_patterns", "memory_short_patterns"],
  ["promises", "memory_group_promises", "memory_short_promises"],
  ["thoughts", "memory_group_thoughts", "memory_short_thoughts"],
  ["opinions", "memory_group_opinions", "memory_short_opinions"],
  ["ties", "memory_group_ties", "memory_short_ties"],
  ["notes", "memory_group_notes", "memory_short_notes"],
  ["summaries", "memory_group_summaries", "memory_short_summaries"],
];

/** Groups in the order in which they are listed: their phrases, long and short, and the names of their kinds. */
export const GROUPS = GROUP_NAMES.map(([group, phrase, short]) => (
  { phrase, short, kinds: KINDS.filter((each) => each.group === group).map((each) => each.name) }));

/** @param {string} name */
export const findKind = (name) => KINDS.find((each) => each.name === name) ?? findKind(FALLBACK);
