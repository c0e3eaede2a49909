/** What a source may say that it is for: the sections of `sources.yaml`, their formats, and the bounds where the file names none. */

import type { ImportedSection, SectionName } from "@netfacts/contracts";

const gibibyte = 2 ** 30;
const hour = 3600;
const day = 24 * hour;

interface SectionSources {
  /** How this version reads it; absent: it does not. */
  readonly reading?: {
    /** The formats that it reads. */
    readonly formats: readonly string[];
    /** Bound of the uncompressed content where a source names none: about four times the largest public file. Of updates all files together. */
    readonly bytesMax: number;
    /** How often the public sources publish, in seconds. */
    readonly intervalSeconds: number;
  };
  /** Formats that fit the section, and that this version does not read. */
  readonly otherFormats?: readonly string[];
}

/** Sections that are filled from the sources of another one, or that are part of another one. */
type Listed<S extends SectionName> = Exclude<S, "aspas"> | "updates";

const sections = {
  // RIS tables: every 8 h, some 4 GiB.
  routes: { reading: { formats: ["mrt"], bytesMax: 16 * gibibyte, intervalSeconds: 8 * hour }, otherFormats: ["ris-live"] },
  updates: { reading: { formats: ["mrt"], bytesMax: 16 * gibibyte, intervalSeconds: 300 }, otherFormats: ["ris-live"] },
  allocations: { reading: { formats: ["delegated"], bytesMax: gibibyte, intervalSeconds: day } },
  vrps: {
    reading: {
      formats: ["rpki-client-json", "routinator-json", "routinator-jsonext", "routinator-csv", "slurm", "rtr"],
      // An rpki-client export has 75 MB.
      bytesMax: gibibyte,
      intervalSeconds: hour,
    },
  },
  as_names: {
    reading: {
      formats: ["name-list", "autnums", "peeringdb-net", "overrides-csv"],
      bytesMax: gibibyte / 4,
      intervalSeconds: 7 * day,
    },
  },
  profiles: {
    reading: { formats: ["peeringdb-net", "peeringdb-org", "overrides-csv"], bytesMax: gibibyte / 4, intervalSeconds: 7 * day },
  },
  network_types: { reading: { formats: ["network-types-csv"], bytesMax: gibibyte / 4, intervalSeconds: 7 * day } },
  locations: { otherFormats: ["geofeed", "observations"] },
} as const satisfies Readonly<Record<Listed<ImportedSection>, SectionSources & Required<Pick<SectionSources, "reading">>>> &
  Readonly<Record<Listed<SectionName>, SectionSources>>;

type Sections = typeof sections;

/**
 * What an operator writes once and changes when there is a reason: it is of no time, does not grow old beside data that do, and may
 * shrink as it likes.
 */
const standingFormats: readonly string[] = ["slurm", "overrides-csv", "network-types-csv"];

export type KnownSection = keyof Sections;
/** What a source may say that it is for, and this version reads. */
export type SourceSection = { [S in KnownSection]: Sections[S] extends { readonly reading: unknown } ? S : never }[KnownSection];
/** What a snapshot has, and sources are listed for. */
export type BuiltSection = Exclude<SourceSection, "updates">;
export type BuiltFormat = Sections[SourceSection]["reading"]["formats"][number];

export const knownSections = Object.keys(sections) as KnownSection[];
export const sourceSections = knownSections.filter(isSourceSection);
export const knownFormats: readonly string[] = [...new Set(knownSections.flatMap(formatsOf))];
/** The formats that this version reads, of whatever section. */
export const builtFormats: readonly string[] = [...new Set(sourceSections.flatMap((section) => readingOf(section).formats))];

export function isKnownSection(text: string): text is KnownSection {
  return Object.hasOwn(sections, text);
}

export function isSourceSection(text: string): text is SourceSection {
  return isKnownSection(text) && "reading" in sections[text];
}

/** How this version reads the sources of a section. */
export function readingOf(section: SourceSection): NonNullable<SectionSources["reading"]> {
  return sections[section].reading;
}

/** Whether the file's form allows the format in the section, read by this version or not. */
export function formatFits(section: KnownSection, format: string): boolean {
  return formatsOf(section).includes(format);
}

function formatsOf(section: KnownSection): readonly string[] {
  const { reading, otherFormats = [] }: SectionSources = sections[section];
  return [...(reading?.formats ?? []), ...otherFormats];
}

/** Whether a file of the format stands until it is changed. */
export function isStanding(format: string): boolean {
  return standingFormats.includes(format);
}

export function isBuiltFormat(section: SourceSection, format: string): format is BuiltFormat {
  return readingOf(section).formats.includes(format);
}

/** The section that a source has a part in: updates are part of the routes. */
export function sectionOf({ section }: { readonly section: SourceSection }): BuiltSection {
  return section === "updates" ? "routes" : section;
}
