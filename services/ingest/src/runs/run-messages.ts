/** What a run's thread and the process that started it tell each other. */

import type { StoreSource } from "@netfacts/dataset";
import type { ProgressEvent } from "../pipeline/progress.ts";
import type { RunReport } from "../pipeline/run-report.ts";

export interface RunRequest {
  /** Path of the sources.yaml. */
  readonly sources: string;
  readonly snapshots: StoreSource;
}

export type FromRun =
  | { readonly kind: "progress"; readonly event: ProgressEvent }
  /** May it publish? The thread waits for the answer. */
  | { readonly kind: "confirm" }
  | { readonly kind: "succeeded"; readonly report: RunReport }
  /** `report`: how far it came; null when it could not begin. */
  | { readonly kind: "failed"; readonly message: string; readonly report: RunReport | null };

export type ToRun = { readonly kind: "confirmed" } | { readonly kind: "refused"; readonly message: string } | { readonly kind: "stop" };
