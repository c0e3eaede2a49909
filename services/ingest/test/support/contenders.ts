/** Ingest processes that contend for the lead over one database and one folder of snapshots, each with a gate and sources of its own. */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFolderStore, type SnapshotStore } from "@netfacts/snapshot";
import { type Mongodb, startMongodb } from "../../../../test/support/mongodb.ts";
import { testProgramArgs } from "../../../../test/support/programs.ts";
import { smallSources } from "../../../../test/support/small-sources.ts";
import { endAllProcesses, type IngestProcess, launch } from "./launch.ts";

const program = testProgramArgs("services/ingest/test/support/ingest-process.ts");

export class Contenders {
  readonly #mongodb: Mongodb;
  readonly #ttlMs: number;
  #folder = "";
  #database = 0;

  private constructor(mongodb: Mongodb, ttlMs: number) {
    this.#mongodb = mongodb;
    this.#ttlMs = ttlMs;
  }

  /** @param ttlMs  of the lease. */
  static async open(ttlMs: number): Promise<Contenders> {
    return new Contenders(await startMongodb(), ttlMs);
  }

  close(): Promise<void> {
    return this.#mongodb.stop();
  }

  /** Before a test: an empty database and an empty folder. */
  begin(): void {
    this.#database++;
    this.#folder = mkdtempSync(join(tmpdir(), "netfacts-lead-"));
    mkdirSync(this.#snapshots);
  }

  async end(): Promise<void> {
    await endAllProcesses();
    rmSync(this.#folder, { recursive: true });
  }

  snapshots(): SnapshotStore {
    return openFolderStore(this.#snapshots);
  }

  /** A process with a gate and sources of its own: their snapshots differ. */
  async start(name: string, country: string, settings: Record<string, string> = {}): Promise<IngestProcess & { readonly gate: string }> {
    const gate = join(this.#folder, name);
    mkdirSync(gate);
    const running = await launch(program, {
      MONGODB_URI: this.#mongodb.database(`lead_${process.pid}_${this.#ttlMs}_${this.#database}`),
      INGEST_LEASE_TTL_MS: `${this.#ttlMs}`,
      SOURCES: smallSources(join(gate, "sources"), country),
      SNAPSHOTS: this.#snapshots,
      GATE: gate,
      ...settings,
    });
    return { ...running, gate };
  }

  get #snapshots(): string {
    return join(this.#folder, "snapshots");
  }
}
