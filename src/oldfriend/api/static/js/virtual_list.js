// A virtual list: only the rows in sight are in the document, of any height.
// It keeps the scroll position when rows above change, and when estimated heights are replaced by measured ones.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { html } from "./html.js";

const ESTIMATED_ROW_PX = 64; // height of a row that was never measured, until others were
const OVERSCAN_PX = 600; // rendered beyond the visible area
const MAX_ROWS = 120; // rendered at most, however low they are
const LOAD_MORE_ROWS = 25; // rows before the end of the loaded items at which more are requested
const HEIGHT_TOLERANCE_PX = 0.6;

/** A virtual list inside a scrolling ancestor, which may contain more than the list.
 * @param {object} props
 * @param {any[]} props.items
 * @param {(item: any) => string} props.keyOf
 * @param {(item: any, index: number) => any} props.renderRow renders the content of a row
 * @param {string} props.label accessible name of the list
 * @param {number} [props.total] number of items, including those not loaded yet
 * @param {() => void} [props.onNearEnd] called near the end of the loaded items
 * @param {string} [props.listKey] identity of the list: when it changes, the list scrolls to its top */
export function VirtualList({ items, keyOf, renderRow, label, total = items.length, onNearEnd, listKey = "" }) {
  const list = useRef(null);
  const stateRef = useRef({ heights: new Map(), sum: 0, listKey, anchor: null, focus: null, current: null });
  const [span, setSpan] = useState([0, 30]);
  const [, redraw] = useState(0);
  const tops = computeTops(items, keyOf, stateRef.current);
  const saveAnchor = useRef(null);
  saveAnchor.current = () => (stateRef.current.anchor = findAnchor(list.current, tops, items, keyOf));
  const update = useRef(null);
  update.current = () => {
    const visible = findVisibleSpan(list.current, tops);
    saveAnchor.current();
    if (visible[0] !== span[0] || visible[1] !== span[1]) setSpan(visible);
    if (onNearEnd && visible[1] >= items.length - LOAD_MORE_ROWS) onNearEnd();
  };
  useEffect(() => {
    const scroller = findScroller(list.current);
    let frame = 0;
    const scheduleUpdate = () => {
      saveAnchor.current();
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        if (list.current) update.current();
      });
    };
    scroller.addEventListener("scroll", scheduleUpdate, { passive: true });
    const observer = new ResizeObserver(() => list.current && measure(list.current, stateRef.current) && redraw((n) => n + 1));
    observer.observe(list.current);
    stateRef.current.observer = observer;
    return () => {
      cancelAnimationFrame(frame);
      scroller.removeEventListener("scroll", scheduleUpdate);
      observer.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    const state = stateRef.current;
    if (state.listKey !== listKey) {
      state.listKey = listKey;
      state.anchor = null;
      findScroller(list.current).scrollTop = 0;
    }
    for (const row of list.current.children) state.observer?.observe(row);
    const changed = measure(list.current, state);
    restoreAnchor(list.current, computeTops(items, keyOf, state), items, keyOf, state.anchor);
    if (changed) redraw((n) => n + 1);
    else update.current();
    if (state.focus) list.current.querySelector(`[data-key="${CSS.escape(state.focus)}"]`)?.focus({ preventScroll: true });
    state.focus = null;
  });
  const focusRow = (index) => {
    const target = Math.max(0, Math.min(items.length - 1, index));
    const scroller = findScroller(list.current);
    const top = findOffset(scroller, list.current) + tops[target];
    const height = tops[target + 1] - tops[target];
    const stickyHeight = findStickyHeight(scroller);
    if (top - stickyHeight < scroller.scrollTop) scroller.scrollTop = top - stickyHeight;
    else if (top + height > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + height - scroller.clientHeight;
    Object.assign(stateRef.current, { focus: keyOf(items[target]), current: keyOf(items[target]), anchor: null });
    setSpan(findVisibleSpan(list.current, tops));
    redraw((n) => n + 1);
  };
  const onKeyDown = (event) => {
    const index = items.findIndex((each) => keyOf(each) === event.target.closest("[data-key]")?.dataset.key);
    if (event.key === "Enter" && event.target.matches("[data-key]")) event.target.querySelector("a, button")?.click();
    const target = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: items.length - 1 }[event.key];
    if (index < 0 || target === undefined || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    focusRow(target);
  };
  const onFocusIn = ({ target }) => {
    stateRef.current.current = target.closest("[data-key]")?.dataset.key ?? null;
  };
  const rendered = listRenderedIndexes(span, items, keyOf, stateRef.current.current);
  const reachable = rendered.some((index) => keyOf(items[index]) === stateRef.current.current) ? stateRef.current.current : null;
  return html`<ul class="rows" role="list" aria-label=${label} ref=${list} style=${{ height: `${tops[items.length]}px` }}
    onKeyDown=${onKeyDown} onFocusIn=${onFocusIn}>
    ${rendered.map((index) => {
      const key = keyOf(items[index]);
      return html`<li class="row" key=${key} data-key=${key} aria-setsize=${total} aria-posinset=${index + 1}
        tabindex=${(reachable ?? keyOf(items[rendered[0]])) === key ? 0 : -1}
        style=${{ transform: `translateY(${tops[index]}px)` }}>${renderRow(items[index], index)}</li>`;
    })}
  </ul>`;
}

