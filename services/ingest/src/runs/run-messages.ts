/** The messages between a run's thread and the process that started it. */

import type { SectionName, StoreSource } from "@netfacts/snapshot";
import type { ReadyFiles } from "../fetch/ready-files.ts";
import type { ProgressEvent } from "../pipeline/progress.ts";
import type { PublishTurn } from "../pipeline/publish-turn.ts";
import type { RunReport } from "../pipeline/run-report.ts";
import type { BuiltSection } from "../sources/index.ts";
import type { ObservationSource } from "../uploads/open-observations.ts";

/** What the thread gets at its start, when no run may have begun. */
export interface RunThreadData {
  readonly snapshots: StoreSource;
}

export interface RunRequest {
  /** Path of the sources.yaml. */
  readonly sources: string;
  /** File of the operator's overrides; it need not be there. */
  readonly overrides: string;
  /** What was fetched of them. */
  readonly files: ReadyFiles;
  /** Sections to be built; null: all. */
  readonly only: readonly BuiltSection[] | null;
  /** How the thread opens the store of observations; null: there is none. */
  readonly observations: ObservationSource | null;
  /** Folder for what sources say of ASes. */
  readonly statements: string;
  /** Sections that may shrink this time. */
  readonly acceptShrink: readonly SectionName[];
  /** It runs beside the run of everything else. */
  readonly isBeside: boolean;
}

export type FromRun =
  | { readonly kind: "progress"; readonly event: ProgressEvent }
  /** May it publish? The thread waits for the answer. */
  | { readonly kind: "confirm" }
  | { readonly kind: "succeeded"; readonly report: RunReport }
  /** `report`: how far it came; null when it could not begin. */
  | { readonly kind: "failed"; readonly message: string; readonly report: RunReport | null };

export type ToRun =
  /** The first message. */
  | { readonly kind: "begin"; readonly request: RunRequest }
  | { readonly kind: "confirmed"; readonly turn: PublishTurn }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "stop" };
