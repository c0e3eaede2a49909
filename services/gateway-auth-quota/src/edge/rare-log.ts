/** Warnings about callers: at most one of each kind in 10 s, with the number of those left out, so that many callers cannot flood the log. */

import type { RequestLog } from "./observe.ts";

const intervalMs = 10_000;

export class RareLog {
  readonly #log: Pick<RequestLog, "warn">;
  readonly #kinds = new Map<string, { readonly at: number; left: number }>();

  constructor(log: Pick<RequestLog, "warn">) {
    this.#log = log;
  }

  /** @param kind  one of a small set; lines of the same kind are at least 10 s apart. */
  warn(kind: string, fields: object, message: string): void {
    const now = performance.now();
    const last = this.#kinds.get(kind);
    if (last !== undefined && now - last.at < intervalMs) {
      last.left += 1;
      return;
    }
    this.#kinds.set(kind, { at: now, left: 0 });
    this.#log.warn({ ...fields, similar: last?.left ?? 0 }, message);
  }
}
