/** The thread that reads one RIB: its table goes out first, so that the merge need not wait for the paths. */

import { parentPort, workerData } from "node:worker_threads";
import type { RibPaths, RibTable } from "../build/rib-pass.ts";
import type { ReaderReport } from "../readers/index.ts";
import type { SourceConfig } from "../sources/index.ts";
import type { StoredFile } from "./open-source.ts";
import { readRib } from "./read-rib.ts";

export type FromRibThread =
  | { readonly kind: "bytes"; readonly done: number }
  | { readonly kind: "table"; readonly report: ReaderReport; readonly stored: StoredFile; readonly table: RibTable }
  | { readonly kind: "paths"; readonly paths: RibPaths }
  | { readonly kind: "failed"; readonly message: string };

/** Time between two messages on how much was read. */
const tellMs = 100;

const tell = (message: FromRibThread, columns: readonly ArrayBufferView<ArrayBuffer>[] = []) =>
  parentPort?.postMessage(
    message,
    columns.map(({ buffer }) => buffer),
  );

let told = 0;
try {
  const { report, stored, table, paths } = await readRib(workerData as SourceConfig, (done) => {
    if (performance.now() - told < tellMs) return;
    told = performance.now();
    tell({ kind: "bytes", done });
  });
  const { ipv4, ipv6, feedSize, facts } = table;
  const { sets: _, ...factColumns } = facts;
  tell(
    { kind: "table", report, stored, table },
    [ipv4, ipv6, feedSize, factColumns].flatMap((columns) => Object.values(columns)),
  );
  const { start, bytes, links } = paths();
  tell({ kind: "paths", paths: { start, bytes, links } }, [start, bytes, ...Object.values(links)]);
} catch (error) {
  tell({ kind: "failed", message: (error as Error).message });
}
parentPort?.close();
