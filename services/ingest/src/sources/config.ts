/** The configuration in `sources.yaml`, after it was found free of faults. */

import type { Prefix } from "@netfacts/address";
import type { SectionName } from "@netfacts/snapshot";
import type { ReferredFeed } from "../readers/referred-geofeeds.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import type { BuiltFormat, SourceSection, storedFormat } from "./sections.ts";

/** Files of updates in the order of their times, and gaps that their publisher has; null: its steps are not known. Times are Unix seconds. */
export interface UpdateFiles {
  readonly files: readonly string[];
  readonly missing: readonly { readonly from: number; readonly to: number }[] | null;
  /** The file after these, if an earlier run could not use it. */
  readonly refused?: { readonly file: string; readonly error: string };
}

/** The type that a list of ranges gives its prefixes. */
export interface RangeType {
  readonly type: string;
  readonly provider: string | null;
  /** From 0 to 1. */
  readonly confidence: number;
}

/** Origin of the file of a fetched source. */
interface FetchedFrom {
  /** Without secrets. */
  readonly url: string;
  /** Unix ms. */
  readonly fetchedAt: number;
  /** The version that a run last used; null: it is this one, or there is none. `isTakenBack`: a rollback took it back. */
  readonly lastGood: { readonly location: string; readonly isTakenBack?: true } | null;
  /** There is a newer version that no run could use. */
  readonly isEarlier: boolean;
}

/** One source of one section. Times are seconds, sizes bytes, shares 0…1. */
export interface SourceConfig {
  /** Unique within the file; the collector's name for routes. */
  name: string;
  section: SourceSection;
  format: BuiltFormat | typeof storedFormat;
  /** Absolute path of a file (for updates also of a folder), or a URL without secrets; for RTR the caches, separated by commas. */
  location: string;
  /** How the source is fetched; absent for a local file. */
  fetch?: FetchSettings;
  /** Set when the source was fetched: `location` is then the path of its file. */
  fetched?: FetchedFrom;
  /** For updates: the source of routes that they are applied to. */
  appliesTo?: SourceConfig;
  /** For updates that were fetched or looked at: the files that are here now. */
  updateFiles?: UpdateFiles;
  /** For an RTR source: why its session gave up the data. Its published data are to be withdrawn. */
  givenUp?: string;
  /** For a registry dump: the geofeeds that it refers to, as they are here now. */
  feeds?: readonly ReferredFeed[];
  /** For stored observations: identifies their version. */
  storedVersion?: string;
  /** False: a failure is a warning, and the last good data stay. */
  required: boolean;
  /** Time between two expected versions. */
  intervalSeconds: number;
  /** Bound of the decompressed content; a longer one is refused. */
  bytesMax: number;
  /** Longest time of one reading. */
  secondsMax: number;
  /** A file with fewer records than (1 − this) × those of the last good one is refused. */
  shrinkMax: number;
  /** A file in which more than this share of the records break a rule is refused. */
  badRecordsMax: number;
  /** As `shrinkMax`, for each kind of record separately, if the reader counts kinds. */
  kindShrinkMax: number;
  /** For delegated statistics: the share by which a file may differ from its own counts; null: the share known of its registry. */
  countErrorMax: number | null;
  /** For a list of ranges: the type that it gives them; null for all other sources. */
  rangeType: RangeType | null;
  /** For locations and lists of ranges: prefixes that the source may speak of; other records are left out. Null: any. */
  covers: readonly Prefix[] | null;
  /** Age from which answers call the data stale; null: never. */
  staleAfterSeconds: number | null;
  /** Time of the data in Unix seconds, for a file that does not contain it; null: the time at which the file was last written. */
  asOf: number | null;
  /** How far the time of its data may be ahead of our clock. */
  clockSkewMaxSeconds: number;
  /** Treatment of a file with a later time: it is refused; or it is read with a warning, and preferred to no other source. */
  futureDates: "refuse" | "warn";
  /** The source is looked at whenever the schedule looks: the program that writes its file calls the schedule. */
  isFollowed?: true;
  /** Line of `sources.yaml` at which the source begins; 0: it is not in the list. */
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
  /** In the order of the file. If two sources name the same AS number, the later one wins. */
  sources: SourceConfig[];
  /** Fewest prefixes that a peer must carry to count as a full feed. */
  fullFeedMin: PerFamily;
  /** Share of the largest peer's prefixes that a peer must carry to count as a full feed. */
  fullFeedShare: number;
  /** Full-feed peers that must see a prefix before an address can match it, if there are at least ten such peers. */
  matchPeersMin: number;
  /** Most upstreams that are kept for each origin of a prefix: the most frequent ones. */
  upstreamsMax: number;
  /** The history keeps what is no longer announced if it was last seen within this time before the newest table; null: always. */
  historyKeptSeconds: number | null;
  /** By section: the largest share of the last snapshot's records that it may lose. Absent: the largest share that one of its sources may lose. */
  sectionShrinkMax: Partial<Record<SectionName, number>>;
  /** The kind that counts if both observations and geofeeds have a location. */
  locationsFirst: "observation" | "geofeed";
  /** Time in which half of all prefixes are assumed to move to another place. */
  observationHalfLifeSeconds: number;
  /** Observations that are older than the newest one by more than this time are left out. */
  observationsKeptSeconds: number;
  /** True: answers carry the warning `sample_data`, with the date of the data. */
  sampleData: boolean;
}

/** One fault of the file. Lines and columns count from 1; null: the file as a whole. */
export interface SourcesFault {
  line: number | null;
  column: number | null;
  message: string;
}

/** Most faults that a message lists. */
const faultsMax = 50;

/** All faults of a `sources.yaml`, in the order of its lines. The message has a line for each of the first `faultsMax`. */
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
