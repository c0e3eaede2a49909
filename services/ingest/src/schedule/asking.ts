/** Sources that are being checked. A slow source delays the others for a moment only. */

import { setTimeout as sleep } from "node:timers/promises";
import type { SourceConfig } from "../sources/index.ts";
import type { SourceStock } from "./source-stock.ts";

export class Asking {
  readonly #stock: Pick<SourceStock, "refresh">;
  readonly #signal: AbortSignal;
  readonly #onLate: () => void;
  readonly #underWay = new Set<string>();
  readonly #batches = new Set<Promise<void>>();

  /** @param onLate  called when a source is done for which no call of `ask` waits any more */
  constructor(stock: Pick<SourceStock, "refresh">, signal: AbortSignal, onLate: () => void) {
    this.#stock = stock;
    this.#signal = signal;
    this.#onLate = onLate;
  }

  isUnderWay({ name }: SourceConfig): boolean {
    return this.#underWay.has(name);
  }

  /** Checks the given sources, none of which may be in a check already. Resolves when all of them are done, or after `waitMs`. */
  async ask(sources: readonly SourceConfig[], waitMs: number): Promise<void> {
    if (sources.length === 0) return;
    let isWaitedFor = true;
    for (const { name } of sources) this.#underWay.add(name);
    const answered = (name: string): void => {
      this.#underWay.delete(name);
      if (!isWaitedFor) this.#onLate();
    };
    const batch = this.#stock.refresh(sources, this.#signal, { onAnswered: answered }).then(
      () => undefined,
      // It rejects only when it was stopped.
      () => undefined,
    );
    this.#batches.add(batch);
    const ended = batch.finally(() => {
      for (const { name } of sources) this.#underWay.delete(name);
      this.#batches.delete(batch);
    });
    const waiting = new AbortController();
    await Promise.race([ended, sleep(waitMs, undefined, { signal: waiting.signal }).catch(() => undefined)]);
    waiting.abort();
    isWaitedFor = false;
  }

  /** Resolves when no source is being checked; abort the signal first. */
  async ended(): Promise<void> {
    await Promise.all(this.#batches);
  }
}
