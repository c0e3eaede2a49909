/** The report of a run while it lasts: each step writes down what it found. */

import type { SourcesConfig } from "../sources/index.ts";
import { inFileOrder } from "./listed-sources.ts";
import type { RunReport, SourceReport } from "./run-report.ts";

export type Stage = keyof RunReport["stages"];

export class OngoingReport {
  /** In any order. */
  readonly sources: SourceReport[] = [];
  sections: RunReport["sections"] = [];
  readonly #stages: Record<Stage, number> = { read: 0, build: 0, verify: 0, publish: 0 };
  readonly #config: SourcesConfig;

  constructor(config: SourcesConfig) {
    this.#config = config;
  }

  /** Does the work of a stage and writes down how long it took, also when it fails. */
  async timed<T>(stage: Stage, work: () => Promise<T> | T): Promise<T> {
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.#stages[stage] = Math.round(performance.now() - started) / 1000;
    }
  }

  /** The report as it is now. */
  complete({ snapshot, unchanged, error }: Pick<RunReport, "snapshot" | "unchanged" | "error">): RunReport {
    return {
      snapshot,
      unchanged,
      sample_data: this.#config.sampleData,
      sources: this.sources.sort(inFileOrder(this.#config)),
      sections: this.sections,
      stages: this.#stages,
      peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
      error,
    };
  }
}
