/** The thread that reads one RIB: its table goes out first, so that the merge need not wait for the paths. */

import { parentPort, workerData } from "node:worker_threads";
import type { RibPaths } from "../assembly/rib-pass.ts";
import { type ReadRib, type RibSource, readRib } from "./read-rib.ts";
import { UpdatesError } from "./read-updates.ts";

export type FromRibThread =
  | { readonly kind: "bytes"; readonly done: number; readonly total: number | null }
  | ({ readonly kind: "table" } & Pick<ReadRib, "report" | "stored" | "table" | "updates" | "sample">)
  | { readonly kind: "paths"; readonly paths: RibPaths }
  /** `updates`: it is the fault of the updates, and of which file. */
  | { readonly kind: "failed"; readonly message: string; readonly updates: { readonly refused: string | null } | null };

/** Time between two messages on how much was read. */
const tellMs = 100;

const tell = (message: FromRibThread, columns: readonly ArrayBufferView<ArrayBuffer>[] = []) =>
  parentPort?.postMessage(
    message,
    columns.map(({ buffer }) => buffer),
  );

let reportedAt = 0;
try {
  const { report, stored, table, updates, sample, paths } = await readRib(workerData as RibSource, (done, total) => {
    if (performance.now() - reportedAt < tellMs) return;
    reportedAt = performance.now();
    tell({ kind: "bytes", done, total });
  });
  const { ipv4, ipv6, feedSize, facts } = table;
  const { sets: _, ...factColumns } = facts;
  tell(
    { kind: "table", report, stored, table, updates, sample },
    [ipv4, ipv6, feedSize, factColumns].flatMap((columns) => Object.values(columns)),
  );
  const { start, bytes, links } = paths();
  tell({ kind: "paths", paths: { start, bytes, links } }, [start, bytes, ...Object.values(links)]);
} catch (error) {
  tell({ kind: "failed", message: (error as Error).message, updates: error instanceof UpdatesError ? { refused: error.refused } : null });
}
parentPort?.close();
