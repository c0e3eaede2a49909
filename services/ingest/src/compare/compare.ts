/** Compares two snapshots in a thread of its own, whose memory ends with it. */

import { Worker } from "node:worker_threads";
import { ProblemError } from "@netfacts/contracts";
import type { CompareRequest, FromCompare, ToCompare } from "./compare-messages.ts";

export interface ComparisonsOptions {
  /** How long a reader may take for one piece of text before the comparison is ended, in ms. Default: 30 s. */
  readonly stallMs?: number;
}

const stallMsDefault = 30_000;
const retryAfterSeconds = 5;

/** One comparison at a time: with a full table its thread holds half a GiB. */
export class Comparisons {
  readonly #stallMs: number;
  #current: Worker | null = null;

  constructor({ stallMs = stallMsDefault }: ComparisonsOptions = {}) {
    this.#stallMs = stallMs;
  }

  /**
   * Lines of JSON, in pieces: one for each change, in the order of the section, and one with their numbers. A comparison without that last line is
   * incomplete.
   *
   * @throws ProblemError  `temporarily_overloaded` while another comparison is in progress; `upstream_unavailable` if a snapshot cannot be read.
   */
  async *lines(request: CompareRequest): AsyncGenerator<string, void> {
    if (this.#current !== null)
      throw new ProblemError("temporarily_overloaded", {
        detail: "Another comparison of snapshots is in progress. Repeat the request when it has ended.",
        retryAfterSeconds,
      });
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./compare-worker.${extension}`, import.meta.url), { workerData: request });
    this.#current = worker;
    const messages = arriving(worker);
    let stalling: NodeJS.Timeout | undefined;
    try {
      for (;;) {
        const message = await messages.next();
        if (message.kind === "end") return;
        if (message.kind === "failed") throw unreadable(message.message);
        stalling = setTimeout(() => void worker.terminate(), this.#stallMs);
        yield message.text;
        clearTimeout(stalling);
        worker.postMessage("more" satisfies ToCompare);
      }
    } finally {
      clearTimeout(stalling);
      await worker.terminate();
      this.#current = null;
    }
  }

  /** Ends the one in progress; whoever reads it gets an error. */
  async stop(): Promise<void> {
    await this.#current?.terminate();
  }
}

interface Messages {
  next(): Promise<FromCompare>;
}

/** The messages of a thread, one after the other; its end is one as well. */
function arriving(worker: Worker): Messages {
  const waiting: FromCompare[] = [];
  let wake: () => void = () => undefined;
  const add = (message: FromCompare): void => {
    waiting.push(message);
    wake();
  };
  worker.on("message", add);
  worker.once("error", ({ message }: Error) => add({ kind: "failed", message }));
  worker.once("exit", () => add({ kind: "failed", message: "the comparison was ended" }));
  return {
    async next() {
      while (waiting[0] === undefined)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return waiting.shift() as FromCompare;
    },
  };
}

function unreadable(message: string): ProblemError {
  return new ProblemError("upstream_unavailable", { detail: `The snapshots could not be compared: ${message}.` });
}