/** Returns the top of each row in px, and after the last row its bottom. */
function computeTops(items, keyOf, { heights, sum }) {
  const estimate = heights.size ? sum / heights.size : ESTIMATED_ROW_PX;
  const tops = new Float64Array(items.length + 1);
  for (let index = 0; index < items.length; index++) {
    tops[index + 1] = tops[index] + (heights.get(keyOf(items[index])) ?? estimate);
  }
  return tops;
}

/** Measures the rendered rows; returns whether any height has changed. */
function measure(list, state) {
  let changed = false;
  for (const row of list.children) {
    const height = row.getBoundingClientRect().height;
    const before = state.heights.get(row.dataset.key);
    if (Math.abs((before ?? -1) - height) < HEIGHT_TOLERANCE_PX) continue;
    state.heights.set(row.dataset.key, height);
    state.sum += height - (before ?? 0);
    changed = true;
  }
  return changed;
}

/** Returns the index of the row at a height in px. */
function findRowAt(tops, height) {
  let low = 0;
  let high = tops.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle] <= height) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

function findVisibleSpan(list, tops) {
  const scroller = findScroller(list);
  const from = scroller.scrollTop - findOffset(scroller, list);
  const first = findRowAt(tops, from - OVERSCAN_PX);
  const last = findRowAt(tops, from + scroller.clientHeight + OVERSCAN_PX);
  return [first, Math.min(last, first + MAX_ROWS - 1)];
}

/** Returns the indexes to render: those of the span, and the row that has the focus. */
function listRenderedIndexes([first, last], items, keyOf, current) {
  const end = Math.min(last, items.length - 1);
  const rendered = [];
  for (let index = Math.min(first, Math.max(0, end)); index <= end; index++) rendered.push(index);
  const focusedIndex = current === null ? -1 : items.findIndex((each) => keyOf(each) === current);
  if (focusedIndex >= 0 && focusedIndex < rendered[0]) rendered.unshift(focusedIndex);
  else if (focusedIndex > end) rendered.push(focusedIndex);
  return rendered;
}

/** Returns the first visible row and its offset in px from the upper edge; null while the list's top is visible. */
function findAnchor(list, tops, items, keyOf) {
  const scroller = findScroller(list);
  const from = scroller.scrollTop - findOffset(scroller, list) + findStickyHeight(scroller);
  if (from <= 0 || !items.length) return null;
  const index = findRowAt(tops, from);
  return { key: keyOf(items[index]), below: tops[index] - from };
}

function restoreAnchor(list, tops, items, keyOf, anchor) {
  const index = anchor ? items.findIndex((each) => keyOf(each) === anchor.key) : -1;
  if (index < 0) return;
  const scroller = findScroller(list);
  const scrollTop = tops[index] - anchor.below + findOffset(scroller, list) - findStickyHeight(scroller);
  if (Math.abs(scroller.scrollTop - scrollTop) > 1) scroller.scrollTop = scrollTop;
}

/** Returns the nearest scrolling ancestor of an element. @param {HTMLElement} element @returns {Element} */
function findScroller(element) {
  for (let each = element.parentElement; each; each = each.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(each).overflowY)) return each;
  }
  return document.scrollingElement ?? document.documentElement;
}

function findOffset(scroller, list) {
  return list.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
}

/** Returns the height in px that a sticky header covers in the scroller. */
function findStickyHeight(scroller) {
  const sticky = scroller.querySelector("[data-stays]");
  return sticky && getComputedStyle(sticky).position === "sticky" ? sticky.offsetHeight : 0;
}
