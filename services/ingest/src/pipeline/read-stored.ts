/** Reads stored observations and uploaded geofeeds into the inputs of a run. */

import { performance } from "node:perf_hooks";
import { formatPrefix } from "@netfacts/address";
import type { PlaceNames, SectionRecord } from "@netfacts/snapshot";
import type { StoredRow, UploadRecord } from "@netfacts/storage";
import { prefixesMax } from "../assembly/locations.ts";
import { ObservationList } from "../assembly/observation-list.ts";
import { type ReaderReport, Tally } from "../readers/reader-report.ts";
import { allUploads } from "../uploads/stored-rows.ts";
import { currentGeofeeds } from "../uploads/sweep.ts";
import type { TableSource } from "./listed-sources.ts";
import { DataGivenUpError } from "./read-rtr.ts";
import type { SourceReading } from "./read-source.ts";
import type { Run } from "./run.ts";
import type { TableInputs } from "./table-readers.ts";

type LocationRecord = SectionRecord<"locations">;

/** Distinct sources and methods of all uploads. */
const votersMax = 100_000;
/** Uploads cannot take all the room that a section has from the sources of the list. */
const storedPrefixesMax = prefixesMax * 0.8;
const geofeedEntriesMax = 1_000_000;

/**
 * Rows that find no room, and those of the future, which a wrong clock let in, are left out and counted, so that no upload makes a run
 * fail. Of the geofeeds of a source the last complete one counts, and of equal prefixes in it the first.
 *
 * Throws `DataGivenUpError` where nothing is stored any more, and what the store throws.
 */
export async function readStored(run: Run, source: TableSource, inputs: TableInputs): Promise<SourceReading> {
  if (source.givenUp !== undefined) throw new DataGivenUpError(source.givenUp);
  const { observations: repository, signal, onProgress } = run;
  if (repository === undefined || source.storedVersion === undefined) throw new Error("the store of observations is not open");
  const began = performance.now();
  const uploads = new Map<number, UploadRecord>();
  // Without their texts, which would take the most memory of them.
  for await (const upload of allUploads(repository)) uploads.set(upload.number, { ...upload, badLines: [], header: null });
  const stored = new StoredInputs(uploads, Date.now() / 1_000, source.clockSkewMaxSeconds);
  const total = await repository.rowCount();
  for await (const rows of repository.all()) {
    signal.throwIfAborted();
    for (const row of rows) stored.add(row);
    onProgress({ label: `read ${source.name}`, done: stored.tally.read, total, unit: "steps" });
  }
  const report: ReaderReport = {
    bytes: 0,
    seconds: (performance.now() - began) / 1_000,
    read: stored.tally.read,
    accepted: stored.tally.accepted,
    skipped: stored.tally.skipped(),
    asOf: Math.min(stored.newest > 0 ? stored.newest : latestUpload(uploads.values()), stored.latestTime),
    notes: [`uploads: ${uploads.size}`],
  };
  const sha256 = source.storedVersion;
  const add = (name: string) => {
    if (stored.observations.size > 0) inputs.observations.push(stored.observations);
    inputs.locations.add(name, stored.geofeeds());
  };
  return { report, add, stored: () => ({ bytes: 0, sha256 }) };
}

/** Unix seconds. */
function latestUpload(uploads: Iterable<UploadRecord>): number {
  let latest = 0;
  for (const { updatedAt } of uploads) latest = Math.max(latest, Math.floor(updatedAt / 1_000));
  return latest;
}

class StoredInputs {
  readonly tally = new Tally();
  readonly observations = new ObservationList(votersMax);
  /** Unix seconds. */
  newest = 0;
  /** Later rows are of the future. Unix seconds. */
  readonly latestTime: number;
  readonly #uploads: ReadonlyMap<number, UploadRecord>;
  readonly #current: ReadonlySet<number>;
  readonly #prefixes = new Set<string>();
  readonly #geofeeds = new Map<string, LocationRecord & { readonly upload: number }>();
  readonly #places = new Map<string, PlaceNames>();

  /** @param now  Unix seconds */
  constructor(uploads: ReadonlyMap<number, UploadRecord>, now: number, clockSkewMaxSeconds: number) {
    this.#uploads = uploads;
    this.latestTime = Math.floor(now + clockSkewMaxSeconds);
    this.#current = new Set([...currentGeofeeds(uploads.values()).values()].map(({ number }) => number));
  }

  add(row: StoredRow): void {
    this.tally.read++;
    const upload = this.#uploads.get(row.upload);
    const leftOut = upload === undefined ? "is of an upload that was deleted" : this.#taken(row, upload);
    if (leftOut === null) this.tally.accepted++;
    else this.tally.leaveOut(leftOut, { line: row.line }, `upload ${upload?.id ?? row.upload}`);
  }

  /** Why the row does not count; null: it does. */
  #taken(row: StoredRow, upload: UploadRecord): string | null {
    return upload.format === "geofeed" ? this.#takeGeofeed(row, upload) : this.#takeObservation(row, upload);
  }

  #takeObservation({ observedAt, ...row }: StoredRow, { source }: UploadRecord): string | null {
    if (observedAt === null) return "has no time";
    if (observedAt > this.latestTime) return "observed_at is in the future";
    const key = formatPrefix(row.prefix);
    if (!this.#prefixes.has(key)) {
      if (this.#prefixes.size >= storedPrefixesMax) return `uploads have more than ${storedPrefixesMax} distinct prefixes`;
      this.#prefixes.add(key);
    }
    const full = this.observations.add({ ...row, observedAt, source });
    if (full === null) this.newest = Math.max(this.newest, observedAt);
    return full === null ? null : `uploads: the list ${full}`;
  }

  #takeGeofeed({ prefix, country, region, city, upload: number }: StoredRow, upload: UploadRecord): string | null {
    if (!this.#current.has(number)) return "is of a geofeed that is incomplete, or was replaced by a later upload of its source";
    const key = formatPrefix(prefix);
    const known = this.#geofeeds.get(key);
    if (known?.upload === number) return "appears more than once in its geofeed; the first one was kept";
    if (known === undefined && this.#geofeeds.size >= geofeedEntriesMax) return `geofeeds have more than ${geofeedEntriesMax} prefixes`;
    this.#geofeeds.set(key, { prefix, place: this.#placeOf({ country, region, city }), upload: number });
    this.newest = Math.max(this.newest, Math.floor(upload.createdAt / 1_000));
    return null;
  }

  /** One object for equal ones. */
  #placeOf(place: PlaceNames): PlaceNames | null {
    if (place.country === null && place.city === null) return null;
    const key = JSON.stringify(place);
    const known = this.#places.get(key) ?? place;
    this.#places.set(key, known);
    return known;
  }

  *geofeeds(): Generator<LocationRecord> {
    for (const { prefix, place } of this.#geofeeds.values()) yield { prefix, place };
  }
}
