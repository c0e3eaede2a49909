/** What a run would have to build: sections whose sources are others than those of the snapshot that is there. */

import type { Manifest, SourceEntry, TakenBackVersion } from "@netfacts/snapshot";
import { earlierText, refusedText, unreadKeptText } from "../pipeline/run-report.ts";
import { type BuiltSection, isOperators, isStanding, type SourceConfig, sectionOf } from "../sources/index.ts";

export interface Plan {
  /** To be built, in the order of the list of sources. */
  readonly sections: readonly BuiltSection[];
  /** That cannot be built, as there is no version that can be used of a source that they need: section → the source's name. */
  readonly waiting: ReadonlyMap<BuiltSection, string>;
}

/**
 * Compares by content, and remembers nothing: whatever a process that was killed had begun is found again.
 *
 * @param versions  the SHA-256 of the file that a run would read of each source; null where there is none that it could use.
 * @param earlier  names of sources whose newest version is one that no run could use: `versions` has the one before.
 */
export function planOf(
  sources: readonly SourceConfig[],
  versions: ReadonlyMap<string, string | null>,
  manifest: Pick<Manifest, "sections"> | null,
  earlier: ReadonlySet<string> = new Set(),
): Plan {
  const sections: BuiltSection[] = [];
  const waiting = new Map<BuiltSection, string>();
  const all = [...new Set(sources.map(sectionOf))];
  for (const section of all) {
    const own = sources.filter((source) => sectionOf(source) === section);
    // Updates of a table that is not there are missed by nobody.
    const isNeeded = ({ required, appliesTo }: SourceConfig) =>
      required && (appliesTo === undefined || appliesTo.required || versions.get(appliesTo.name) != null);
    const missing = own.find((source) => isNeeded(source) && versions.get(source.name) == null);
    if (missing !== undefined) waiting.set(section, missing.name);
    else if (!isFilled(section, own, versions)) continue;
    else if (isOutdated(own, versions, manifest?.sections[section]?.sources ?? [], earlier)) sections.push(section);
  }
  // Which VRPs are loose follows from the routes.
  const follows = sections.includes("routes") && all.includes("vrps") && !sections.includes("vrps") && !waiting.has("vrps");
  if (follows && canBuild(sources, versions, "vrps")) sections.push("vrps");
  return { sections: all.filter((section) => sections.includes(section)), waiting };
}

/**
 * Whether the section is to be built: its sources have other versions than those in the snapshot; or they have the same ones again, and say in the
 * snapshot that a version in between was refused or could not be read or used.
 */
export function isOutdated(
  own: readonly SourceConfig[],
  versions: ReadonlyMap<string, string | null>,
  entries: readonly Pick<SourceEntry, "name" | "format" | "sha256" | "error">[],
  earlier: ReadonlySet<string>,
): boolean {
  const isOver = (name: string, error: string | null) =>
    error?.startsWith(refusedText) === true ||
    (error?.startsWith(unreadKeptText) === true && versions.get(name) != null) ||
    (error?.startsWith(earlierText) === true && !earlier.has(name));
  return differs(own, versions, entries) || entries.some(({ name, error }) => isOver(name, error));
}

function canBuild(sources: readonly SourceConfig[], versions: ReadonlyMap<string, string | null>, section: BuiltSection): boolean {
  const own = sources.filter((source) => sectionOf(source) === section);
  return own.every(({ name, required }) => !required || versions.get(name) != null) && isFilled(section, own, versions);
}

/** Whether a source has data for the section. Exceptions to VRPs are no data: a run would build nothing of them, again and again. */
function isFilled(section: BuiltSection, own: readonly SourceConfig[], versions: ReadonlyMap<string, string | null>): boolean {
  return own.some(({ name, format }) => versions.get(name) != null && !(section === "vrps" && isStanding(format)));
}

interface ReadVersion {
  readonly name: string;
  readonly format: string;
  readonly sha256: string | null;
}

/** Whether sources have other versions than those that were read. Sources that failed stand without a digest. */
export function differs(
  own: readonly SourceConfig[],
  versions: ReadonlyMap<string, string | null>,
  entries: readonly ReadVersion[],
): boolean {
  const there = versionsRead(entries);
  const wanted = versionsHere(own, versions);
  return there.size !== wanted.size || [...wanted].some(([name, version]) => there.get(name) !== version);
}

/**
 * Sources of a section that still have a version that an operator took back. None as soon as one of them has another version, or left the list. Where a
 * publisher's file was taken back, what comes with it does not count: overrides, uploads, and updates of a table change all the time.
 *
 * A source whose newest version cannot be used does not bring back what was taken back, whatever the others have.
 *
 * @param taken  of the section.
 * @param earlier  as for `planOf`.
 */
export function stillTakenBack(
  own: readonly SourceConfig[],
  versions: ReadonlyMap<string, string | null>,
  taken: readonly TakenBackVersion[],
  earlier: ReadonlySet<string>,
): readonly string[] {
  const here = versionsHere(own, versions);
  const all = [...new Set(taken.map(({ name }) => name))];
  const beside = new Set(own.filter((source) => isOperators(source) || source.section === "updates").map(({ name }) => name));
  const files = all.filter((name) => !beside.has(name));
  const awaited = files.length > 0 ? files : all;
  const isStill = (wanted: string) => taken.some(({ name, format, sha256 }) => name === wanted && here.get(name) === `${format} ${sha256}`);
  return awaited.every(isStill) ? awaited : all.filter((name) => earlier.has(name) && isStill(name));
}

function versionsRead(entries: readonly ReadVersion[]): ReadonlyMap<string, string> {
  return new Map(
    entries.filter(({ sha256 }) => sha256 !== "" && sha256 !== null).map(({ name, format, sha256 }) => [name, `${format} ${sha256}`]),
  );
}

function versionsHere(own: readonly SourceConfig[], versions: ReadonlyMap<string, string | null>): ReadonlyMap<string, string> {
  return new Map(own.flatMap(({ name, format }) => (versions.get(name) == null ? [] : [[name, `${format} ${versions.get(name)}`]])));
}
