// The module loader of the bundles; stands before the first bundle (api/page_assets.py).
/** @typedef {(use: (name: string) => any, load: (name: string) => Promise<any>) => object} Part */

/** @type {Record<string, Part>} */
const parts = {};
/** @type {Record<string, any>} */
const made = {};
/** @type {Record<string, number>} */
const failures = {}; // how often a bundle could not be read, by its name

/** @param {Record<string, Part>} more */
export function add(more) {
  for (const name of Object.keys(more)) parts[name] ??= more[name];
}

/** What a module exports; it is run when it is first asked for. @param {string} name */
export function use(name) {
  return (made[name] ??= Object.freeze(parts[name](use, load)));
}

/** A module that has a bundle of its own; read under another address after a failure, since some browsers
 * remember that it failed. @param {string} name */
export async function load(name) {
  if (!Object.hasOwn(parts, name)) {
    const again = failures[name] ? `?again=${failures[name]}` : "";
    try {
      add((await import(new URL(`../${name}${again}`, import.meta.url).href)).default);
    } catch (problem) {
      failures[name] = (failures[name] ?? 0) + 1;
      throw problem;
    }
  }
  return use(name);
}
