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
  /** Thousands of items in a row may share one problem, such as a month that is used up. */
  #last: { readonly problem: ProblemError; readonly text: string } | null = null;

  constructor(place: ProblemPlace) {
    this.#place = place;
  }

  /** One result without a record. */
  problem(index: number, echo: string, problem: ProblemError): string {
    if (this.#last?.problem !== problem) this.#last = { problem, text: JSON.stringify(this.#body(problem)) };
    return `{"index":${index},"question":${echo},"problem":${this.#last.text}}`;
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
