type Of = number | ((node: any) => number);
interface Force {
  id(of: (node: any) => unknown): Force;
  distance(of: Of): Force;
  strength(of: Of): Force;
  radius(of: Of): Force;
  iterations(count: number): Force;
}
interface Simulation {
  force(name: string, force: Force | null): Simulation;
  stop(): Simulation;
  tick(count?: number): Simulation;
}
export function forceCollide(radius?: Of): Force;
export function forceLink(links?: object[]): Force;
export function forceManyBody(): Force;
export function forceSimulation(nodes?: object[]): Simulation;
export function forceX(x?: Of): Force;
export function forceY(y?: Of): Force;
