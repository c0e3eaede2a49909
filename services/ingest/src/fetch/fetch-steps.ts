/**
 * Fetches all dated files from the time of a table on: every step of their publisher, each once.
 *
 *     <downloads>/<source>/20261121T080500Z/  as for a source of its own (download-folder.ts)
 *                          steps.json         steps that the publisher does not have
 */

import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { timestamp } from "@netfacts/contracts";
import { locationAt, nextStep, shownUrl, stepOf, stepsBackMax } from "../sources/index.ts";
import { type FetchedFile, pathOf, readFilesOf, replaceFile } from "./download-folder.ts";
import { FetchError } from "./fetch-error.ts";
import { type FetchContext, fetchSource, type RemoteSource } from "./fetch-source.ts";

/** Three days of five-minute steps. If the table is older, a newer one must be fetched first. */
const stepsMax = 1_000;

/** A step that is here. Times are Unix seconds. */
export interface HeldStep {
  readonly at: number;
  readonly path: string;
  readonly file: FetchedFile;
}

export interface StepsOutcome {
  readonly changed: boolean;
  /** The newest step that is here; null: there is none yet. */
  readonly newest: HeldStep | null;
  /** Bytes received over the network. */
  readonly bytes: number;
  readonly seconds: number;
  readonly notes: readonly string[];
}

/** The steps that are here, ascending, and those that the publisher is known not to have. */
export interface Steps {
  readonly held: readonly HeldStep[];
  readonly absent: ReadonlySet<number>;
}

export async function readSteps(downloads: string, source: string): Promise<Steps> {
  const folder = join(downloads, source);
  const held: HeldStep[] = [];
  for (const { name, at } of await stepFolders(downloads, source)) {
    const { latest } = await readFilesOf(downloads, `${source}/${name}`);
    if (latest !== null) held.push({ at, path: pathOf(downloads, `${source}/${name}`, latest), file: latest });
  }
  const text = await readFile(join(folder, "steps.json"), "utf8").catch(() => "");
  return { held, absent: new Set(absentIn(text)) };
}

/** Folders of steps, ascending; also of steps that were never fetched completely. */
async function stepFolders(downloads: string, source: string): Promise<{ name: string; at: number }[]> {
  const names = await readdir(join(downloads, source)).catch(() => [] as string[]);
  return names.sort().flatMap((name) => {
    const at = timeOfStep(name);
    return at === null ? [] : [{ name, at }];
  });
}

/**
 * Fetches every step from `since` on that its publisher has.
 *
 * A step that is here is not fetched again, except the newest one, which may have been fetched while it was written. A step is absent when a later
 * one is here, or when twelve later ones should be. An absent step is requested again only once: when a later one arrives, if it was absent by the
 * clock alone. Steps before `since` are removed.
 *
 * @param since  Unix seconds.
 * @throws FetchError; the steps that were fetched before it stay. `absent` when twelve steps in a row are not found.
 */
