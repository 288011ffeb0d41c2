// What a signal holds came from the house as JSON, whose forms are the house's to check.
export interface Signal<T = any> {
  value: T;
  peek(): T;
  subscribe(run: (value: T) => void): () => void;
}
export function signal(value?: any): Signal;
export function computed<T>(compute: () => T): { readonly value: T; peek(): T };
export function effect(run: () => void | (() => void)): () => void;
export function batch<T>(run: () => T): T;
