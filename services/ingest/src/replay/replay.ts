/** A RIB and the update files behind it, as the table at the last second of them (docs: SEMANTICS, Time). */

import {
  encodePath,
  type PathAttributes,
  type RecordReading,
  type RibReport,
  type RibSink,
  type RoutePrefix,
  readRecords,
  type StateChangeBody,
  scanRib,
  type UpdateBody,
} from "@netfacts/mrt";
import { RouteTable } from "./route-table.ts";

/** The shortest interval in which collectors write update files: a longer silence may be a file that is missing. */
export const gapSecondsDefault = 300;

export interface ReplayInput {
  /** What messages call it. */
  readonly name: string;
  /** Decompressed. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface ReplayOptions {
  /** A silence longer than this is a gap. */
  readonly gapSeconds?: number;
}

/** Times are Unix seconds. */
export interface UpdatesReport {
  records: number;
  announced: number;
  /** Routes that went: also those that were not there are counted in `withdrawnUnknown`. */
  withdrawn: number;
  withdrawnUnknown: number;
  /** Sessions that left Established, and the routes that went with them. */
  sessionsLost: number;
  routesLost: number;
  /** Records older than the RIB, which has them already. */
  beforeRib: number;
  /** Messages that the collector sent itself, and prefixes of multicast and other families: of no concern for the table. */
  sent: number;
  otherFamilies: number;
  /** Records that break their format, with the first ones; and records of no concern. */
  bad: number;
  readonly badExamples: { readonly name: string; readonly offset: number; readonly detail: string }[];
  unread: number;
  /** Silences between the RIB and its first update (the reason of the warning `updates_gap`), or between two files. */
  readonly gaps: { readonly from: number; readonly to: number }[];
  /** Of the last record applied; the RIB's own when there was none. */
  lastTimestamp: number;
}

export interface Replayed {
  readonly rib: RibReport;
  readonly updates: UpdatesReport;
}

const established = 6;
const badExamplesMax = 5;

/**
 * Reads the RIB, applies every update in the order of the inputs, and hands the resulting table to the sink as `scanRib` would a RIB: peers, then
 * each prefix that is left with its routes. `originatedAt` of a route is the time of the update that brought it.
 *
 * @param updates  in order of time; read one after the other, each when it is its turn.
 * @throws MrtError and what the chunks throw, for a file that cannot be trusted as a whole; the sink has seen nothing then.
 *
 * Cost: the scan of the RIB, some 2 µs an update, a walk over the table for each session lost. Memory: some 20 bytes a route, 30 a prefix, and the
 * distinct paths, those of replaced routes too.
 */
export async function replay(
  rib: ReplayInput,
  updates: Iterable<ReplayInput> | AsyncIterable<ReplayInput>,
  sink: RibSink,
  options: ReplayOptions = {},
): Promise<Replayed> {
  const table = new RouteTable();
  const ribReport = await scanRib(rib.chunks, table, { name: rib.name });
  const run = new UpdateRun(table, ribReport, options.gapSeconds ?? gapSecondsDefault);
  for await (const { name, chunks } of updates) {
    run.begin(name);
    for await (const batch of readRecords(chunks, { name })) for (const reading of batch) run.take(reading);
  }
  table.emit(sink, run.report.lastTimestamp);
  return { rib: ribReport, updates: run.report };
}

/** Applies the records of update files, one by one. */
class UpdateRun {
  readonly #table: RouteTable;
  readonly #ribFrom: number;
  readonly #gapSeconds: number;
  /** Time of the latest record so far: the RIB's last at first. */
  #latest: number;
  #name = "";
  /** The file at hand has had no record yet. */
  #first = true;
  readonly report: UpdatesReport;

  constructor(table: RouteTable, { firstTimestamp, lastTimestamp }: RibReport, gapSeconds: number) {
    this.#table = table;
    this.#ribFrom = firstTimestamp;
    this.#latest = lastTimestamp;
    this.#gapSeconds = gapSeconds;
    this.report = {
      records: 0,
      announced: 0,
      withdrawn: 0,
      withdrawnUnknown: 0,
      sessionsLost: 0,
      routesLost: 0,
      beforeRib: 0,
      sent: 0,
      otherFamilies: 0,
      bad: 0,
      badExamples: [],
      unread: 0,
      gaps: [],
      lastTimestamp,
    };
  }

  begin(name: string): void {
    this.#name = name;
    this.#first = true;
  }

  take(reading: RecordReading): void {
    const { report } = this;
    const { timestamp, offset } = reading.header;
    report.records++;
    if (this.#first && timestamp - this.#latest > this.#gapSeconds) report.gaps.push({ from: this.#latest, to: timestamp });
    this.#first = false;
    this.#latest = Math.max(this.#latest, timestamp);
    if ("fault" in reading) {
      report.bad++;
      if (report.badExamples.length < badExamplesMax) report.badExamples.push({ name: this.#name, offset, detail: reading.fault.detail });
      return;
    }
    const { body } = reading;
    if (body.kind !== "update" && body.kind !== "state-change") {
      report.unread++;
    } else if (timestamp < this.#ribFrom) {
      // A RIB takes a while to write. What came while it was written may stand in it already: it is applied again, which does no harm.
      report.beforeRib++;
    } else {
      report.lastTimestamp = Math.max(report.lastTimestamp, timestamp);
      if (body.kind === "update") this.#update(body, timestamp);
      else this.#stateChange(body);
    }
  }

  #stateChange({ session: { peer }, oldState, newState }: StateChangeBody): void {
    if (peer.address === null || oldState !== established || newState === established) return;
    this.report.sessionsLost++;
    this.report.routesLost += this.#table.removePeer(this.#table.peerOf(peer.address, peer.asn));
  }

  /** Withdrawals first: a prefix that is in both is announced (RFC 4271 §3.1 and §4.3). */
  #update({ session: { peer }, sent, withdrawn, attributes, announced }: UpdateBody, at: number): void {
    if (sent || peer.address === null) {
      this.report.sent++;
      return;
    }
    const number = this.#table.peerOf(peer.address, peer.asn);
    this.#withdraw(withdrawn, number);
    for (const { safi, prefixes } of attributes.mpUnreach) if (this.#ofConcern(safi, prefixes)) this.#withdraw(prefixes, number);
    const reached = attributes.mpReach.filter(({ safi, prefixes }) => this.#ofConcern(safi, prefixes));
    if (announced.length === 0 && reached.length === 0) return;
    const path = this.#path(attributes);
    for (const prefixes of [announced, ...reached.map((reach) => reach.prefixes ?? [])]) {
      for (const { prefix, pathId } of prefixes) this.#table.announce(prefix, number, pathId ?? 0, path, at);
      this.report.announced += prefixes.length;
    }
  }

  #withdraw(prefixes: readonly RoutePrefix[], peer: number): void {
    for (const { prefix, pathId } of prefixes) {
      if (this.#table.withdraw(prefix, peer, pathId ?? 0)) this.report.withdrawn++;
      else this.report.withdrawnUnknown++;
    }
  }

  /** Of IP, unicast. */
  #ofConcern(safi: number, prefixes: readonly RoutePrefix[] | null): prefixes is readonly RoutePrefix[] {
    if (safi === 1 && prefixes !== null) return true;
    this.report.otherFamilies += prefixes?.length ?? 1;
    return false;
  }

  #path({ asPath }: PathAttributes): number {
    return this.#table.pathOf(encodePath(asPath ?? []));
  }
}
