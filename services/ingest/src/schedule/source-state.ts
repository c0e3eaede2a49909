/** The state of each source between checks. It is kept in a file, so that a restart checks no source before it is due. */

import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "@netfacts/storage";
import { replaceText } from "../replace-text.ts";

/** A version that a run could not use. */
export interface RefusedVersion {
  readonly sha256: string;
  /** Settings that it was checked with: it may be good under other bounds. */
  readonly bounds: string;
  readonly error: string;
  readonly at: number;
  /** `ReadyFile.beside` of that run. The version may be good beside another one. Absent also in files of earlier releases. */
  readonly beside?: string | undefined;
  /**
   * The file had changed when the run failed, or could not be read. It may be good, and is tried again after the next look at it. Absent also in
   * files of earlier releases.
   */
  readonly isAway?: boolean;
}

/** Times are Unix ms. */
export interface SourceState {
  /** Path or URL that this state is of; null in files of earlier releases. */
  readonly location: string | null;
  /** Time of the last check, successful or not. */
  readonly checkedAt: number | null;
  /** Time of the last successful check. */
  readonly succeededAt: number | null;
  readonly nextAt: number | null;
  /** The server asked not to be contacted before; null: it did not ask. */
  readonly pausedUntil: number | null;
  /** Failed checks since the last successful one. */
  readonly failures: number;
  /** Fault of the last check; null: it succeeded. */
  readonly error: string | null;
  /** Versions that are here and that a run could not use, the last refused one first: the newest, and for a fetched source also the last good one. */
  readonly refused: readonly RefusedVersion[];
  /** For a local file: its version at the last look. `mtimeMs` is 0 if the file was just written then. */
  readonly file: { readonly mtimeMs: number; readonly size: number; readonly sha256: string } | null;
}

const unknownState: SourceState = {
  location: null,
  checkedAt: null,
  succeededAt: null,
  nextAt: null,
  pausedUntil: null,
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

/** Changes within this time are written together, because each write replaces the whole file. */
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

  /** An absent or damaged file counts as empty: every source is then due. */
  static async open(path: string): Promise<SourceStates> {
    makeFolder(dirname(path));
    const text = await readFile(path, "utf8").catch(() => "{}");
    return new SourceStates(path, new Map(Object.entries(parsed(text))));
  }

  /** A source whose location has changed is unknown, and so due at once. Without a location: the state known for the name. */
  get({ name, location }: StateOf): SourceState {
    const known = this.#states.get(name) ?? unknownState;
    return location === undefined || known.location === null || known.location === location ? known : unknownState;
  }

  /** Changes the state in memory at once; in the file within some seconds, or with the next `save`. */
  change(source: Required<StateOf>, change: Partial<SourceState>): void {
    this.#states.set(source.name, { ...this.get(source), ...change, location: source.location });
    this.#isSaved = false;
    // A fetch may take an hour: earlier changes should survive a crash meanwhile.
    this.#timer ??= setTimeout(() => void this.save().catch(() => undefined), savedWithinMs).unref();
  }

  /** Drops sources that are not listed and were last checked before that time, in Unix ms. The file changes with the next `save`. */
  forget(listed: ReadonlySet<string>, before: number): void {
    for (const [name, { checkedAt }] of this.#states) {
      if (listed.has(name) || (checkedAt ?? 0) >= before) continue;
      this.#states.delete(name);
      this.#isSaved = false;
    }
  }

  /** Writes all changes at once. Rejects if the file cannot be written; the next call tries again. */
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
    // In files of earlier releases `refused` is one version, or null.
    const known = (state: Partial<SourceState>): SourceState => ({ ...unknownState, ...state, refused: [state.refused ?? []].flat() });
    return Object.fromEntries(Object.entries(states).map(([name, state]) => [name, known(state)]));
  } catch {
    return {};
  }
}
