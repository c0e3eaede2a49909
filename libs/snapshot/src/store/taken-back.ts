/** Source versions that operators took back by a rollback, kept with the pointer (docs/decisions/0086-a-rollback-is-kept-with-the-pointer.md). */

import { type Manifest, type SectionName, sectionNames } from "../manifest.ts";

/** A version of a section's source. */
export interface TakenBackVersion {
  readonly section: SectionName;
  readonly name: string;
  readonly format: string;
  /** SHA-256 of the file as it was read. */
  readonly sha256: string;
}

/** Unordered, each version once. */
export type TakenBack = readonly TakenBackVersion[];

/**
 * The versions that are taken back when the earlier snapshot replaces the current one: those taken back before, and those that only the current one
 * was built from. A version that the earlier one has is in use again. If it was taken back before, this undoes a rollback, and nothing of its source
 * is taken back.
 */
export function takenBackBy(current: Manifest, earlier: Manifest, before: TakenBack): TakenBack {
  const used = versionsIn(earlier);
  const isAmong = (versions: TakenBack, one: TakenBackVersion) => versions.some((other) => isSame(one, other));
  const undone = used.filter((version) => isAmong(before, version));
  const left = before.filter((version) => !isAmong(used, version));
  const isUndone = (one: TakenBackVersion) => undone.some(({ section, name }) => section === one.section && name === one.name);
  const more = versionsIn(current).filter((version) => !isAmong(used, version) && !isAmong(left, version) && !isUndone(version));
  return [...left, ...more];
}

/** Reads the value in a pointer. Items of another form are ignored: they hold back nothing. */
export function readTakenBack(value: unknown): TakenBack {
  return Array.isArray(value) ? value.filter(isVersion) : [];
}

function isVersion(value: unknown): value is TakenBackVersion {
  const { section, name, format, sha256 } = (value ?? {}) as Record<string, unknown>;
  return sectionNames.some((one) => one === section) && [name, format, sha256].every((text) => typeof text === "string");
}

function versionsIn({ sections }: Manifest): TakenBackVersion[] {
  // A source that failed has no version.
  return sectionNames.flatMap((section) =>
    (sections[section]?.sources ?? []).flatMap(({ name, format, sha256 }) => (sha256 === "" ? [] : [{ section, name, format, sha256 }])),
  );
}

function isSame(one: TakenBackVersion, other: TakenBackVersion): boolean {
  return one.section === other.section && one.name === other.name && one.format === other.format && one.sha256 === other.sha256;
}
