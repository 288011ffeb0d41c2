// A virtual list: only the rows in sight are in the document, of any height.
// It keeps its place when rows come or go above, and when what was guessed of their heights is known.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { html } from "./html.js";

const GUESS_PX = 64; // of a row that was never seen
const AROUND_PX = 600; // is drawn beyond what can be seen
const MOST_ROWS = 120; // are drawn, however low they are
const NEAR_END = 25; // rows before the end of what is there, more is asked for
const SAME_PX = 0.6;

/** Rows in a list; whatever scrolls around it may hold more than the list.
 * @param {object} given
 * @param {any[]} given.items
 * @param {(item: any) => string} given.keyOf
 * @param {(item: any, index: number) => any} given.draw what stands in a row
 * @param {string} given.label of the list
 * @param {number} [given.total] how many there are with those that are still to come
 * @param {() => void} [given.onNearEnd] more is wanted
 * @param {string} [given.of] what the list is of: when it is of something else, it begins at its top */
export function VirtualList({ items, keyOf, draw, label, total = items.length, onNearEnd, of = "" }) {
  const list = useRef(null);
  const known = useRef({ heights: new Map(), sum: 0, of, anchor: null, focus: null, current: null });
  const [span, setSpan] = useState([0, 30]);
  const [, redraw] = useState(0);
  const tops = topsOf(items, keyOf, known.current);
  const mark = useRef(null);
  mark.current = () => (known.current.anchor = anchorAt(list.current, tops, items, keyOf));
  const look = useRef(null);
  look.current = () => {
    const seen = spanSeen(list.current, tops);
    mark.current();
    if (seen[0] !== span[0] || seen[1] !== span[1]) setSpan(seen);
    if (onNearEnd && seen[1] >= items.length - NEAR_END) onNearEnd();
  };
  useEffect(() => {
    const scroller = scrollerOf(list.current);
    let frame = 0;
    const later = () => {
      mark.current();
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        if (list.current) look.current();
      });
    };
    scroller.addEventListener("scroll", later, { passive: true });
    const sizes = new ResizeObserver(() => list.current && measure(list.current, known.current) && redraw((n) => n + 1));
    sizes.observe(list.current);
    known.current.watch = sizes;
    return () => {
      cancelAnimationFrame(frame);
      scroller.removeEventListener("scroll", later);
      sizes.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    const about = known.current;
    if (about.of !== of) {
      about.of = of;
      about.anchor = null;
      scrollerOf(list.current).scrollTop = 0;
    }
    for (const row of list.current.children) about.watch?.observe(row);
    const changed = measure(list.current, about);
    keepPlace(list.current, topsOf(items, keyOf, about), items, keyOf, about.anchor);
    if (changed) redraw((n) => n + 1);
    else look.current();
    if (about.focus) list.current.querySelector(`[data-key="${CSS.escape(about.focus)}"]`)?.focus({ preventScroll: true });
    about.focus = null;
  });
  const goTo = (index) => {
    const to = Math.max(0, Math.min(items.length - 1, index));
    const scroller = scrollerOf(list.current);
    const top = offsetIn(scroller, list.current) + tops[to];
    const height = tops[to + 1] - tops[to];
    const covered = coveredBy(scroller);
    if (top - covered < scroller.scrollTop) scroller.scrollTop = top - covered;
    else if (top + height > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + height - scroller.clientHeight;
    Object.assign(known.current, { focus: keyOf(items[to]), current: keyOf(items[to]), anchor: null });
    setSpan(spanSeen(list.current, tops));
    redraw((n) => n + 1);
  };
  const onKeyDown = (event) => {
    const index = items.findIndex((each) => keyOf(each) === event.target.closest("[data-key]")?.dataset.key);
    if (event.key === "Enter" && event.target.matches("[data-key]")) event.target.querySelector("a, button")?.click();
    const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: items.length - 1 }[event.key];
    if (index < 0 || to === undefined || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    goTo(to);
  };
  const onFocusIn = ({ target }) => {
    known.current.current = target.closest("[data-key]")?.dataset.key ?? null;
  };
  const drawn = indexesDrawn(span, items, keyOf, known.current.current);
  const reachable = drawn.some((index) => keyOf(items[index]) === known.current.current) ? known.current.current : null;
  return html`<ul class="rows" role="list" aria-label=${label} ref=${list} style=${{ height: `${tops[items.length]}px` }}
    onKeyDown=${onKeyDown} onFocusIn=${onFocusIn}>
    ${drawn.map((index) => {
      const key = keyOf(items[index]);
      return html`<li class="row" key=${key} data-key=${key} aria-setsize=${total} aria-posinset=${index + 1}
        tabindex=${(reachable ?? keyOf(items[drawn[0]])) === key ? 0 : -1}
        style=${{ transform: `translateY(${tops[index]}px)` }}>${draw(items[index], index)}</li>`;
    })}
  </ul>`;
}

