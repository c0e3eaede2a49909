/** The snapshot's manifest: which section objects make one dataset, from which sources, as of when. */

import { createHash } from "node:crypto";
import { type ImportedSection, importedSections } from "@netfacts/contracts";
import type { Manifest } from "./manifest-form.ts";

/** The sections of a snapshot, in the order of manifests. */
export const sectionNames = importedSections;
export type SectionName = ImportedSection;

export type { Manifest, SectionEntry, SourceEntry } from "./manifest-form.ts";

/** A manifest that cannot be read, or whose id does not match its content. */
export class ManifestError extends Error {
  override readonly name: string = "ManifestError";
}

/** A manifest of a later format: it is not damaged, but needs a newer program. */
export class NewerManifestError extends ManifestError {
  override readonly name = "NewerManifestError";
  /** All digests in its text, whatever its form: its objects are among them. */
  readonly digests: readonly string[];

  constructor(version: number, text: string) {
    super(`the manifest has format version ${version}; this program reads version 1; start the newer version of Netfacts that wrote it`);
    this.digests = text.match(/\b[0-9a-f]{64}\b/g) ?? [];
  }
}

/**
 * Gives a manifest its id: the newest `as_of` of its sections, and the first 32 bits of SHA-256 over its content. Ids sort by time, and the same
 * content gives the same id, whatever the order of its members.
 */
export function sealManifest(content: Omit<Manifest, "id" | "format" | "format_version">): Manifest {
  const times = Object.values(content.sections).map((section) => section.as_of);
  const newest = times.sort().at(-1) ?? "1970-01-01T00:00:00Z";
  const digest = createHash("sha256").update(canonicalText(content)).digest("hex").slice(0, 8);
  const id = `${newest.replace(/[-:]/g, "")}-${digest}`;
  return { format: "netfacts-snapshot", format_version: 1, id, ...content };
}

/** A value as JSON with members in the order of their names; undefined members are left out. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`).join()}}`;
}

/** Sections of `before` that `next` lacks although nobody removed them: a store or a source lost them. */
export function lostSections(before: Manifest, next: Manifest): SectionName[] {
  return sectionNames.filter(
    (name) => before.sections[name] !== undefined && next.sections[name] === undefined && next.removed_sections?.includes(name) !== true,
  );
}

/**
 * Returns the earlier snapshot as a replacement of the current one. Pods drop a section only if the manifest lists it as removed. Sections that were
 * removed before the current one are listed too, as a pod may not have loaded the current one.
 */
export function rollbackManifest(current: Manifest, earlier: Manifest): Manifest {
  const said = earlier.removed_sections ?? [];
  const gone = [...(current.removed_sections ?? []), ...lostSections(current, earlier)];
  const more = sectionNames.filter((name) => gone.includes(name) && earlier.sections[name] === undefined && !said.includes(name));
  if (more.length === 0) return earlier;
  const { id: _id, format: _format, format_version: _version, ...content } = earlier;
  return sealManifest({ ...content, removed_sections: [...said, ...more] });
}

/** The manifest as the bytes of its file. */
export function encodeManifest(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
}
