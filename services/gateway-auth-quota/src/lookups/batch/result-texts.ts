/** The texts of a batch that are the gateway's own: problems in the place of records, and what stands behind the results. */

import { type BatchMeta, type Problem, type ProblemError, type ProblemPlace, problemBody, timestamp } from "@netfacts/contracts";
import type { Format } from "./form.ts";

export interface Sums {
  readonly count: number;
  readonly failedCount: number;
  readonly snapshots: readonly string[];
  /** Why the rest was not read; null: everything was. */
  readonly problem: ProblemError | null;
}

export class ResultTexts {
  readonly #place: ProblemPlace;
  /** Thousands of items may share one problem, such as a month that is used up. */
  readonly #texts = new WeakMap<ProblemError, string>();

  constructor(place: ProblemPlace) {
    this.#place = place;
  }

  /** One result without a record. */
  problem(index: number, echo: string, problem: ProblemError): string {
    let text = this.#texts.get(problem);
    if (text === undefined) {
      text = JSON.stringify(this.#body(problem));
      this.#texts.set(problem, text);
    }
    return `{"index":${index},"question":${echo},"problem":${text}}`;
  }

  /** What follows the last result: the rest of the JSON document, or the last line. */
  tail(format: Format, { count, failedCount, snapshots, problem }: Sums, now: number): string {
    const changed = { code: "snapshot_changed" as const, detail: "later items were answered from a newer snapshot" };
    const meta: BatchMeta = {
      request_id: this.#place.requestId,
      generated_at: timestamp(now),
      data: {},
      warnings: snapshots.length > 1 ? [changed] : [],
      snapshots: [...snapshots],
    };
    const sums = { count, failed_count: failedCount, ...(problem === null ? {} : { problem: this.#body(problem) }), meta };
    const text = JSON.stringify(sums);
    return format === "json" ? `],${text.slice(1)}` : `${text}\n`;
  }

  #body(problem: ProblemError): Problem {
    return problemBody(problem, this.#place);
  }
}
