// The module loader of the bundles; stands before the first bundle (api/page_assets.py).
/** @typedef {(use: (name: string) => any, load: (name: string) => Promise<any>) => object} ModuleFactory */

/** @type {Record<string, ModuleFactory>} */
const factories = {};
/** @type {Record<string, any>} */
const modules = {};
/** @type {Record<string, number>} */
const failures = {}; // how often a bundle failed to load, by its name

/** @param {Record<string, ModuleFactory>} added */
export function add(added) {
  for (const name of Object.keys(added)) factories[name] ??= added[name];
}

/** Returns the exports of a module; runs it on the first call. @param {string} name */
export function use(name) {
  return (modules[name] ??= Object.freeze(factories[name](use, load)));
}

/** Loads a module's bundle if needed and returns its exports; retries under another URL after a failure, since some
 * browsers cache a failed import.
 * @param {string} name */
export async function load(name) {
  if (!Object.hasOwn(factories, name)) {
    const query = failures[name] ? `?again=${failures[name]}` : "";
    try {
      add((await import(new URL(`../${name}${query}`, import.meta.url).href)).default);
    } catch (failure) {
      failures[name] = (failures[name] ?? 0) + 1;
      throw failure;
    }
  }
  return use(name);
}
