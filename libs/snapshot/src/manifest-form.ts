/** The form of a manifest, and its reader. In a file of its own because the schema library takes longer to load than most sections. */

import { snapshotIdPattern, timestampPattern } from "@netfacts/contracts";
import Type from "typebox";
import { Check, Errors } from "typebox/value";
import { objectBytesMax } from "./columns.ts";
import { ManifestError, NewerManifestError, type SectionName, sealManifest, sectionNames } from "./manifest.ts";

const wholeTimestamp = `^${timestampPattern}$`;
const nullableText = Type.Unsafe<string | null>({ type: ["string", "null"] });
const nullableTimestamp = Type.Unsafe<string | null>({ type: ["string", "null"], pattern: wholeTimestamp });
const nullableInteger = Type.Unsafe<number | null>({ type: ["integer", "null"] });

const objectBytes = Type.Integer({ minimum: 0, maximum: objectBytesMax });

const SourceEntry = Type.Object({
  name: Type.String(),
  format: Type.String(),
  /** SHA-256 of the file as it was read. */
  sha256: Type.String(),
  as_of: nullableTimestamp,
  accepted: Type.Integer({ minimum: 0 }),
  skipped: Type.Integer({ minimum: 0 }),
  error: nullableText,
  /** For a source that failed: the records of the last good version, so that a smaller new version is still reported. */
  accepted_before: Type.Optional(Type.Integer({ minimum: 0 })),
  /** For a source that failed: the data time of the last good version, so that a far older new version is still reported. */
  as_of_before: Type.Optional(Type.String({ pattern: wholeTimestamp })),
  /** The last data time that a file of the source itself stated: `as_of`, or that of an earlier version. Null: no file did. Absent: not known. */
  as_of_told: Type.Optional(nullableTimestamp),
  /** For a table: the BGP identifier of its collector; for a source that failed, that of the last good version. Absent: the table has none. */
  bgp_id: Type.Optional(Type.String()),
  /** Records of each kind; for a source that failed, those of the last good version. Absent: its kinds are not counted. */
  kinds: Type.Optional(Type.Record(Type.String(), Type.Integer({ minimum: 0 }))),
});

const FamilyCounts = Type.Object({ ipv4: Type.Integer({ minimum: 0 }), ipv6: Type.Integer({ minimum: 0 }) });

const SectionEntry = Type.Object({
  /** SHA-256 of the object, which is also its name. */
  object: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  bytes: objectBytes,
  version: Type.String(),
  as_of: Type.String({ pattern: wholeTimestamp }),
  /** Seconds after `as_of` from which the section is stale; null = never. */
  stale_after_seconds: nullableInteger,
  /** Seconds between two expected versions; null = none is expected. */
  interval_seconds: nullableInteger,
  counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
  sources: Type.Array(SourceEntry),
  /** For routes: full-feed peers by family, collectors, and the bound below which a match is "low visibility". */
  peers_total: Type.Optional(FamilyCounts),
  collectors: Type.Optional(Type.Array(Type.String())),
  match_peers_min: Type.Optional(Type.Integer({ minimum: 1 })),
  /** For routes: updates that are missing between a collector's table and its `as_of`, or after that; `to` null: all after `from`. Absent: none. */
  updates_gaps: Type.Optional(
    Type.Array(Type.Object({ collector: Type.String(), from: Type.String({ pattern: wholeTimestamp }), to: nullableTimestamp })),
  ),
});

const sectionEntries = Object.fromEntries(sectionNames.map((name) => [name, Type.Optional(SectionEntry)])) as {
  [S in SectionName]: Type.TOptional<typeof SectionEntry>;
};

const Manifest = Type.Object({
  format: Type.Literal("netfacts-snapshot"),
  format_version: Type.Literal(1),
  id: Type.String({ pattern: `^${snapshotIdPattern}$` }),
  /** True: the sample dataset; answers say so. */
  sample_data: Type.Boolean(),
  sections: Type.Object(sectionEntries),
  /** Sections that were removed on purpose and have not come back: pods may drop them. Absent: none. */
  removed_sections: Type.Optional(Type.Array(Type.Enum([...sectionNames]))),
  /** Objects that only ingest reads. */
  ingest_objects: Type.Record(Type.String(), Type.Object({ object: Type.String({ pattern: "^[0-9a-f]{64}$" }), bytes: objectBytes })),
});

export type SourceEntry = Type.Static<typeof SourceEntry>;
export type SectionEntry = Type.Static<typeof SectionEntry>;
export type Manifest = Type.Static<typeof Manifest>;

/** Reads a manifest. Throws `ManifestError` naming what differs, or `NewerManifestError` if it has a later format. */
export function decodeManifest(bytes: Uint8Array): Manifest {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ManifestError("the manifest is not JSON", { cause });
  }
  if (!Check(Manifest, value)) {
    const version = (value as { format_version?: unknown } | null)?.format_version;
    if (typeof version === "number" && version > 1) throw new NewerManifestError(version, text);
    if (version !== undefined && version !== 1)
      throw new ManifestError(`the manifest has format version ${String(version)}; this program reads version 1`);
    const [first] = Errors(Manifest, value);
    throw new ManifestError(`the manifest is invalid: ${first?.instancePath || "/"} ${first?.message ?? ""}`);
  }
  const { format: _format, format_version: _version, id, ...content } = value;
  const sealed = sealManifest(content).id;
  if (sealed !== id) throw new ManifestError(`the manifest has the id ${id}, but its content gives ${sealed}`);
  return value;
}
