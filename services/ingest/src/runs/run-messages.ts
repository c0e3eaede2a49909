/** The messages between a run's thread and the process that started it. */

import type { SectionName, StoreSource } from "@netfacts/snapshot";
import type { ReadyFiles } from "../fetch/ready-files.ts";
import type { ProgressEvent } from "../pipeline/progress.ts";
import type { PublishTurn } from "../pipeline/publish-turn.ts";
import type { RunReport } from "../pipeline/run-report.ts";
import type { BuiltSection } from "../sources/index.ts";
import type { ObservationSource } from "../uploads/open-observations.ts";

/** Data for the thread at its start, before a run may begin. */
export interface RunThreadData {
  readonly snapshots: StoreSource;
}

export interface RunRequest {
  /** Path of the sources.yaml. */
  readonly sources: string;
  /** File of the operator's overrides; it may be absent. */
  readonly overrides: string;
  /** The files of the sources, ready to be read. */
  readonly files: ReadyFiles;
  /** Sections to build; null: all. */
  readonly only: readonly BuiltSection[] | null;
  /** How the thread opens the store of observations; null: there is none. */
  readonly observations: ObservationSource | null;
  /** Folder for the statements that sources make about ASes. */
  readonly statements: string;
  /** Sections that may shrink this time. */
  readonly acceptShrink: readonly SectionName[];
  /** The run is beside the run of everything else. */
  readonly isBeside: boolean;
}

export type FromRun =
  | { readonly kind: "progress"; readonly event: ProgressEvent }
  /** Asks whether it may publish. The thread waits for the reply. */
  | { readonly kind: "confirm" }
  | { readonly kind: "succeeded"; readonly report: RunReport }
  /** `report`: how far the run came; null if it could not begin. */
  | { readonly kind: "failed"; readonly message: string; readonly report: RunReport | null };

export type ToRun =
  /** The first message. */
  | { readonly kind: "begin"; readonly request: RunRequest }
  | { readonly kind: "confirmed"; readonly turn: PublishTurn }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "stop" };
