/** Compares two snapshots in a thread of its own, whose memory ends with it. */

import { Worker } from "node:worker_threads";
import { ProblemError } from "@netfacts/contracts";
import type { CompareReply, CompareRequest } from "./compare-request.ts";

/** Longer than a gateway waits. */
const compareMsMax = 60_000;
const waitingMax = 2;
const retryAfterSeconds = 5;

/** One comparison after the other: with a full table its thread holds two tables. */
export class Comparisons {
  readonly #stopping = new AbortController();
  readonly #compareMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #asked = 0;

  /** @param compareMs  after which a comparison is ended. Default: 60 s. */
  constructor(compareMs = compareMsMax) {
    this.#compareMs = compareMs;
  }

  /**
   * The changes as JSON (`SnapshotChanges` of the contracts).
   *
   * @param signal  ends it: nobody waits for it any more.
   * @throws ProblemError  `temporarily_overloaded` while others wait, `upstream_error` if a snapshot cannot be read, `upstream_timeout`, and
   *   `shutting_down`.
   */
  async compare(request: CompareRequest, signal: AbortSignal): Promise<string> {
    if (this.#asked > waitingMax) {
      const detail = "Other comparisons of snapshots are in progress. Repeat the request when they have ended.";
      throw new ProblemError("temporarily_overloaded", { detail, retryAfterSeconds });
    }
    this.#asked += 1;
    const before = this.#last;
    const { promise, resolve: leave } = Promise.withResolvers<void>();
    this.#last = promise;
    try {
      await before;
      const bound = AbortSignal.timeout(this.#compareMs);
      const ending = AbortSignal.any([signal, this.#stopping.signal]);
      const reply = await inThread(request, AbortSignal.any([ending, bound]));
      if (reply.ok) return reply.text;
      if (this.#stopping.signal.aborted) throw new ProblemError("shutting_down");
      if (bound.aborted) throw new ProblemError("upstream_timeout", { detail: "The comparison took too long." });
      const detail = `The snapshots could not be compared: ${reply.message}.`;
      throw new ProblemError("upstream_error", { detail, ...(!ending.aborted && { cause: new Error(reply.message) }) });
    } finally {
      this.#asked -= 1;
      leave();
    }
  }

  /** Ends the one in progress, and those that wait. */
  stop(): void {
    this.#stopping.abort();
  }
}

/** Never rejects. */
function inThread(request: CompareRequest, signal: AbortSignal): Promise<CompareReply> {
  return new Promise((resolve) => {
    const fail = (message: string) => resolve({ ok: false, message });
    if (signal.aborted) return fail("it was ended");
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./compare-worker.${extension}`, import.meta.url), { workerData: request });
    const end = (): void => void worker.terminate();
    signal.addEventListener("abort", end, { once: true });
    worker.once("message", (reply: CompareReply) => {
      resolve(reply);
      end();
    });
    worker.once("error", ({ message }: Error) => fail(message));
    worker.once("exit", () => {
      signal.removeEventListener("abort", end);
      fail("it was ended");
    });
  });
}
