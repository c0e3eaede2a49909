/** The lists of a snapshot folder: the current snapshot, the publications, and the versions that were taken back. */

import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isSnapshotId, snapshotIdPattern, timestamp, timestampPattern } from "@netfacts/contracts";
import type { Publication } from "./retention.ts";
import { SnapshotError } from "./snapshot-store.ts";
import { readTakenBack, type TakenBack } from "./taken-back.ts";
import { isMissing, writeWhole } from "./whole-file.ts";

/** An id, and the time of its publication. */
const publicationPattern = new RegExp(`^(${snapshotIdPattern}) (${timestampPattern})$`);

/** The lists that one publication writes. */
export interface PublishedLists {
  /** The published snapshot. */
  readonly current: string;
  /** Snapshots that are kept whole, oldest first. */
  readonly whole: readonly string[];
  readonly publications: readonly Publication[];
  /** Undefined: unchanged. */
  readonly takenBack: TakenBack | undefined;
}

/**
 * The files `current`, `history`, `publications` and `taken-back`. A missing or damaged file is replaced by what the others and the manifests say.
 * One process may write while any number read.
 */
export class FolderLists {
  readonly #folder: string;
  readonly #manifests: string;

  constructor(folder: string, manifests: string) {
    this.#folder = folder;
    this.#manifests = manifests;
  }

  /**
   * The current snapshot; null: nothing was published. If its file is missing or empty, the last one of the history: a folder with snapshots must not
   * look like an empty one.
   */
  async currentId(): Promise<string | null> {
    const [id] = linesOf(await this.#text("current"));
    return id ?? (await this.#sealedLines("history"))?.at(-1) ?? null;
  }

  /** Snapshots that are kept whole, oldest first. The current one is always among them, even if a damaged history does not name it. */
  async publishedIds(): Promise<string[]> {
    const past = (await this.#sealedLines("history")) ?? (await this.#writtenManifests()).map(({ id }) => id);
    const current = await this.currentId();
    return current === null || past.includes(current) ? past : [...past, current];
  }

  /**
   * The publications, oldest first. One after the last of the current snapshot did not reach the pointer, because of a crash, or not yet. Folders of
   * earlier versions have no file of them: the manifests replace it.
   */
  async publications(): Promise<readonly Publication[]> {
    // Comes first: a publication meanwhile must not cut the list at an earlier one of the same snapshot.
    const current = await this.currentId();
    const lines = (await this.#sealedLines("publications"))?.map((line) => publicationPattern.exec(line));
    if (lines === undefined || lines.includes(null)) return this.#writtenManifests();
    const listed = lines.map((parts) => ({ id: parts?.[1] as string, at: parts?.[2] as string }));
    const last = listed.findLastIndex(({ id }) => id === current);
    return last === -1 ? listed : listed.slice(0, last + 1);
  }

  async takenBack(): Promise<TakenBack> {
    const [text = "[]"] = (await this.#sealedLines("taken-back")) ?? [];
    return readTakenBack(JSON.parse(text));
  }

  /** Writes all lists. The pointer comes last: until then the earlier snapshot is the current one. */
  async write({ current, whole, publications, takenBack }: PublishedLists): Promise<void> {
    await this.#writeSealed(
      "publications",
      publications.map(({ id, at }) => `${id} ${at}`),
    );
    // Before the pointer, and before the history, which replaces a missing pointer. It holds nothing back while the versions are in use.
    if (takenBack !== undefined) await this.#writeTakenBack(takenBack);
    await this.#writeSealed("history", whole);
    await writeWhole(this.#folder, "current", [Buffer.from(`${current}\n`)]);
  }

  async #writeTakenBack(takenBack: TakenBack): Promise<void> {
    if (takenBack.length === 0) await rm(join(this.#folder, "taken-back"), { force: true });
    else await this.#writeSealed("taken-back", [JSON.stringify(takenBack)]);
  }

  async #writeSealed(name: string, lines: readonly string[]): Promise<void> {
    await writeWhole(this.#folder, name, [Buffer.from(`${[...lines, sealOf(lines)].join("\n")}\n`)]);
  }

  /** The lines before the seal; null where the file is damaged or missing. */
  async #sealedLines(name: string): Promise<string[] | null> {
    const lines = linesOf(await this.#text(name));
    const sealed = lines.slice(0, -1);
    return lines.at(-1) === sealOf(sealed) ? sealed : null;
  }

  /** A missing file is an empty text. */
  async #text(name: string): Promise<string> {
    try {
      return await readFile(join(this.#folder, name), "utf8");
    } catch (error) {
      if (isMissing(error)) return "";
      throw error;
    }
  }

  /** Replaces a damaged list: the manifests, in the order in which they were written. */
  async #writtenManifests(): Promise<Publication[]> {
    const stored = await readdir(this.#manifests).catch((error: unknown) => {
      if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return [];
      throw new SnapshotError(`${this.#manifests}: ${(error as Error).message}`, { cause: error });
    });
    const ids = stored.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
    const written = await Promise.all(
      ids
        .filter(isSnapshotId)
        .map(async (id) => ({ id, at: (await stat(join(this.#manifests, `${id}.json`)).catch(() => null))?.mtimeMs ?? 0 })),
    );
    return written.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)).map(({ id, at }) => ({ id, at: timestamp(at) }));
  }
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** The last line of a list, which reveals damage. */
function sealOf(lines: readonly string[]): string {
  return `sha256 ${createHash("sha256").update(lines.join("\n")).digest("hex")}`;
}
