// Keyboard focus: what closes gives it back to what opened it.
import { useLayoutEffect, useRef } from "../vendor/hooks.js";

/** What has opened takes the keyboard, before the next key is pressed.
 * @param {unknown} isOpen @returns {{current: any}} */
export function useFocus(isOpen = true) {
  const where = useRef(null);
  useLayoutEffect(() => {
    if (isOpen) where.current?.focus();
  }, [isOpen]);
  return where;
}

/** Back to what stands there again, once something is closed that was in its place: [where, comeBack].
 * @param {boolean} isOpen @returns {[{current: any}, () => void]} */
export function useFocusReturn(isOpen) {
  const where = useRef(null);
  const comes = useRef(false);
  useLayoutEffect(() => {
    if (isOpen || !comes.current) return;
    comes.current = false;
    where.current?.focus();
  }, [isOpen]);
  return [where, () => void (comes.current = true)];
}

/** While something is open, Escape leaves it: heard from the moment in which it takes the keyboard.
 * @param {unknown} isOpen @param {(event: KeyboardEvent) => void} leave */
export function useEscape(isOpen, leave) {
  const newest = useRef(leave);
  newest.current = leave;
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const hear = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && newest.current(event);
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, [Boolean(isOpen)]);
}

/** What lies above all else takes the keyboard; Escape closes it and gives it back.
 * @param {boolean} isOpen @param {() => void} close @param {() => boolean} isCovered whether something lies above it in turn */
export function useModalFocus(isOpen, close, isCovered) {
  const cover = useRef(null);
  const opener = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    if (!isOpen) return;
    opener.current = /** @type {HTMLElement | null} */ (document.activeElement);
    cover.current.focus();
  }, [isOpen]);
  useEscape(isOpen, () => {
    if (isCovered()) return;
    close();
    opener.current?.focus();
  });
  return cover;
}
