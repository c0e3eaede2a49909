/** What `sources.yaml` says, once it was found free of faults. */

import type { Prefix } from "@netfacts/address";
import type { SectionName } from "@netfacts/snapshot";
import type { ReferredFeed } from "../readers/referred-geofeeds.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import type { BuiltFormat, SourceSection, storedFormat } from "./sections.ts";

/** Files of updates in the order of their times, and what their publisher does not have; null: its steps are not known. Times are Unix seconds. */
export interface UpdateFiles {
  readonly files: readonly string[];
  readonly missing: readonly { readonly from: number; readonly to: number }[] | null;
  /** The file behind these, where a run before could not use it. */
  readonly refused?: { readonly file: string; readonly error: string };
}

/** What a list of ranges says of its prefixes. */
export interface RangeType {
  readonly type: string;
  readonly provider: string | null;
  /** From 0 to 1. */
  readonly confidence: number;
}

/** Of the file of a source that was fetched. */
interface FetchedFrom {
  /** As it may be shown. */
  readonly url: string;
  /** Unix ms. */
  readonly fetchedAt: number;
  /** The version that a run last used; null where it is this one, or none. `isTakenBack`: by a rollback. */
  readonly lastGood: { readonly location: string; readonly isTakenBack?: true } | null;
  /** There is a newer one, which a run could not use. */
  readonly isEarlier: boolean;
}

/** One source of one section. Times are seconds, sizes bytes, shares 0…1. */
export interface SourceConfig {
  /** Unique within the file; the collector's name for routes. */
  name: string;
  section: SourceSection;
  format: BuiltFormat | typeof storedFormat;
  /** Absolute path of a file (of updates also of a folder), or a URL as it may be shown; several of RTR caches, separated by commas. */
  location: string;
  /** How it is fetched; absent for a file. */
  fetch?: FetchSettings;
  /** Of a source that was fetched, `location` being its file now. */
  fetched?: FetchedFrom;
  /** Of updates: the source of routes that they are applied to. */
  appliesTo?: SourceConfig;
  /** Of updates that were fetched or looked at: what there is of them now. */
  updateFiles?: UpdateFiles;
  /** Of an RTR source: why its session gave up the data. What was published of them is to be withdrawn. */
  givenUp?: string;
  /** Of a registry dump: the geofeeds that it refers to, as they are here now. */
  feeds?: readonly ReferredFeed[];
  /** Of stored observations: what tells this version of them from others. */
  storedVersion?: string;
  /** False: its failure is a warning, and its last good data stay. */
  required: boolean;
  /** Time between two expected versions. */
  intervalSeconds: number;
  /** Bound of the unpacked content; what is longer is refused. */
  bytesMax: number;
  /** Bound of the time one reading may take. */
  secondsMax: number;
  /** A file with fewer records than (1 − this) × those of the last good one is refused. */
  shrinkMax: number;
  /** A file in which more than this share of the records break a rule is refused. */
  badRecordsMax: number;
  /** As `shrinkMax`, for each kind of record by itself, where the reader counts kinds. */
  kindShrinkMax: number;
  /** Of delegated statistics: the share by which a file may differ from the counts in it; null: what is known of its registry. */
  countErrorMax: number | null;
  /** Of a list of ranges: what it says of each of them; null for all other sources. */
  rangeType: RangeType | null;
  /** Of locations and lists of ranges: prefixes that it may speak of; records of others are left out. Null: any. */
  covers: readonly Prefix[] | null;
  /** Age from which answers call the data stale; null: never. */
  staleAfterSeconds: number | null;
  /** Unix seconds of what the file shows, for a file that does not say so itself; null: then the time it was last written. */
  asOf: number | null;
  /** How far ahead of this clock a time of its data may be. */
  clockSkewMaxSeconds: number;
  /** What becomes of a file with a later time: it is refused, or read with a warning and preferred to nothing. */
  futureDates: "refuse" | "warn";
  /** Looked at whenever the schedule looks: who writes the file says so. */
  isFollowed?: true;
  /** Line of `sources.yaml` on which the source begins; 0: it stands in no list. */
  line: number;
}

/** One number per address family. */
export interface PerFamily {
  ipv4: number;
  ipv6: number;
}

export interface SourcesConfig {
  /** Absolute path of the file read. */
  file: string;
  /** In the order of the file. Of two sources that name the same AS number, the later wins. */
  sources: SourceConfig[];
  /** Prefixes that a peer must carry at least to count as a full feed. */
  fullFeedMin: PerFamily;
  /** Share of the largest peer's prefixes that a peer must carry to count as a full feed. */
  fullFeedShare: number;
  /** Full-feed peers that must see a prefix for it to be the match of an address, where there are ten or more of them. */
  matchPeersMin: number;
  /** Upstreams that are kept of each origin of a prefix, the most frequent ones. */
  upstreamsMax: number;
  /** How long before the newest table something that is no longer announced was last seen to be kept in the history; null: whenever. */
  historyKeptSeconds: number | null;
  /** By section: what it may lose of the last snapshot's records at most; what is not here, as much as the loosest of its sources. */
  sectionShrinkMax: Partial<Record<SectionName, number>>;
  /** Of observations and geofeeds, the one that counts where both know something. */
  locationsFirst: "observation" | "geofeed";
  /** Time in which half of all prefixes are taken to move to another place. */
  observationHalfLifeSeconds: number;
  /** Observations that are older than the newest one by more than this are left out. */
  observationsKeptSeconds: number;
  /** True: answers carry the warning `sample_data` with the data's date. */
  sampleData: boolean;
}

/** One thing wrong in the file. Lines and columns count from 1; null: the file as a whole. */
export interface SourcesFault {
  line: number | null;
  column: number | null;
  message: string;
}

/** Faults that a message names. */
const faultsMax = 50;

/** Every fault of a `sources.yaml` at once, in the order of its lines; the message has one line for each of the first `faultsMax`. */
export class SourcesFileError extends Error {
  override readonly name = "SourcesFileError";
  readonly file: string;
  readonly faults: readonly SourcesFault[];

  constructor(file: string, faults: readonly SourcesFault[]) {
    const places = faults
      .slice(0, faultsMax)
      .map((fault) => `${file}${fault.line === null ? "" : `:${fault.line}:${fault.column ?? 1}`}: ${fault.message}`);
    if (faults.length > faultsMax) places.push(`${file}: and ${faults.length - faultsMax} more faults`);
    super(places.join("\n"));
    this.file = file;
    this.faults = faults;
  }
}
