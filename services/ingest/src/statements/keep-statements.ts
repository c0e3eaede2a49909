/** Updates the control store with the statements of the last runs: writes only rows that differ. */

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { SnapshotStore } from "@netfacts/snapshot";
import { type StatedSection, type StatementRepository, type StatementRow, statedSections } from "@netfacts/storage";
import { committedVersion, isOfSources, rowsFile } from "./statement-files.ts";

const rowsRead = 500;
const rowsWritten = 200;
/** A pause takes this many times as long as the write before it. */
const pausesOfWrite = 4;
const pauseMsMax = 1_000;

export interface KeepOptions {
  /** Folder in which runs leave their files. */
  readonly folder: string;
  readonly statements: StatementRepository;
  /** Statements of other sources than those of the current snapshot are not stored: another process may have led since this folder was written. */
  readonly snapshots: Pick<SnapshotStore, "currentId" | "getManifest">;
  /** Aborted when this process no longer leads. */
  readonly signal?: AbortSignal;
}

/**
 * @returns the number of rows that were written or removed.
 * @throws StoreError, SnapshotError, errors of the file system, and the signal's reason. Rows that were written before stay, and the next call
 * continues.
 *
 * Memory: some hundred rows, for any number of rows.
 */
export async function keepStatements({ folder, statements, snapshots, signal }: KeepOptions): Promise<number> {
  let changed = 0;
  const id = await snapshots.currentId();
  const current = id === null ? null : await snapshots.getManifest(id);
  for (const section of statedSections) {
    const version = committedVersion(folder, section);
    if (version === null || !isOfSources(version, current?.sections[section]?.sources ?? [])) continue;
    if ((await statements.version(section))?.version === version.version) continue;
    try {
      changed += await keepRows(statements, section, rowsFile(folder, section, version), signal);
      await statements.setVersion(section, version);
    } finally {
      if (signal?.aborted) await doubt(statements, section);
    }
  }
  return changed;
}

/**
 * Makes the next leader compare all rows. A process that was frozen may have written some after that leader had stored its own, with their version
 * (docs/decisions/0118-statements-follow-the-snapshot-in-service.md).
 */
async function doubt(statements: StatementRepository, section: StatedSection): Promise<void> {
  const stored = await statements.version(section);
  if (stored !== null) await statements.setVersion(section, { ...stored, version: "" });
}

async function keepRows(statements: StatementRepository, section: StatedSection, path: string, signal?: AbortSignal): Promise<number> {
  let changed = 0;
  let held: { readonly asn: number; readonly text: string | null }[] = [];
  const write = async (): Promise<void> => {
    signal?.throwIfAborted();
    const from = performance.now();
    if (held.length > 0) await statements.write(section, held);
    // Requests to the same store wait for at most a quarter of a second.
    await sleep(Math.min(pausesOfWrite * (performance.now() - from), pauseMsMax), undefined, signal && { signal });
    changed += held.length;
    held = [];
  };
  const change = async (asn: number, text: string | null): Promise<void> => {
    if (held.push({ asn, text }) === rowsWritten) await write();
  };
  const stored = storedRows(statements, section);
  let before = await stored.next();
  const file = createReadStream(path);
  try {
    for await (const line of createInterface({ input: file, crlfDelay: Number.POSITIVE_INFINITY })) {
      signal?.throwIfAborted();
      const { asn, text } = readRow(line);
      for (; !before.done && before.value.asn < asn; before = await stored.next()) await change(before.value.asn, null);
      if (!before.done && before.value.asn === asn) {
        if (before.value.text !== text) await change(asn, text);
        before = await stored.next();
      } else await change(asn, text);
    }
    for (; !before.done; before = await stored.next()) await change(before.value.asn, null);
    await write();
    return changed;
  } finally {
    file.destroy();
  }
}

function readRow(line: string): StatementRow {
  const tab = line.indexOf("\t");
  return { asn: Number(line.slice(0, tab)), text: line.slice(tab + 1) };
}

async function* storedRows(statements: StatementRepository, section: StatedSection): AsyncGenerator<StatementRow, undefined> {
  for (let after: number | undefined; ; ) {
    const rows = await statements.list(section, rowsRead, after);
    yield* rows;
    after = rows.at(-1)?.asn;
    if (rows.length < rowsRead) return undefined;
  }
}

export interface StatementKeeperDeps extends Omit<KeepOptions, "signal"> {
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

/** Updates the control store after each run of a leader, in the background. */
export class StatementKeeper {
  readonly #deps: StatementKeeperDeps;
  readonly #stopping = new AbortController();
  #keeping: Promise<void> | null = null;
  #isAskedAgain = false;

  constructor(deps: StatementKeeperDeps) {
    this.#deps = deps;
  }

  /** Returns at once. If the store is unavailable, the next call updates it. */
  keep(): void {
    this.#isAskedAgain = this.#keeping !== null;
    if (this.#keeping !== null || this.#stopping.signal.aborted) return;
    this.#keeping = this.#keep().finally(() => {
      this.#keeping = null;
      if (this.#isAskedAgain) this.keep();
    });
  }

  /** Stops work in progress; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#keeping;
  }

  async #keep(): Promise<void> {
    const { log } = this.#deps;
    const { signal } = this.#stopping;
    try {
      const rows = await keepStatements({ ...this.#deps, signal });
      if (rows > 0) log.info({ rows }, "the profiles that operators list were brought up to date");
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, "the profiles that operators list could not be brought up to date; the next run tries again");
    }
  }
}
