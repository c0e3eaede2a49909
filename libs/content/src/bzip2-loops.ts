/** The loops of `../assembly/bzip2-loops.ts`, as WebAssembly. */

import { bzip2Loops } from "./bzip2-loops.wasm.ts";

/** The part of the engine's WebAssembly that is used here: TypeScript declares it for browsers only. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

interface Global {
  readonly value: number;
}

/** The source describes each function. Positions are byte offsets in the memory, which does not grow. */
export interface Bzip2Loops {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly lengths: Global;
  readonly selectors: Global;
  readonly selectorsMax: Global;
  readonly recent: Global;
  readonly stored: Global;
  readonly storedMax: Global;
  readonly slack: Global;
  readonly out: Global;
  readonly outMax: Global;
  buildCode(code: number, symbols: number): number;
  readSymbols(fromBit: number, length: number, groups: number, endOfBlock: number, capacity: number): number;
  readonly bitsRead: Global;
  undoTransform(size: number, origin: number): void;
  beginRuns(size: number): void;
  undoRuns(length: number): number;
  isDone(): number;
  checksum(): number;
}

/** A new instance with its own memory, 12 MB. */
export function bzip2LoopsInstance(): Bzip2Loops {
  const module = new WebAssembly.Module(Buffer.from(bzip2Loops, "base64"));
  return new WebAssembly.Instance(module, {}).exports as Bzip2Loops;
}
