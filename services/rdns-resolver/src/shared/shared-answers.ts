/** Answers of DNS that replicas share as texts. A text is trusted only if this process could have got the same answer from DNS. */

import { createHash } from "node:crypto";
import { ForwardConfirmation } from "@netfacts/contracts";
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { Entry, KeepingRules } from "../domain/resolution.ts";
import { isAnswer, isOfFuture } from "../domain/resolution.ts";
import type { SharedStore } from "./shared-store.ts";

export type ReadOutcome = "hit" | "miss" | "failed" | "skipped" | "unreadable";

export interface SharedAnswersOptions {
  readonly store: SharedStore;
  /** Unix milliseconds. */
  readonly clock: { now(): number };
  readonly rules: KeepingRules;
  readonly namesMax: number;
  /** Longest wait for one answer, in ms. */
  readonly waitMs: number;
  /** Settings that affect answers: only processes with equal settings share answers. */
  readonly shapedBy: readonly unknown[];
  readonly onRead: (outcome: ReadOutcome) => void;
  readonly onWrite: () => void;
  readonly onFault: (reason: string) => void;
}

/** Version of the text's form. */
const form = "1";
/** Most concurrent reads: beyond that, DNS is faster. */
const readsMax = 256;
/** Time after a failure in which the store is not read. */
const pauseMs = 1_000;
/** Shortest lifetime of a shared answer: it costs more to share shorter ones than to ask DNS again. */
const lifeMinSeconds = 10;
/** Text that replaces an answer that is no longer valid. */
const ended = "ended";

const Whole = Type.Integer({ minimum: 0 });
const EntryText = Type.Object({
  status: Type.Union([Type.Literal("ok"), Type.Literal("nxdomain"), Type.Literal("nodata")]),
  names: Type.Array(
    Type.Object({
      name: Type.String({ maxLength: 1_100 }),
      ttl: Whole,
      forward: Type.Union([Type.Null(), ForwardConfirmation]),
    }),
  ),
  namesTotal: Whole,
  dnssec: Type.Union([Type.Null(), Type.Literal("secure"), Type.Literal("insecure"), Type.Literal("indeterminate")]),
  negative: Type.Boolean(),
  storedAt: Whole,
  expiresAt: Whole,
});
const compiled = Compile(EntryText);

export class SharedAnswers {
  readonly #options: SharedAnswersOptions;
  readonly #scope: string;
  #reading = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: SharedAnswersOptions) {
    this.#options = options;
    const { rules, shapedBy } = options;
    this.#scope = createHash("sha256")
      .update(JSON.stringify([form, rules, ...shapedBy]))
      .digest("hex")
      .slice(0, 16);
  }

  /**
   * The shared answer for a name, which may have expired; null: none, or none in time. Never rejects.
   *
   * @param name      name of the question
   * @param deadline  on the clock of `performance.now()`; waits for at most a quarter of the time until then
   */
  async get(name: string, deadline: number): Promise<Entry | null> {
    const { store, waitMs, onRead, onFault } = this.#options;
    const now = performance.now();
    if (this.#reading >= readsMax || now < this.#pausedUntil) {
      onRead("skipped");
      return null;
    }
    this.#reading += 1;
    try {
      const text = await store.get(this.#key(name), Math.min(waitMs, (deadline - now) / 4));
      const isMissing = text === null || text === ended;
      const entry = isMissing ? null : this.#read(text);
      onRead(isMissing ? "miss" : entry === null ? "unreadable" : "hit");
      return entry;
    } catch (error) {
      this.#pausedUntil = performance.now() + pauseMs;
      onRead("failed");
      onFault((error as Error).message);
      return null;
    } finally {
      this.#reading -= 1;
    }
  }

  /**
   * Shares an answer. If it is not to be shared, removes the previous one.
   *
   * @param isKnown  whether there is a previous one.
   */
  replace(name: string, entry: Entry, isKnown: boolean): void {
    const isShared = isAnswer(entry) && entry.expiresAt - entry.storedAt >= lifeMinSeconds * 1_000;
    if (!isShared && !isKnown) return;
    this.#options.store.put(this.#key(name), isShared ? JSON.stringify(entry) : ended);
    this.#options.onWrite();
  }

  #key(name: string): string {
    return `${this.#scope}.${name.replaceAll(".", "-")}`;
  }

  /** Null: the text is not an entry, or one that this process would not have cached, or not for so long. */
  #read(text: string): Entry | null {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return null;
    }
    if (!compiled.Check(value)) return null;
    const { rules, namesMax, clock } = this.#options;
    const lifeMaxSeconds = value.negative ? rules.negativeTtlMaxSeconds : rules.ttlMaxSeconds;
    const life = value.expiresAt - value.storedAt;
    const isPlausible =
      life > 0 &&
      life <= Math.max(lifeMaxSeconds, rules.ttlMinSeconds) * 1_000 &&
      !isOfFuture(value, clock.now()) &&
      value.names.length <= Math.min(namesMax, value.namesTotal) &&
      value.negative === (value.status !== "ok") &&
      value.negative === (value.names.length === 0);
    return isPlausible ? value : null;
  }
}
