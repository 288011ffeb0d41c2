// Keyboard focus: what closes gives it back to what opened it.
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

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
