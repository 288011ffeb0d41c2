// Debounced updates: many events are followed by one reload.
import { useEffect, useRef, useState } from "../vendor/hooks.js";

export const UPDATE_DELAY_MS = 400;

/** How often it has become quiet after some of it was heard.
 * @param {any[]} heard @returns {number} */
export function useLiveUpdates(heard) {
  const [count, setCount] = useState(0);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return undefined;
    }
    const timer = setTimeout(() => setCount((before) => before + 1), UPDATE_DELAY_MS);
    return () => clearTimeout(timer);
  }, heard);
  return count;
}
