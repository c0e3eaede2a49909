/** Copies the operator's overrides of AS profiles from the control store to a file, which runs read as a source of two sections. */

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ProfileOverride, ProfileRecord, Store } from "@netfacts/storage";
import { replaceText } from "../replace-text.ts";

export interface OverrideFileDeps {
  readonly stateFolder: string;
  readonly profiles: Pick<Store["profiles"], "list" | "state">;
  readonly log: { error(fields: object, message: string): void };
  /** Called when the file has changed. */
  readonly onChange: () => void;
  /** Time between two checks, in ms. Default: 200. */
  readonly lookMs?: number;
  /** Time from a failed check to the next one, in ms. Default: 1 s. */
  readonly retryMs?: number;
}

const lookMsDefault = 200;
/** Longer than between other checks, because a check may read all overrides and write the file. */
const retryMsDefault = 1_000;
const pageSize = 1_000;

/** Path of the file in a state folder. The file exists once there has been an override. */
export function overridesIn(stateFolder: string): string {
  return join(stateFolder, "profile-overrides.csv");
}

/** Changes with every other file in this place; empty: there is none. */
async function markOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path).catch(() => ({ ino: "", size: "", mtimeMs: "" }));
  return `${ino} ${size} ${mtimeMs}`.trim();
}

/** Follows the store. Only one process at a time may write the file of a folder. */
export class OverrideFile {
  readonly #deps: OverrideFileDeps;
  #version = "";
  /** `markOf` the file that has this version. On a shared volume an earlier leader that was frozen may replace it. */
  #mark = "";
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;
  /** On the clock of `performance.now()`. */
  #notBefore = 0;

  constructor(deps: OverrideFileDeps) {
    this.#deps = deps;
  }

  /** Checks now, and regularly until the signal aborts. Resolves after the first check, whether it succeeded or not. */
  async follow(signal: AbortSignal): Promise<void> {
    await this.#look();
    if (signal.aborted) return;
    this.#timer = setInterval(() => {
      // With a store slower than the interval, checks would pile up, and `ended` would wait for all of them.
      if (this.#looking !== null || performance.now() < this.#notBefore) return;
      this.#looking = this.#look().finally(() => {
        this.#looking = null;
      });
    }, this.#deps.lookMs ?? lookMsDefault);
    signal.addEventListener("abort", () => clearInterval(this.#timer), { once: true });
  }

  /** Resolves when no check is in progress. */
  async ended(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** The file stays as it is while the store is unavailable. */
  async #look(): Promise<void> {
    const { onChange, log, retryMs = retryMsDefault } = this.#deps;
    try {
      if (await this.#refresh()) onChange();
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing) log.error({ err }, "the overrides of profiles could not be brought up to date; those of before remain in use");
      this.#isFailing = true;
      this.#notBefore = performance.now() + retryMs;
    }
  }

  /** @returns whether the file has changed. */
  async #refresh(): Promise<boolean> {
    const { profiles, stateFolder } = this.#deps;
    const { count, version } = await profiles.state();
    const path = overridesIn(stateFolder);
    if (version === this.#version && (await markOf(path)) === this.#mark) return false;
    const before = await readFile(path, "utf8").catch(() => null);
    const text = overridesText(await this.#all());
    const isOther = before !== text && !(before === null && count === 0);
    if (isOther) await replaceText(path, text);
    const mark = await markOf(path);
    const written = await readFile(path, "utf8").catch(() => null);
    // Only now, so that a write is tried again that failed, or that another process has overwritten.
    if (written === (before === null && !isOther ? null : text)) [this.#version, this.#mark] = [version, mark];
    return isOther;
  }

  async #all(): Promise<ProfileRecord[]> {
    const all: ProfileRecord[] = [];
    for (let after: number | undefined; ; after = all.at(-1)?.asn) {
      const page = await this.#deps.profiles.list(pageSize, after);
      all.push(...page);
      if (page.length < pageSize) return all;
    }
  }
}

/** The overrides as text of the format `overrides-csv`. */
export function overridesText(records: readonly ProfileRecord[]): string {
  const lines = records.map(({ asn, profile }) => {
    const { name, organisation, website, network_types } = profile as ProfileOverride;
    return [String(asn), ...[name, organisation, website].map(cell), cell(network_types?.join(" ") ?? network_types)].join(",");
  });
  return ["asn,name,organisation,website,network_type", ...lines, ""].join("\n");
}

function cell(value: string | readonly string[] | null | undefined): string {
  if (value === undefined) return "";
  return value === null ? "-" : `"${String(value).replaceAll('"', '""')}"`;
}
