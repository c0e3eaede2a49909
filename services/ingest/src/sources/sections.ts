/** The sections of `sources.yaml`, the formats of each, and its default bounds. */

import type { ImportedSection, SectionName } from "@netfacts/contracts";

const gibibyte = 2 ** 30;
const hour = 3600;
const day = 24 * hour;

interface SectionSources {
  /** How this version reads the section; absent: it does not. */
  readonly reading?: {
    /** The formats that this version reads. */
    readonly formats: readonly string[];
    /** Default bound of the decompressed content: about four times the largest public file. For updates, the bound of all files together. */
    readonly bytesMax: number;
    /** Interval at which public sources publish, in seconds. */
    readonly intervalSeconds: number;
  };
  /** Formats that fit the section, but are not read by this version. */
  readonly otherFormats?: readonly string[];
}

/** Sections that a source can have. `aspas` is filled from sources of another section; `updates` are part of the routes. */
type Listed<S extends SectionName> = Exclude<S, "aspas"> | "updates";

const sections = {
  // RIS tables: every 8 h, about 4 GiB.
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
  network_types: {
    reading: {
      formats: [
        "network-types-csv",
        "aws-ip-ranges",
        "azure-service-tags",
        "google-ip-ranges",
        "oracle-ip-ranges",
        "tor-exit-list",
        "prefix-list",
        "geofeed",
      ],
      bytesMax: gibibyte / 4,
      intervalSeconds: 7 * day,
    },
  },
  // The largest public geofeeds have ten MB. For observations, the bound is about 7 million of them.
  locations: {
    reading: { formats: ["geofeed", "rpsl-geofeeds", "observations", "observations-csv"], bytesMax: gibibyte, intervalSeconds: 7 * day },
  },
} as const satisfies Readonly<Record<Listed<ImportedSection>, SectionSources & Required<Pick<SectionSources, "reading">>>> &
  Readonly<Record<Listed<SectionName>, SectionSources>>;

type Sections = typeof sections;

export type KnownSection = keyof Sections;
/** Sections of `sources.yaml` that this version reads. */
export type SourceSection = { [S in KnownSection]: Sections[S] extends { readonly reading: unknown } ? S : never }[KnownSection];
/** Sections of a snapshot that sources can be listed for. */
export type BuiltSection = Exclude<SourceSection, "updates">;
export type BuiltFormat = Sections[SourceSection]["reading"]["formats"][number];

/** Format of the one source that is never in a list: uploaded observations. */
export const storedFormat = "stored-observations";

/** Whether the operator changes the source by a command or an upload: overrides and stored observations. */
export function isOperators({ format, isFollowed }: { readonly format: string; readonly isFollowed?: true }): boolean {
  return format === storedFormat || isFollowed === true;
}

/** How a file of a format is recognised: by a member of JSON that only it has, or by its first line that is neither blank nor a comment. */
export type FormatMark = { readonly members: readonly string[] } | { readonly line: RegExp };

interface FormatFacts {
  /** Null: not recognised by text. */
  readonly mark: FormatMark | null;
  /** The operator writes the file, and changes it only for a reason. It has no date, does not become stale, and may shrink by any amount. */
  readonly standing?: true;
  /** Records hardly ever disappear between two versions. The file is text, and only its length shows whether it was truncated. */
  readonly steady?: true;
  /** Writers may repeat a record any number of times without saying more: only the counts by kind show whether a file has shrunk. */
  readonly repeats?: true;
}

