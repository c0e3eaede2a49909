/** The command line as an operator has it: imports into a temporary folder, and what it dumps. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Generation, loadSnapshot, openSnapshot } from "@netfacts/snapshot";

export const root = join(import.meta.dirname, "../../..");
/** The sample dataset, which every clone has. */
export const samples = join(root, "samples");

const main = join(root, "services/cli/src/main.ts");
const outputMax = 2 ** 28;
const run = promisify(execFile);

/** What the tests read of the report of a run. */
export interface ImportReport {
  readonly sources: readonly { readonly name: string; readonly read: number; readonly accepted: number }[];
  readonly sections: readonly { readonly name: string; readonly counts: Readonly<Record<string, number>> }[];
}

/** An imported snapshot in a temporary folder; `remove` when done. */
export class Imported {
  readonly folder: string;
  readonly report: ImportReport;

  private constructor(folder: string, report: ImportReport) {
    this.folder = folder;
    this.report = report;
  }

  /** Runs `netfacts ingest run`. @param sources  path of a sources.yaml, or its content. */
  static async of(sources: string): Promise<Imported> {
    const folder = mkdtempSync(join(tmpdir(), "netfacts-truth-"));
    const path = sources.includes("\n") ? join(folder, "sources.yaml") : sources;
    if (path !== sources) writeFileSync(path, sources);
    return new Imported(folder, JSON.parse(await netfacts(folder, "ingest", "run", "--sources", path, "--json")) as ImportReport);
  }

  /** Lines of `netfacts dump routes`, in its order: prefix, origin or {a,b}, full-feed peers, all peers, RPKI state. */
  async dumpRoutes(): Promise<string[]> {
    const text = await netfacts(this.folder, "dump", "routes");
    if (!text.endsWith("\n")) throw new Error("the last line of the dump has no line feed");
    return text.slice(0, -1).split("\n");
  }

  /** Lines of `netfacts snapshot diff --ndjson` for one section, from another data folder to this one. */
  async changesSince(folder: string, section: string): Promise<string[]> {
    return (await netfacts(this.folder, "snapshot", "diff", folder, "--ndjson", "--section", section)).trimEnd().split("\n");
  }

  async manifest(): Promise<Record<string, unknown>> {
    return JSON.parse(await netfacts(this.folder, "snapshot", "show", "--json")) as Record<string, unknown>;
  }

  /** The snapshot in this process, for questions by the hundred thousand. */
  async load(): Promise<Generation> {
    const { store, manifest } = await openSnapshot(this.folder);
    return Generation.of(await loadSnapshot(store, manifest));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Standard output of one command. Throws with its standard error when it does not end with 0. */
async function netfacts(dataDir: string, ...args: string[]): Promise<string> {
  const command = ["--conditions=source", main, "--data-dir", dataDir, ...args];
  // An explicit environment: the options that Jest needs are not those of the command line.
  const env = { PATH: process.env.PATH, NODE_NO_WARNINGS: "1" };
  const { stdout } = await run(process.execPath, command, { encoding: "latin1", maxBuffer: outputMax, env });
  return stdout;
}
