/** Runs of one process publish one after the other, each upon what the others published since it began. */

import { type Manifest, type SectionName, sealManifest, sectionNames } from "@netfacts/snapshot";
import type { Run } from "./run.ts";

/** A snapshot that a run published, and the one that it replaced. */
export interface Replacement {
  /** Null: there was none. */
  readonly replaced: string | null;
  readonly id: string;
}

/** What a run learns when it may publish. */
export interface PublishTurn {
  /** What other runs published since this one was started, in order. */
  readonly others: readonly Replacement[];
  /** No other run is in progress: stored objects that no manifest names are not needed. */
  readonly isAlone: boolean;
}

/** A manifest to be published, and what it replaces. */
export interface Joined {
  readonly manifest: Manifest;
  readonly replaces: string | null;
  /** Sections that another run published meanwhile. They stay as that run published them; the next run compares them with their sources. */
  readonly theirs: ReadonlySet<SectionName>;
}

/**
 * Joins what a run built with what other runs published meanwhile. If both built a section, the published one stays: it is in service
 * already, and may have sources that this run did not see. Reads one manifest.
 *
 * @param manifest  as if nobody else had published.
 * @throws SnapshotError
 */
export async function joinOthers({ store, previous, replaces }: Run, manifest: Manifest, others: readonly Replacement[]): Promise<Joined> {
  let last = replaces;
  for (const { replaced, id } of others) if (replaced === last) last = id;
  if (last === replaces || last === null) return { manifest, replaces, theirs: new Set() };
  const published = await store.getManifest(last);
  const theirs = new Set(sectionNames.filter((name) => differ(previous?.sections[name], published.sections[name])));
  const sections: Manifest["sections"] = {};
  for (const name of sectionNames) {
    const section = (theirs.has(name) ? published : manifest).sections[name];
    if (section !== undefined) sections[name] = section;
  }
  const removed = sectionNames.filter(
    (name) => sections[name] === undefined && (theirs.has(name) ? published : manifest).removed_sections?.includes(name) === true,
  );
  const isTheirs = (of: (one: Manifest) => unknown) => differ(previous && of(previous), of(published));
  return {
    manifest: sealManifest({
      sample_data: (isTheirs((one) => one.sample_data) ? published : manifest).sample_data,
      sections,
      ...(removed.length > 0 && { removed_sections: removed }),
      ingest_objects: (isTheirs((one) => one.ingest_objects) ? published : manifest).ingest_objects,
    }),
    replaces: last,
    theirs,
  };
}

function differ(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}
