// Where is the keyboard? Whoever closes what they opened is back where they opened it.
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
export function useReturn(isOpen) {
  const where = useRef(null);
  const comes = useRef(false);
  useLayoutEffect(() => {
    if (isOpen || !comes.current) return;
    comes.current = false;
    where.current?.focus();
  }, [isOpen]);
  return [where, () => void (comes.current = true)];
}

/** What lies above all else takes the keyboard; Escape closes it and gives it back.
 * @param {boolean} isOpen @param {() => void} close @param {() => boolean} isCovered whether something lies above it in turn */
export function useCover(isOpen, close, isCovered) {
  const cover = useRef(null);
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const opener = /** @type {HTMLElement | null} */ (document.activeElement);
    cover.current.focus();
    const leave = ({ key }) => {
      if (key !== "Escape" || isCovered()) return;
      close();
      opener?.focus();
    };
    addEventListener("keydown", leave);
    return () => removeEventListener("keydown", leave);
  }, [isOpen]);
  return cover;
}
