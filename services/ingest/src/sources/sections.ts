/** Which sections and formats a source may have, and which of them this version reads. */

/** Every section of the file's form, with the formats that fit it. */
const formatsBySection = {
  routes: ["mrt", "ris-live"],
  updates: ["mrt", "ris-live"],
  allocations: ["delegated"],
  vrps: ["rpki-client-json", "routinator-json", "routinator-jsonext", "routinator-csv", "slurm", "rtr"],
  as_names: ["name-list", "autnums", "peeringdb-net", "overrides-csv"],
  profiles: ["peeringdb-net", "peeringdb-org", "overrides-csv"],
  network_types: ["network-types-csv"],
  locations: ["geofeed", "observations"],
} as const;

export type KnownSection = keyof typeof formatsBySection;

/** What this version reads. */
export const builtFormats = {
  routes: ["mrt"],
  updates: ["mrt"],
  allocations: ["delegated"],
  vrps: ["rpki-client-json", "routinator-json", "routinator-jsonext", "routinator-csv", "slurm", "rtr"],
  as_names: ["name-list", "autnums", "peeringdb-net", "overrides-csv"],
  profiles: ["peeringdb-net", "peeringdb-org", "overrides-csv"],
  network_types: ["network-types-csv"],
} as const;

/**
 * What an operator writes once and changes when there is a reason: it is of no time, does not grow old beside data that do, and may
 * shrink as it likes.
 */
const standingFormats: readonly string[] = ["slurm", "overrides-csv", "network-types-csv"];

/** What a source may say that it is for. */
export type SourceSection = keyof typeof builtFormats;
/** What a snapshot has. */
export type BuiltSection = Exclude<SourceSection, "updates">;
export type BuiltFormat = (typeof builtFormats)[SourceSection][number];

export const knownSections = Object.keys(formatsBySection) as KnownSection[];
export const sourceSections = Object.keys(builtFormats) as SourceSection[];
export const knownFormats: readonly string[] = [...new Set(Object.values(formatsBySection).flat())];

export function isKnownSection(text: string): text is KnownSection {
  return Object.hasOwn(formatsBySection, text);
}

export function isSourceSection(text: string): text is SourceSection {
  return Object.hasOwn(builtFormats, text);
}

/** Whether the file's form allows the format in the section, read by this version or not. */
export function formatFits(section: KnownSection, format: string): boolean {
  return (formatsBySection[section] as readonly string[]).includes(format);
}

/** Whether a file of the format stands until it is changed. */
export function isStanding(format: string): boolean {
  return standingFormats.includes(format);
}

export function isBuiltFormat(section: SourceSection, format: string): format is BuiltFormat {
  return (builtFormats[section] as readonly string[]).includes(format);
}

/** The section that a source has a part in: updates are part of the routes. */
export function sectionOf({ section }: { readonly section: SourceSection }): BuiltSection {
  return section === "updates" ? "routes" : section;
}
