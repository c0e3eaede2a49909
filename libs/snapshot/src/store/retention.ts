/** Which snapshots a store keeps: one rule for all stores (docs/decisions/0063-answers-about-the-past.md). */

import Type, { type Static } from "typebox";
import type { Manifest, NewerManifestError, SectionEntry, SectionName } from "../manifest.ts";

/** One publication. A snapshot that a rollback restored has several. */
export interface Publication {
  readonly id: string;
  /** Time of the publication on the publisher's clock: RFC 3339 in UTC, whole seconds. It does not come from a file. */
  readonly at: string;
}

export interface Retention {
  /** Number of the last published snapshots that are kept whole for rollback; at least 1. */
  readonly last: number;
  /** Number of days (UTC) with a publication whose newest snapshot is kept for questions about the past. */
  readonly days: number;
  /** Size limit of the objects that only these days need. */
  readonly bytesMax: number;
}

export const retentionDefaults: Retention = { last: 3, days: 30, bytesMax: 8 * 2 ** 30 };

/** Settings of every process that publishes snapshots. */
export const retentionConfigSchema = Type.Object({
  SNAPSHOTS_KEPT: Type.Integer({
    default: retentionDefaults.last,
    minimum: 1,
    maximum: 100,
    description: "Number of snapshots to keep for rollback; the one in service is kept as well",
  }),
  SNAPSHOT_DAYS_KEPT: Type.Integer({
    default: retentionDefaults.days,
    minimum: 0,
    maximum: 400,
    description: "Number of days (UTC) whose last snapshot is kept for requests about the past (`as_of`); 0 keeps none",
  }),
  SNAPSHOT_DAYS_MIB_MAX: Type.Integer({
    default: retentionDefaults.bytesMax / 2 ** 20,
    minimum: 0,
    description: "Limit of the disk space of these daily snapshots, in MiB; the oldest are deleted first",
  }),
});

/** The rule from the settings. */
export function retentionOf(settings: Static<typeof retentionConfigSchema>): Retention {
  return {
    last: settings.SNAPSHOTS_KEPT,
    days: settings.SNAPSHOT_DAYS_KEPT,
    bytesMax: settings.SNAPSHOT_DAYS_MIB_MAX * 2 ** 20,
  };
}

/** Data about persons are not kept for the past: if they are deleted at the source, they must disappear from every answer. */
const sectionsWithoutPast: readonly SectionName[] = ["locations"];

/** The manifest that questions about the past use. It has the id of the whole one. */
export function pastManifest(manifest: Manifest): Manifest {
  const sections = { ...manifest.sections };
  for (const name of sectionsWithoutPast) delete sections[name];
  return { ...manifest, sections };
}

type NamedObject = Pick<SectionEntry, "object" | "bytes">;

/** Objects that a manifest names. */
export interface NamedObjects {
  /** All of them. */
  readonly whole: readonly NamedObject[];
  /** Those that questions about the past need. */
  readonly past: readonly NamedObject[];
}

/** @param manifest  if it has a later format, every digest in it counts as an object, as this version cannot tell them apart. */
export function namedObjects(manifest: Manifest | NewerManifestError): NamedObjects {
  if ("digests" in manifest) {
    const whole = manifest.digests.map((object) => ({ object, bytes: 0 }));
    return { whole, past: whole };
  }
  const { sections, ingest_objects: others } = manifest;
  return { whole: [...Object.values(sections), ...Object.values(others)], past: Object.values(pastManifest(manifest).sections) };
}

export interface Kept {
  /** Ids of the snapshots that are kept with all their objects, oldest publication first. */
  readonly whole: readonly string[];
  /** Oldest first; only of snapshots that are kept. */
  readonly publications: readonly Publication[];
  /** Digests of the objects to keep. */
  readonly objects: ReadonlySet<string>;
}

/** The contents of a store. */
export interface Published {
  /** Oldest first, the new one included. */
  readonly publications: readonly Publication[];
  /** Ids that are kept whole so far, oldest publication first, including the new one. */
  readonly whole: readonly string[];
  /** The snapshot in service, which is kept however old it is. */
  readonly active: string | null;
}

/** Appends a publication. If its snapshot is already the current one, nothing is appended: it keeps its time. */
export function withPublication(publications: readonly Publication[], next: Publication): readonly Publication[] {
  return publications.at(-1)?.id === next.id ? publications : [...publications, next];
}

/**
 * Of the newest publications of all, this many are kept if their snapshot is kept whole: they need no space. The rest is one for each snapshot and day,
 * so that sources that go to and fro between two contents do not fill the list.
 */
const timesOfWholeMax = 100;

/**
 * Decides what to keep. Days are counted by the times of publications, newest first, and not from now: a clock that was wrong once costs no more than
 * the place of one day.
 *
 * @param retention null: everything that is kept so far stays, for publishers that do not know the operator's settings.
 * @param namedBy null: the manifest is missing or damaged. Such a snapshot is not kept for its day.
 */
export async function decideKept(
  { publications, whole: ids, active }: Published,
  retention: Retention | null,
  namedBy: (id: string) => Promise<NamedObjects | null>,
): Promise<Kept> {
  const last = retention === null ? ids.length : Math.max(1, retention.last);
  const whole = ids.filter((id, index) => index >= ids.length - last || id === active);
  const objects = new Set<string>();
  for (const id of whole) {
    for (const { object } of (await namedBy(id))?.whole ?? []) objects.add(object);
  }
  const wholeLeft = new Set(whole);
  const days = new Set<string>();
  const kept: Publication[] = [];
  let bytes = 0;
  let isFull = false;
  for (const [age, publication] of publications.toReversed().entries()) {
    const day = publication.at.slice(0, 10);
    const isOfWhole = age < timesOfWholeMax && whole.includes(publication.id);
    const isLastOfWhole = wholeLeft.delete(publication.id);
    const isOfDay = retention === null || (!days.has(day) && days.size < retention.days);
    if (!isLastOfWhole && !isOfWhole && !isOfDay) continue;
    if (!whole.includes(publication.id)) {
      if (isFull) continue;
      const named = await namedBy(publication.id);
      if (named === null) continue;
      const more = named.past.filter(({ object }) => !objects.has(object));
      bytes += more.reduce((sum, entry) => sum + entry.bytes, 0);
      isFull = retention !== null && bytes > retention.bytesMax;
      if (isFull) continue;
      for (const { object } of more) objects.add(object);
    }
    days.add(day);
    kept.push(publication);
  }
  return { whole, publications: kept.reverse(), objects };
}
