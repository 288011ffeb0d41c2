// Debounced updates: many events are followed by one reload.
import { useEffect, useRef, useState } from "../vendor/hooks.js";

export const UPDATE_DELAY_MS = 400;

/** Returns a counter that increases UPDATE_DELAY_MS after the last change of any of the given values.
 * @param {any[]} changes @returns {number} */
export function useLiveUpdates(changes) {
  const [count, setCount] = useState(0);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return undefined;
    }
    const timer = setTimeout(() => setCount((previous) => previous + 1), UPDATE_DELAY_MS);
    return () => clearTimeout(timer);
  }, changes);
  return count;
}