export async function fetchSteps(source: RemoteSource, since: number, context: FetchContext): Promise<StepsOutcome> {
  const { name, fetch } = source;
  const { downloads, now = () => Date.now() } = context;
  const every = fetch.everySeconds;
  const started = performance.now();
  const first = stepOf(since, every);
  const last = stepOf(now() / 1_000, every);
  if ((last - first) / every >= stepsMax)
    throw new FetchError(
      "refused",
      `${shownUrl(fetch.url)}: the table that they are applied to is of ${timestamp(since * 1_000)}, more than ${stepsMax} files ago; they are not fetched until there is a newer one`,
    );
  const { held, absent: known } = await readSteps(downloads, name);
  for (const step of await stepFolders(downloads, name))
    if (step.at < first) await rm(join(downloads, name, step.name), { recursive: true, force: true });
  const here = new Set(held.map(({ at }) => at));
  const newestHere = held.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
  /** Steps before this have twelve later ones that should be there. */
  const overdueBefore = last - stepsBackMax * every;
  const absent = new Set([...known].filter((at) => at >= first && (at < newestHere || at < overdueBefore)));
  /** Steps that are absent by the clock alone. */
  let presumed = [...absent].filter((at) => at > newestHere);
  let newestFound = newestHere;
  let waiting: number[] = [];
  let changed = false;
  let bytes = 0;
  const notes: string[] = [];
  try {
    for (let at = first; at <= last && waiting.length < stepsBackMax; at = nextStep(at, every)) {
      if (absent.has(at) || (here.has(at) && at !== newestHere)) continue;
      const url = locationAt(fetch.url, new Date(at * 1_000));
      const step = { ...source, name: `${name}/${nameOfStep(at)}`, fetch: { ...fetch, url, everySeconds: 0 } };
      const got = await fetchSource(step, context).catch((error: unknown) => {
        if (error instanceof FetchError && error.fault === "absent") return null;
        throw error;
      });
      if (got === null) {
        // A step that is here stays, even if its server has it no longer.
        if (here.has(at)) continue;
        if (at < newestFound) absent.add(at);
        else waiting.push(at);
        await rm(join(downloads, step.name), { recursive: true, force: true });
        continue;
      }
      for (const missed of waiting) absent.add(missed);
      waiting = [];
      changed ||= got.changed;
      bytes += got.bytes;
      notes.push(...got.notes);
      if (at <= newestFound) continue;
      newestFound = at;
      here.add(at);
      const again = presumed.filter((other) => other < newestFound);
      if (again.length === 0) continue;
      presumed = presumed.filter((other) => other > newestFound);
      for (const other of again) absent.delete(other);
      at = stepOf(Math.min(...again) - 1, every);
    }
  } finally {
    for (const at of waiting) if (at < overdueBefore) absent.add(at);
    if (absent.size !== known.size || [...absent].some((at) => !known.has(at)))
      await replaceFile(join(downloads, name, "steps.json"), { absent: [...absent].sort((a, b) => a - b).map(nameOfStep) });
  }
  const [missed] = waiting;
  if (missed !== undefined && waiting.length >= stepsBackMax)
    throw new FetchError(
      "absent",
      `${shownUrl(locationAt(fetch.url, new Date(missed * 1_000)))}: not found, nor are the ${stepsBackMax - 1} after it`,
    );
  const newest = (await readSteps(downloads, name)).held.at(-1) ?? null;
  return { changed, newest, bytes, seconds: (performance.now() - started) / 1_000, notes };
}

/** Steps in the order of their times. The list ends before the first step that is neither here nor absent. */
export function usableSteps(
  { held, absent }: Steps,
  every: number,
  since: number,
): { files: HeldStep[]; missing: { from: number; to: number }[] } {
  const files: HeldStep[] = [];
  const missing: { from: number; to: number }[] = [];
  const from = stepOf(since, every);
  const [oldest] = held;
  for (let at = Math.min(from, oldest?.at ?? from), index = 0; index < held.length; at = nextStep(at, every)) {
    const step = held[index];
    if (step?.at === at) {
      files.push(step);
      index++;
    } else if (absent.has(at) || at < from) {
      const before = missing.at(-1);
      const to = nextStep(at, every);
      if (before?.to === at) before.to = to;
      else missing.push({ from: at, to });
    } else break;
  }
  const end = files.at(-1)?.at ?? 0;
  return { files, missing: missing.filter((gap) => gap.from < end) };
}

function nameOfStep(at: number): string {
  return timestamp(at * 1_000).replaceAll(/[-:]/g, "");
}

function timeOfStep(name: string): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(name);
  if (parts === null) return null;
  const [year = 0, month = 0, ...rest] = parts.slice(1).map(Number);
  const [day = 0, hour = 0, minute = 0, second = 0] = rest;
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1_000;
}

/** A file that is absent or not whole lists nothing: its steps are requested again. */
function absentIn(text: string): number[] {
  try {
    const { absent } = JSON.parse(text) as { absent: string[] };
    return absent.flatMap((name) => timeOfStep(name) ?? []);
  } catch {
    return [];
  }
}
