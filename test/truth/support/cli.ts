/** The command line as an operator has it: imports into a temporary folder, and what it dumps. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Generation, loadSnapshot, openSnapshot } from "@netfacts/snapshot";
import { compileCache } from "../../support/compile-cache.ts";
import { programArgs } from "../../support/programs.ts";
import { sampleFolder } from "../../support/sample-snapshot.ts";

export const root = join(import.meta.dirname, "../../..");
/** The sample dataset, which every clone has. */
export const samples = join(root, "samples");

const outputMax = 2 ** 28;
const run = promisify(execFile);

/** What the tests read of the report of a run. */
export interface ImportReport {
  readonly sources: readonly { readonly name: string; readonly read: number; readonly accepted: number }[];
  readonly sections: readonly { readonly name: string; readonly counts: Readonly<Record<string, number>> }[];
}

/** What the tests read of a manifest. */
export interface ShownManifest {
  readonly sections: {
    readonly routes: { readonly peers_total: unknown };
    readonly vrps: { readonly sources: readonly { readonly name: string; readonly accepted: number }[] };
  };
}

/** An imported snapshot in a folder; `remove` when done. */
export class Imported {
  readonly folder: string;
  /** null: the import was another's. */
  readonly report: ImportReport | null;
  readonly #temporary: string;

  private constructor(folder: string, temporary: string, report: ImportReport | null) {
    this.folder = folder;
    this.report = report;
    this.#temporary = temporary;
  }

  /** Runs `netfacts ingest run`. @param sources  content of a sources.yaml. */
  static async of(sources: string): Promise<Imported> {
    const folder = mkdtempSync(join(tmpdir(), "netfacts-truth-"));
    const path = join(folder, "sources.yaml");
    writeFileSync(path, sources);
    const report = JSON.parse(await netfacts(folder, "ingest", "run", "--sources", path, "--json")) as ImportReport;
    return new Imported(folder, folder, report);
  }

  /** The sample dataset, which is imported once in a run of tests. */
  static async samples(): Promise<Imported> {
    const own = mkdtempSync(join(tmpdir(), "netfacts-truth-"));
    return new Imported(await sampleFolder(own), own, null);
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

  async manifest(): Promise<ShownManifest> {
    return JSON.parse(await netfacts(this.folder, "snapshot", "show", "--json")) as ShownManifest;
  }

  /** The snapshot in this process, for questions by the hundred thousand. */
  async load(): Promise<Generation> {
    const { store, manifest } = await openSnapshot(this.folder);
    return Generation.of(await loadSnapshot(store, manifest));
  }

  /** The folder goes, unless others of this run share it. */
  remove(): void {
    rmSync(this.#temporary, { recursive: true, force: true });
  }
}

/** Standard output of one command. Throws with its standard error when it does not end with 0. */
async function netfacts(dataDir: string, ...args: string[]): Promise<string> {
  const command = [...programArgs("cli"), "--data-dir", dataDir, ...args];
  // An explicit environment: the options that Jest needs are not those of the command line.
  const env = { ...compileCache, PATH: process.env.PATH, NODE_NO_WARNINGS: "1" };
  const { stdout } = await run(process.execPath, command, { encoding: "latin1", maxBuffer: outputMax, env });
  return stdout;
}
