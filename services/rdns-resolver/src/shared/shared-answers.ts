/** What DNS answered, shared by replicas: written as texts, and believed only as far as this process could have got it from DNS itself. */

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
  /** The longest wait for one answer. */
  readonly waitMs: number;
  /** Settings that shape an answer: processes with other ones share nothing with this one. */
  readonly shapedBy: readonly unknown[];
  readonly onRead: (outcome: ReadOutcome) => void;
  readonly onWrite: () => void;
  readonly onFault: (reason: string) => void;
}

/** Changes with the form of the text. */
const form = "1";
/** Reads at a time: with more under way, DNS is the quicker way. */
const readsMax = 256;
/** After a failure nobody waits for the store for so long. */
const pauseMs = 1_000;
/** What lives shorter costs more to share than to ask for again. */
const lifeMinSeconds = 10;
/** In place of an answer that does not count any more. */
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
   * An answer of this name, which may have expired; null: none, or none in time. Never rejects.
   *
   * @param name  as it is looked up
   * @param deadline  on the clock of `performance.now()`; a quarter of the time until then is waited for at most
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
   * Shares an answer; one that is not worth it ends the one before.
   *
   * @param isKnown  whether there is one before.
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

  /** Null: not the text of an entry, or of one that this process would not have kept, or not for so long. */
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
