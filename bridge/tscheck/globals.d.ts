declare const console: {
  log(...values: any[]): void;
  info(...values: any[]): void;
  warn(...values: any[]): void;
  error(...values: any[]): void;
  debug(...values: any[]): void;
  dir(value?: any, options?: any): void;
  trace(...values: any[]): void;
  assert(condition?: any, ...values: any[]): void;
  table(data?: any, columns?: any): void;
  group(...values: any[]): void;
  groupCollapsed(...values: any[]): void;
  groupEnd(): void;
  count(label?: any): void;
  countReset(label?: any): void;
  time(label?: any): void;
  timeLog(label?: any, ...values: any[]): void;
  timeEnd(label?: any): void;
};
declare const process: {
  env: { [name: string]: any };
  stdout: { write(chunk: any, ...more: any[]): boolean };
  stderr: { write(chunk: any, ...more: any[]): boolean };
  exit(code?: any): never;
};
declare function setTimeout(callback: (...args: any[]) => any, delay?: any, ...args: any[]): any;
declare function setInterval(callback: (...args: any[]) => any, delay?: any, ...args: any[]): any;
declare function clearTimeout(id?: any): void;
declare function clearInterval(id?: any): void;
declare function queueMicrotask(callback: () => any): void;
declare function setImmediate(callback: (...args: any[]) => any, ...args: any[]): any;
declare function clearImmediate(id?: any): void;
declare function structuredClone<T = any>(value: T, options?: any): T;
declare function atob(text: any): string;
declare function btoa(text: any): string;
declare const performance: { now(): number; readonly timeOrigin: number };
declare class TextEncoder {
  readonly encoding: string;
  encode(text?: any): Uint8Array;
}
declare class TextDecoder {
  constructor(label?: any, options?: any);
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: any, options?: any): string;
}
declare class URL {
  constructor(url: any, base?: any);
  static canParse(url: any, base?: any): boolean;
  static parse(url: any, base?: any): URL | null;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  readonly searchParams: URLSearchParams;
  hash: string;
  toString(): string;
  toJSON(): string;
}
declare class URLSearchParams {
  constructor(init?: any);
  readonly size: number;
  append(name: any, value: any): void;
  delete(name: any, value?: any): void;
  get(name: any): string | null;
  getAll(name: any): string[];
  has(name: any, value?: any): boolean;
  set(name: any, value: any): void;
  sort(): void;
  forEach(callback: (value: string, name: string, all: URLSearchParams) => any, self?: any): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}
