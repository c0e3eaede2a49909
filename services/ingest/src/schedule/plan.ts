/** The sections that a run must build: those whose sources differ from the ones in the current snapshot. */

import type { Manifest, SourceEntry, TakenBackVersion } from "@netfacts/snapshot";
import { earlierText, refusedText, unreadKeptText } from "../pipeline/run-report.ts";
import { type BuiltSection, isOperators, isStanding, type SourceConfig, sectionOf } from "../sources/index.ts";

export interface Plan {
  /** Sections to build, in the order of the list of sources. */
  readonly sections: readonly BuiltSection[];
  /** Sections that cannot be built, because a source that they need has no usable version: section → name of the source. */
  readonly waiting: ReadonlyMap<BuiltSection, string>;
}

/**
 * Compares by content, and keeps no state: work that a killed process had begun is found again.
 *
 * @param versions  SHA-256 of the file that a run would read of each source; null: it has no usable version.
 * @param earlier  names of sources whose newest version no run could use: `versions` has the version before.
 * @param givenUp  names of sources whose data were given up: their section does not wait for them.
 */
export function planOf(
  sources: readonly SourceConfig[],
  versions: ReadonlyMap<string, string | null>,
  manifest: Pick<Manifest, "sections"> | null,
  earlier: ReadonlySet<string> = new Set(),
  givenUp: ReadonlySet<string> = new Set(),
): Plan {
  const sections: BuiltSection[] = [];
  const waiting = new Map<BuiltSection, string>();
  const all = [...new Set(sources.map(sectionOf))];
  for (const section of all) {
    const own = sources.filter((source) => sectionOf(source) === section);
    // Updates are needed only if their table is there.
    const isNeeded = ({ name, required, appliesTo }: SourceConfig) =>
      required && !givenUp.has(name) && (appliesTo === undefined || appliesTo.required || versions.get(appliesTo.name) != null);
    const missing = own.find((source) => isNeeded(source) && versions.get(source.name) == null);
    if (missing !== undefined) waiting.set(section, missing.name);
    else if (!isFilled(section, own, versions)) continue;
    else if (isOutdated(own, versions, manifest?.sections[section]?.sources ?? [], earlier)) sections.push(section);
  }
  // Whether a VRP is loose depends on the routes.
  const follows = sections.includes("routes") && all.includes("vrps") && !sections.includes("vrps") && !waiting.has("vrps");
  const canFollow = canBuild(
    sources.filter(({ name }) => !givenUp.has(name)),
    versions,
    "vrps",
  );
  if (follows && canFollow) sections.push("vrps");
  return { sections: all.filter((section) => sections.includes(section)), waiting };
}

/**
 * Whether the section must be built: its sources have other versions than those in the snapshot. Or they have the same versions, but the snapshot
 * notes that a version in between was refused, or could not be read or used, and this is over.
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

/** Whether a source has data for the section. Exceptions to VRPs do not count: a run would build nothing from them, again and again. */
function isFilled(section: BuiltSection, own: readonly SourceConfig[], versions: ReadonlyMap<string, string | null>): boolean {
  return own.some(({ name, format }) => versions.get(name) != null && !(section === "vrps" && isStanding(format)));
}

interface ReadVersion {
  readonly name: string;
  readonly format: string;
  readonly sha256: string | null;
}

/** Whether sources have other versions than those that were read. A failed source has no digest, and counts as not read. */
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
 * Sources of a section that still have the version that an operator took back. The list is empty as soon as one of them has another version, or left
 * the list. If a publisher's file was taken back, then overrides, uploads and updates of a table are not considered, since they change all the time.
 *
 * A source whose newest version cannot be used stays taken back, whatever the others have.
 *
 * @param taken  versions of this section that were taken back.
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
