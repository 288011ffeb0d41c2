// Keyboard focus: what closes gives it back to what opened it; from what is gone, it goes to what is next.
import { useLayoutEffect, useRef } from "../vendor/hooks.js";
import { signal } from "../vendor/signals.js";

const PRESSABLE = "a[href], button:not(:disabled), summary, [tabindex='0']";
const ROW = "li, tr, article";
const HEADING = "h1, h2, h3, h4";

export const announcement = signal(""); // what the last action did, for screen readers

/** Has a screen reader say what an action did. @param {string} text */
export function announce(text) {
  announcement.value = "";
  setTimeout(() => (announcement.value = text)); // the same text is said twice, too
}

/** Returns a ref whose element takes the focus when it opens. @param {unknown} isOpen @returns {{current: any}} */
export function useFocus(isOpen = true) {
  const elementRef = useRef(null);
  useLayoutEffect(() => {
    if (isOpen) elementRef.current?.focus();
  }, [isOpen]);
  return elementRef;
}

/** Returns [ref, restoreFocus]: after restoreFocus() is called, the ref's element takes the focus once `isOpen` is
 * false.
 * @param {boolean} isOpen @returns {[{current: any}, () => void]} */
export function useFocusReturn(isOpen) {
  const elementRef = useRef(null);
  const shouldRestore = useRef(false);
  useLayoutEffect(() => {
    if (isOpen || !shouldRestore.current) return;
    shouldRestore.current = false;
    elementRef.current?.focus();
  }, [isOpen]);
  return [elementRef, () => void (shouldRestore.current = true)];
}

/** Calls `leave` on Escape while something is open; listens before the next paint, so that no key is missed.
 * @param {unknown} isOpen @param {(event: KeyboardEvent) => void} leave */
export function useEscape(isOpen, leave) {
  const latestLeave = useRef(leave);
  latestLeave.current = leave;
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const onKeyDown = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && latestLeave.current(event);
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [Boolean(isOpen)]);
}

/** Returns the ref of a modal: it takes the focus when it opens; Escape closes it and returns the focus to where it
 * was.
 * @param {boolean} isOpen @param {() => void} close @param {() => boolean} isCovered whether another modal is above it */
export function useModalFocus(isOpen, close, isCovered) {
  const modal = useRef(null);
  const opener = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (!isOpen) return;
    opener.current = /** @type {HTMLElement | null} */ (document.activeElement);
    modal.current.focus();
  }, [isOpen]);
  useEscape(isOpen, () => {
    if (isCovered()) return;
    close();
    opener.current?.focus();
  });
  return modal;
}

/** Keeps the focus near where it was when the focused element goes: on what is next in its row or list, else on the
 * heading above. Without it the keyboard would start again at the top of the page. */
export function keepFocus() {
  let chain = /** @type {{parent: Element, index: number, isRow: boolean}[]} */ ([]); // from the focused element up
  let focused = /** @type {HTMLElement | null} */ (null);
  addEventListener("focusin", ({ target }) => {
    focused = /** @type {HTMLElement} */ (target);
    chain = [];
    for (let each = /** @type {Element} */ (focused); each.parentElement; each = each.parentElement) {
      chain.push({ parent: each.parentElement, index: [...each.parentElement.children].indexOf(each), isRow: each.matches(ROW) });
    }
  });
  const restore = () => {
    if (document.activeElement !== document.body || !focused || focused.isConnected) return;
    const depth = chain.findIndex(({ parent }) => parent.isConnected);
    const next = depth < 0 ? null : findNext(chain[depth], chain.slice(depth + 1).some(({ isRow }) => isRow));
    focused = null; // unless it moves on to something
    next?.focus({ preventScroll: true });
  };
  new MutationObserver(restore).observe(document.body, { childList: true, subtree: true });
}

/** What takes the focus from a lost child of `parent`. @param {{parent: Element, index: number, isRow: boolean}} lost @param {boolean} isInRow */
function findNext({ parent, index, isRow }, isInRow) {
  const isPressable = (each) => each && (each.matches(PRESSABLE) ? each : each.querySelector(PRESSABLE));
  const children = [...parent.children];
  const nearest = [...children.slice(index), ...children.slice(0, index).reverse()].map(isPressable).find(Boolean);
  if ((isRow || isInRow) && nearest) return /** @type {HTMLElement} */ (nearest);
  const region = parent.closest("section, aside, main, [role='dialog']");
  const heading = /** @type {HTMLElement | null | undefined} */ (region?.querySelector(HEADING));
  if (heading && !heading.hasAttribute("tabindex")) heading.tabIndex = -1;
  return heading;
}
