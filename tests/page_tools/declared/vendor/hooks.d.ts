export function useEffect(run: () => void | (() => void), on?: readonly unknown[]): void;
export function useLayoutEffect(run: () => void | (() => void), on?: readonly unknown[]): void;
export function useRef(value?: any): { current: any };
export function useState(first?: any): [any, (next: any) => void];
export function useMemo(make: () => any, on?: readonly unknown[]): any;
