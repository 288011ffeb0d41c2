// When is it quiet again? Much may be heard at once; it is looked at when nothing more comes for a while.
import { useEffect, useRef, useState } from "../vendor/hooks.js";

export const NEWS_MS = 400;

/** How often it has become quiet after some of it was heard.
 * @param {any[]} heard @returns {number} */
export function useNews(heard) {
  const [count, setCount] = useState(0);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return undefined;
    }
    const timer = setTimeout(() => setCount((before) => before + 1), NEWS_MS);
    return () => clearTimeout(timer);
  }, heard);
  return count;
}
