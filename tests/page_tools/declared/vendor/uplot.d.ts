export default class Plot {
  constructor(options: object, data: unknown[][], into: HTMLElement);
  static paths: any;
  destroy(): void;
  setSize(size: { width: number; height: number }): void;
}