/** Where each row begins, and behind the last where it ends. */
function topsOf(items, keyOf, { heights, sum }) {
  const guess = heights.size ? sum / heights.size : GUESS_PX;
  const tops = new Float64Array(items.length + 1);
  for (let index = 0; index < items.length; index++) {
    tops[index + 1] = tops[index] + (heights.get(keyOf(items[index])) ?? guess);
  }
  return tops;
}

/** Take down how high the drawn rows are; whether any is not as it was thought to be. */
function measure(list, known) {
  let changed = false;
  for (const row of list.children) {
    const height = row.getBoundingClientRect().height;
    const before = known.heights.get(row.dataset.key);
    if (Math.abs((before ?? -1) - height) < SAME_PX) continue;
    known.heights.set(row.dataset.key, height);
    known.sum += height - (before ?? 0);
    changed = true;
  }
  return changed;
}

/** The row whose beginning lies last before a height. */
function rowAt(tops, height) {
  let low = 0;
  let high = tops.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle] <= height) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

function spanSeen(list, tops) {
  const scroller = scrollerOf(list);
  const from = scroller.scrollTop - offsetIn(scroller, list);
  const first = rowAt(tops, from - AROUND_PX);
  const last = rowAt(tops, from + scroller.clientHeight + AROUND_PX);
  return [first, Math.min(last, first + MOST_ROWS - 1)];
}

/** The rows to draw: those in a span, and the one in which somebody is. */
function indexesDrawn([first, last], items, keyOf, current) {
  const end = Math.min(last, items.length - 1);
  const drawn = [];
  for (let index = Math.min(first, Math.max(0, end)); index <= end; index++) drawn.push(index);
  const held = current === null ? -1 : items.findIndex((each) => keyOf(each) === current);
  if (held >= 0 && held < drawn[0]) drawn.unshift(held);
  else if (held > end) drawn.push(held);
  return drawn;
}

/** The first row in sight, and how far below the upper edge it begins; none where the list begins in sight. */
function anchorAt(list, tops, items, keyOf) {
  const scroller = scrollerOf(list);
  const from = scroller.scrollTop - offsetIn(scroller, list) + coveredBy(scroller);
  if (from <= 0 || !items.length) return null;
  const index = rowAt(tops, from);
  return { key: keyOf(items[index]), below: tops[index] - from };
}

function keepPlace(list, tops, items, keyOf, anchor) {
  const index = anchor ? items.findIndex((each) => keyOf(each) === anchor.key) : -1;
  if (index < 0) return;
  const scroller = scrollerOf(list);
  const wanted = tops[index] - anchor.below + offsetIn(scroller, list) - coveredBy(scroller);
  if (Math.abs(scroller.scrollTop - wanted) > 1) scroller.scrollTop = wanted;
}

/** What scrolls around an element. @param {HTMLElement} element @returns {Element} */
function scrollerOf(element) {
  for (let each = element.parentElement; each; each = each.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(each).overflowY)) return each;
  }
  return document.scrollingElement ?? document.documentElement;
}

function offsetIn(scroller, list) {
  return list.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
}

/** How much of what scrolls lies under what stays above it. */
function coveredBy(scroller) {
  const above = scroller.querySelector("[data-stays]");
  return above && getComputedStyle(above).position === "sticky" ? above.offsetHeight : 0;
}
