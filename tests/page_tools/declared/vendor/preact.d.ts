// Of what others wrote, what the page uses; an element is what `html` makes of words.
export type Element = object | string | number | boolean | null | undefined;
export function h(type: unknown, props: object | null, ...children: unknown[]): Element;
export function render(what: Element | Element[], into: HTMLElement): void;
