/** Files with the statements of a section's sources about ASes: the thread of a run writes them, and the process reads them to update the store. */

import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { SourceEntry } from "@netfacts/snapshot";
import { type StatedSection, type StatedVersion, statementsText } from "@netfacts/storage";
import { isOverrides, type StatedAs } from "./stated.ts";

/** Increase it when the same sources give other rows. */
const formVersion = 1;
const writtenChars = 1 << 16;

export type ReadSourceEntry = Pick<SourceEntry, "name" | "sha256" | "as_of">;

/** Folder of the files in the state folder of ingest. */
export function statementsIn(stateFolder: string): string {
  return join(stateFolder, "statements");
}

/** The version of the sources that were read. The operator's overrides are left out: a run of nothing else changes no row. */
function statedVersion(entries: readonly ReadSourceEntry[]): StatedVersion {
  const read = entries.filter(({ name }) => !isOverrides(name));
  const key = JSON.stringify([formVersion, ...read.map(({ name, sha256, as_of }) => [name, sha256, as_of])]);
  const version = createHash("sha256").update(key).digest("hex").slice(0, 32);
  return { version, asOf: Object.fromEntries(read.map(({ name, as_of }) => [name, as_of])) };
}

/** Whether a version is that of the sources of a snapshot's section; those that could not be read do not count. */
export function isOfSources({ version }: StatedVersion, entries: readonly ReadSourceEntry[]): boolean {
  return statedVersion(entries.filter(({ sha256 }) => sha256 !== "")).version === version;
}

/** @returns null if no run has left any, or its file is damaged: the next run that builds the section replaces it @throws errors of the file system */
export function committedVersion(folder: string, section: StatedSection): StatedVersion | null {
  try {
    return JSON.parse(readFileSync(versionFile(folder, section), "utf8")) as StatedVersion;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Path of the rows: one line for each AS, `<AS number>\t<text>`, in ascending order. */
export function rowsFile(folder: string, section: StatedSection, { version }: StatedVersion): string {
  return join(folder, `${section}-${version}.tsv`);
}

/** The files of one run. No method throws, so that a failure here does not end the run. */
export class StatementFiles {
  readonly #folder: string;
  readonly #place: "alone" | "beside";
  readonly #written = new Map<StatedSection, StatedVersion>();
  /** By section: why it has no new file. */
  readonly faults = new Map<StatedSection, string>();

  /** @param place  "beside": another run may be writing to the folder */
  constructor(folder: string, place: "alone" | "beside" = "alone") {
    this.#folder = folder;
    this.#place = place;
  }

  /** Writes the rows under a temporary name, unless the last rows are of the same sources. Memory: one row. */
  write(section: StatedSection, entries: readonly ReadSourceEntry[], rows: () => Iterable<StatedAs>): void {
    this.#guard(section, () => {
      const version = statedVersion(entries);
      if (lastVersion(this.#folder, section) === version.version) return;
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeRows(this.#unfinished(section), rows());
      this.#written.set(section, version);
    });
  }

  /** Makes the files that were written for these sections the last ones; drops the others. */
  commit(sections: ReadonlySet<string>): void {
    const folder = this.#folder;
    for (const [section, version] of this.#written) {
      this.#guard(section, () => {
        if (!sections.has(section)) return rmSync(this.#unfinished(section), { force: true });
        const path = rowsFile(folder, section, version);
        const named = versionFile(folder, section);
        writeFileSync(`${named}.tmp`, JSON.stringify(version), { flush: true });
        renameSync(this.#unfinished(section), path);
        renameSync(`${named}.tmp`, named);
        const older = readdirSync(folder).filter((name) => name.startsWith(`${section}-`) && join(folder, name) !== path);
        for (const name of older) rmSync(join(folder, name), { force: true });
      });
    }
    this.#written.clear();
  }

  /** Drops files that were written and not committed. */
  discard(): void {
    for (const section of this.#written.keys()) this.#drop(section);
    this.#written.clear();
  }

  /** Also frees the space on a full disk. */
  #drop(section: StatedSection): void {
    try {
      rmSync(this.#unfinished(section), { force: true });
    } catch {
      // The next run overwrites it.
    }
  }

  #unfinished(section: StatedSection): string {
    return join(this.#folder, `${section}.${this.#place === "beside" ? "beside." : ""}unfinished`);
  }

  #guard(section: StatedSection, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#written.delete(section);
      this.#drop(section);
      this.faults.set(section, `the profiles that operators list stay as they were: ${(error as Error).message}`);
    }
  }
}

/** A version file that cannot be read counts as none, and is replaced. */
function lastVersion(folder: string, section: StatedSection): string | null {
  try {
    return committedVersion(folder, section)?.version ?? null;
  } catch {
    return null;
  }
}

function writeRows(path: string, rows: Iterable<StatedAs>): void {
  const file = openSync(path, "w", 0o600);
  try {
    let held = "";
    for (const { asn, statements } of rows) {
      held += `${asn}\t${statementsText(statements)}\n`;
      if (held.length < writtenChars) continue;
      writeAll(file, held);
      held = "";
    }
    writeAll(file, held);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function versionFile(folder: string, section: StatedSection): string {
  return join(folder, `${section}.json`);
}
