/** What is known of each source from one check to the next; kept in a file, so that a restart asks nobody before it is time. */

import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "@netfacts/storage";
import { replaceText } from "../replace-text.ts";

/** A version that a run could not use. */
export interface RefusedVersion {
  readonly sha256: string;
  /** What it was measured by: under other bounds it may be good. */
  readonly bounds: string;
  readonly error: string;
  readonly at: number;
  /** `ReadyFile.beside` of that run. Beside another one it may be good. Absent also in files of earlier versions. */
  readonly beside?: string | undefined;
  /** The file was another one when the run failed, or could not be read: it may be good, and is tried again when it was looked at again. Absent also in files of earlier versions. */
  readonly isAway?: boolean;
}

/** Times are Unix ms. */
export interface SourceState {
  /** Path or URL that all of this is about; null in files of earlier versions. */
  readonly location: string | null;
  /** When it was last asked for, with whatever outcome. */
  readonly checkedAt: number | null;
  /** When its newest version was last known to be here. */
  readonly succeededAt: number | null;
  readonly nextAt: number | null;
  /** Checks that failed, since the last that did not. */
  readonly failures: number;
  /** Of the last check; null when it went well. */
  readonly error: string | null;
  /** Versions that are here and that a run could not use, the last one first: the newest, and of a fetched source the last good one too. */
  readonly refused: readonly RefusedVersion[];
  /** Of a file: its version when it was last looked at. */
  readonly file: { readonly mtimeMs: number; readonly size: number; readonly sha256: string } | null;
}

export const unknownState: SourceState = {
  location: null,
  checkedAt: null,
  succeededAt: null,
  nextAt: null,
  failures: 0,
  error: null,
  refused: [],
  file: null,
};

/** A source of the list. */
export interface StateOf {
  readonly name: string;
  readonly location?: string;
}

/** The file is whole, however little changed: one write for many changes. */
const savedWithinMs = 5_000;

export class SourceStates {
  readonly #path: string;
  readonly #states: Map<string, SourceState>;
  #isSaved = true;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  private constructor(path: string, states: Map<string, SourceState>) {
    this.#path = path;
    this.#states = states;
  }

  /** A file that is not there or damaged counts as empty: then everything is due. */
  static async open(path: string): Promise<SourceStates> {
    makeFolder(dirname(path));
    const text = await readFile(path, "utf8").catch(() => "{}");
    return new SourceStates(path, new Map(Object.entries(parsed(text))));
  }

  /** A source that has another location now is unknown, so that it is due at once. Without a location: what is known of the name. */
  get({ name, location }: StateOf): SourceState {
    const known = this.#states.get(name) ?? unknownState;
    return location === undefined || known.location === null || known.location === location ? known : unknownState;
  }

  /** In memory at once; in the file within some seconds, or with the next `save`. */
  change(source: Required<StateOf>, change: Partial<SourceState>): void {
    this.#states.set(source.name, { ...this.get(source), ...change, location: source.location });
    this.#isSaved = false;
    // A fetch may take an hour, and what was learned before it should outlive a crash.
    this.#timer ??= setTimeout(() => void this.save().catch(() => undefined), savedWithinMs).unref();
  }

  /** Drops sources that are not listed and were last checked before that time, Unix ms. In the file with the next `save`. */
  forget(listed: ReadonlySet<string>, before: number): void {
    for (const [name, { checkedAt }] of this.#states) {
      if (listed.has(name) || (checkedAt ?? 0) >= before) continue;
      this.#states.delete(name);
      this.#isSaved = false;
    }
  }

  /** Writes what was changed, once for all changes. Rejects when it cannot be kept; the next one tries again. */
  save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#isSaved) return;
    this.#isSaved = true;
    try {
      await replaceText(this.#path, `${JSON.stringify(Object.fromEntries(this.#states), null, 2)}\n`);
    } catch (error) {
      this.#isSaved = false;
      throw error;
    }
  }
}

function parsed(text: string): Record<string, SourceState> {
  try {
    const states = JSON.parse(text) as Record<string, Partial<SourceState>>;
    // In files of earlier versions `refused` is one version, or null.
    const known = (state: Partial<SourceState>): SourceState => ({ ...unknownState, ...state, refused: [state.refused ?? []].flat() });
    return Object.fromEntries(Object.entries(states).map(([name, state]) => [name, known(state)]));
  } catch {
    return {};
  }
}