/** Every format that is read. If several recognise a file, the first one counts. */
const formatFacts: Readonly<Record<BuiltFormat, FormatFacts>> = {
  mrt: { mark: null },
  rtr: { mark: null },
  slurm: { mark: { members: ["slurmVersion"] }, standing: true },
  "rpki-client-json": { mark: { members: ["buildtime", "customer_asid", "expires"] } },
  "routinator-jsonext": { mark: { members: ["source", "chainValidity"] } },
  "routinator-json": { mark: { members: ["generatedTime", "roas"] } },
  "peeringdb-net": { mark: { members: ["info_type", "info_types", "irr_as_set"] } },
  "peeringdb-org": { mark: { members: ["address1", "aka"] } },
  delegated: { mark: { line: /^2(?:\.\d+)?\|[a-z]+\|/ }, steady: true },
  "routinator-csv": { mark: { line: /^"?asn"?, *"?ip prefix"?,/i } },
  "aws-ip-ranges": { mark: { members: ["ip_prefix", "ipv6_prefix"] } },
  "azure-service-tags": { mark: { members: ["addressPrefixes", "systemService"] } },
  "google-ip-ranges": { mark: { members: ["ipv4Prefix", "ipv6Prefix"] } },
  "oracle-ip-ranges": { mark: { members: ["last_updated_timestamp", "cidrs"] } },
  "tor-exit-list": { mark: { line: /^ExitNode [0-9A-F]{40}/ } },
  "network-types-csv": { mark: { line: /^"?(?:resource|network_type)"?,/i }, standing: true },
  observations: { mark: { members: ["observed_at"] }, repeats: true },
  "observations-csv": { mark: { line: /(?:^|,) *"?observed_at"? *(?:,|$)/i }, repeats: true },
  geofeed: { mark: { line: /^"?(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}:[0-9a-f:.]*)(?:\/\d{1,3})?"? *,/i } },
  "overrides-csv": { mark: { line: /^"?asn"?, *"?(?:name|organisation|website|network_type)"?/i }, standing: true },
  "prefix-list": { mark: { line: /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}:[0-9a-f:.]*)(?:\/\d{1,3})?\s*(?:#|$)/i } },
  "rpsl-geofeeds": { mark: { line: /^(?:inetnum|inet6num):/i } },
  "name-list": { mark: { line: /^\d+\t/ }, steady: true },
  // A line without "AS" must end with a country, as in RIPE NCC's list: many messages begin with a number.
  autnums: { mark: { line: /^(?:AS\d[\d.]*[ \t]|\d+ +\S.*, ?[A-Z]{2}\s*$)/ }, steady: true },
};

/** Defaults of a list of ranges, which has one type, if its source does not set it. Null: the source must set it. */
interface RangeListDefaults {
  readonly type: string | null;
  readonly provider: string | null;
}

/** By format of network types; null: the lines of the format name the types. */
const rangeLists: Readonly<Record<Sections["network_types"]["reading"]["formats"][number], RangeListDefaults | null>> = {
  "network-types-csv": null,
  "aws-ip-ranges": { type: "hosting", provider: "Amazon AWS" },
  "azure-service-tags": { type: "hosting", provider: "Microsoft Azure" },
  // Google's lists of clouds and crawlers, and lists of others, have the same form.
  "google-ip-ranges": { type: null, provider: null },
  "oracle-ip-ranges": { type: "hosting", provider: "Oracle Cloud" },
  "tor-exit-list": { type: "tor_exit", provider: null },
  "prefix-list": { type: null, provider: null },
  geofeed: { type: null, provider: null },
};

/** The defaults of a list of ranges; null: the source is not such a list. */
export function rangeListOf(section: SourceSection, format: BuiltFormat): RangeListDefaults | null {
  const ofFormats: Partial<Readonly<Record<BuiltFormat, RangeListDefaults | null>>> = rangeLists;
  return section === "network_types" ? (ofFormats[format] ?? null) : null;
}

/** The formats that a text can be recognised as, in the order of comparison. */
export const formatMarks: readonly (readonly [format: BuiltFormat, mark: FormatMark])[] = Object.entries(formatFacts).flatMap(
  ([format, { mark }]) => (mark === null ? [] : [[format as BuiltFormat, mark] as const]),
);

const knownSections = Object.keys(sections) as KnownSection[];
export const sourceSections = knownSections.filter(isSourceSection);
export const knownFormats: readonly string[] = [...new Set(knownSections.flatMap(formatsOf))];
/** The formats that this version reads, for all sections. */
export const builtFormats: readonly string[] = [...new Set(sourceSections.flatMap((section) => readingOf(section).formats))];

export function isKnownSection(text: string): text is KnownSection {
  return Object.hasOwn(sections, text);
}

export function isSourceSection(text: string): text is SourceSection {
  return isKnownSection(text) && "reading" in sections[text];
}

/** Formats, bound and interval with which this version reads the sources of a section. */
export function readingOf(section: SourceSection): NonNullable<SectionSources["reading"]> {
  return sections[section].reading;
}

/** Whether `sources.yaml` may have the format in the section, whether this version reads it or not. */
export function formatFits(section: KnownSection, format: string): boolean {
  return formatsOf(section).includes(format);
}

function formatsOf(section: KnownSection): readonly string[] {
  const { reading, otherFormats = [] }: SectionSources = sections[section];
  return [...(reading?.formats ?? []), ...otherFormats];
}

/** Whether a file of the format stays valid until it is changed. */
export function isStanding(format: string): boolean {
  return Object.hasOwn(formatFacts, format) && formatFacts[format as BuiltFormat].standing === true;
}

/** Whether records of the format hardly ever disappear between two versions. */
export function isSteady(format: BuiltFormat): boolean {
  return formatFacts[format].steady === true;
}

/** Whether records of the format may be repeated, so that their number has no meaning. */
export function mayRepeat(format: string): boolean {
  return Object.hasOwn(formatFacts, format) && formatFacts[format as BuiltFormat].repeats === true;
}

export function isBuiltFormat(section: SourceSection, format: string): format is BuiltFormat {
  return readingOf(section).formats.includes(format);
}

/** The section that a source contributes to: updates are part of the routes. */
export function sectionOf({ section }: { readonly section: SourceSection }): BuiltSection {
  return section === "updates" ? "routes" : section;
}
