/** Applies records of update files to a table, and counts the effects. */

import type { Address } from "@netfacts/address";
import { timestamp } from "@netfacts/contracts";
import type { MpReach, PathAttributes, RecordReading, RoutePrefix, StateChangeBody, UpdateBody } from "@netfacts/mrt";
import type { ReplayTable } from "./replay-table.ts";

/** Counts of one file of updates. */
export interface UpdateFileCounts {
  readonly name: string;
  /** Time of the first record; null: it has none. */
  readonly from: number | null;
  /** The latest time of a record; null: it has none. */
  readonly latest: number | null;
  readonly records: number;
  readonly bad: number;
  /** Number of table records in a file without updates; 0: the file has updates, or no table records. */
  readonly table: number;
  /** Number of distinct peers in the applied records: those of the RIB, and others. */
  readonly peers: { readonly known: number; readonly others: number };
  /** The first bad record. */
  readonly example: { readonly offset: number; readonly detail: string } | null;
}

/** Times are Unix seconds. */
export interface UpdatesReport {
  records: number;
  /** Applied messages, and changes of session states. */
  messages: number;
  stateChanges: number;
  announced: number;
  /** Removed routes; `withdrawnUnknown` counts withdrawals of routes that were not there. */
  withdrawn: number;
  withdrawnUnknown: number;
  /** Sessions that left Established, or came up although their end was not recorded; and the routes that were removed with them. */
  sessionsLost: number;
  routesLost: number;
  /** Number of peers that the RIB does not have. */
  newPeers: number;
  /** Records older than the RIB, which includes them already. */
  beforeRib: number;
  /** Messages that the collector itself sent, and prefixes of multicast and other families: neither affects the table. */
  sent: number;
  otherFamilies: number;
  /** Records that break their format, with the first examples (see `#apply`); `unread`: records of kinds that do not affect the table. */
  bad: number;
  readonly badExamples: { readonly name: string; readonly offset: number; readonly detail: string }[];
  unread: number;
  /** Silences between the RIB and its first update (the reason of the warning `updates_gap`), or between two files. */
  readonly gaps: { readonly from: number; readonly to: number }[];
  /** Time of the last applied record; of the RIB if there was none. */
  lastTimestamp: number;
}

/**
 * Encodes the attributes of a route that the table keeps; equal results are stored once.
 *
 * @param attributes  as for a route in a RIB: without withdrawals, and with only that MP_REACH_NLRI that announces the route.
 */
export type EncodeAttributes = (attributes: PathAttributes, addPath: boolean) => Uint8Array;

export type BadListener = (name: string, offset: number, detail: string) => void;

const established = 6;
/** Collectors write records in the order of arrival. A larger step in their times is silence, or a wrong time. */
const stepSecondsMax = 600;
const badExamplesMax = 5;
const none: readonly never[] = [];

/** Applies the records of update files, one by one. */
export class UpdateRun {
  readonly #table: ReplayTable;
  readonly #encode: EncodeAttributes;
  readonly #ribFrom: number;
  readonly #gapSeconds: number;
  /** Peers of the RIB have numbers below this. */
  readonly #ribPeers: number;
  /** Latest time of a record so far; at first, that of the RIB's last record. */
  #latest: number;
  /** Time of the last record whose time was right. */
  #clock: number;
  /** The record before the current one: the next record's time shows whether its own is wrong. */
  #held: RecordReading | null = null;
  #name = "";
  /** The current file has had no record yet. */
  #first = true;
  #from: number | null = null;
  #to: number | null = null;
  #recordsBefore = 0;
  #tableRecords = 0;
  #hasUpdates = false;
  /** Numbers of the peers in the current file. */
  readonly #peers = new Set<number>();
  #badBefore = 0;
  #example: UpdateFileCounts["example"] = null;
  readonly #onBad: BadListener | null;
  readonly report: UpdatesReport;

  /**
   * @param rib  times of the table's first and last record
   * @param onBad  called for records that count as bad although they can be read
   */
  constructor(
    table: ReplayTable,
    { firstTimestamp, lastTimestamp }: { readonly firstTimestamp: number; readonly lastTimestamp: number },
    gapSeconds: number,
    encode: EncodeAttributes,
    onBad: BadListener | null = null,
  ) {
    this.#table = table;
    this.#onBad = onBad;
    this.#encode = encode;
    this.#ribFrom = firstTimestamp;
    this.#latest = lastTimestamp;
    this.#clock = lastTimestamp;
    this.#gapSeconds = gapSeconds;
    this.#ribPeers = table.peers;
    this.report = {
      records: 0,
      messages: 0,
      stateChanges: 0,
      announced: 0,
      withdrawn: 0,
      withdrawnUnknown: 0,
      sessionsLost: 0,
      routesLost: 0,
      newPeers: 0,
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
    this.#held = null;
    this.#first = true;
    this.#from = null;
    this.#to = null;
    this.#recordsBefore = this.report.records;
    this.#badBefore = this.report.bad;
    this.#example = null;
    this.#tableRecords = 0;
    this.#hasUpdates = false;
    this.#peers.clear();
  }

  /** Applies the last record of the current file. @returns the counts of the file */
  end(): UpdateFileCounts {
    if (this.#held !== null) this.#apply(this.#held, this.#nextOfLast(this.#held.header.timestamp));
    this.#held = null;
    this.report.newPeers = this.#table.peers - this.#ribPeers;
    const { records, bad } = this.report;
    const known = [...this.#peers].filter((number) => number < this.#ribPeers).length;
    return {
      name: this.#name,
      from: this.#from,
      latest: this.#to,
      records: records - this.#recordsBefore,
      bad: bad - this.#badBefore,
      table: this.#hasUpdates ? 0 : this.#tableRecords,
      peers: { known, others: this.#peers.size - known },
      example: this.#example,
    };
  }

  /**
   * The time to assume for a next record after the last one. The last record may follow a silence, but its time must not be in the past or in the
   * future, unless that is true of the whole file.
   */
  #nextOfLast(written: number): number {
    const isWrong = written < this.#clock || written > Date.now() / 1_000 + stepSecondsMax;
    return isWrong && !this.#first ? this.#clock : written;
  }

  /** Applies a record when the next one is here, or at the end of its file. */
  take(reading: RecordReading): void {
    if (this.#held !== null) this.#apply(this.#held, reading.header.timestamp);
    this.#held = reading;
  }

  /**
   * An UPDATE that breaks its format counts as bad. If its prefixes can be read, all of them are withdrawn (RFC 7606 §2: treat-as-withdraw);
   * otherwise the previous route would stay for hours. The same holds if it announces prefixes without a mandatory attribute (§3 d), or with AS 0 in
   * the path (RFC 7607).
   *
   * A record counts as bad too if its time is far from that of the record before, while the next record continues there. It then gets the time of the
   * record before.
   *
   * @param next  time of the next record of the file; for the last one see `#nextOfLast`.
   */
  #apply(reading: RecordReading, next: number): void {
    const { report } = this;
    const { timestamp: written, offset } = reading.header;
    const isWrongTime = Math.abs(written - this.#clock) > stepSecondsMax && Math.abs(next - this.#clock) < Math.abs(next - written);
    const at = isWrongTime ? this.#clock : written;
    this.#clock = at;
    report.records++;
    if (this.#first && at - this.#latest > this.#gapSeconds) report.gaps.push({ from: this.#latest, to: at });
    if (this.#first) this.#from = at;
    this.#first = false;
    this.#to = Math.max(this.#to ?? 0, at);
    this.#latest = Math.max(this.#latest, at);
    const isBad = "fault" in reading;
    if (isBad) this.#bad(offset, reading.fault.detail);
    else if (isWrongTime)
      this.#unusable(offset, `the time of the record, ${timestamp(written * 1_000)}, is far from that of the records around it`);
    const body = "fault" in reading ? reading.asWithdrawn : reading.body;
    if (body === null) return;
    if (body.kind === "rib" || body.kind === "peer-index") this.#tableRecords++;
    this.#hasUpdates ||= body.kind === "update" || body.kind === "state-change";
    if (body.kind !== "update" && body.kind !== "state-change") {
      report.unread++;
    } else if (at < this.#ribFrom) {
      // A RIB takes some time to be written. It may include updates of that time already: to apply them again does no harm.
      report.beforeRib++;
    } else {
      report.lastTimestamp = Math.max(report.lastTimestamp, at);
      if (body.kind === "state-change") this.#stateChange(body);
      else this.#update(body, at, isBad, offset);
    }
  }

  /** A bad record that can be read. */
  #unusable(offset: number, detail: string): void {
    this.#bad(offset, detail);
    this.#onBad?.(this.#name, offset, detail);
  }

  #bad(offset: number, detail: string): void {
    const { report } = this;
    report.bad++;
    this.#example ??= { offset, detail };
    if (report.badExamples.length < badExamplesMax) report.badExamples.push({ name: this.#name, offset, detail });
  }

  #stateChange({ session: { peer }, oldState, newState }: StateChangeBody): void {
    this.report.stateChanges++;
    if (peer.address === null || (oldState === established) === (newState === established)) return;
    const routes = this.#table.removePeer(this.#peerOf(peer.address, peer.asn));
    // A session begins without routes (RFC 4271 §8). Routes of the previous session remain if its end was not recorded, for example because the
    // collector crashed.
    if (oldState === established || routes > 0) this.report.sessionsLost++;
    this.report.routesLost += routes;
  }

  /**
   * Applies withdrawals first: a prefix that is in both is announced (RFC 4271 §3.1 and §4.3).
   *
   * @param isMalformed  it was counted as bad already, and its announcements count as withdrawals.
   */
  #update(body: UpdateBody, at: number, isMalformed: boolean, offset: number): void {
    const { session, sent, addPath, withdrawn, attributes, announced } = body;
    const { peer } = session;
    if (sent || peer.address === null) {
      this.report.sent++;
      return;
    }
    const unusable = isMalformed ? null : unusableAttribute(body);
    if (unusable !== null) this.#unusable(offset, unusable);
    const isBad = isMalformed || unusable !== null;
    this.report.messages++;
    const number = this.#peerOf(peer.address, peer.asn);
    this.#withdraw(withdrawn, number);
    for (const { safi, prefixes } of attributes.mpUnreach) if (this.#ofConcern(safi, prefixes)) this.#withdraw(prefixes, number);
    const announce = (prefixes: readonly RoutePrefix[], reach: MpReach | null) =>
      isBad ? this.#withdraw(prefixes, number) : this.#announce(prefixes, reach, number, at, attributes, addPath);
    announce(announced, null);
    for (const reach of attributes.mpReach) if (this.#ofConcern(reach.safi, reach.prefixes)) announce(reach.prefixes, reach);
  }

  #peerOf(address: Address, asn: number): number {
    const number = this.#table.peerOf(address, asn);
    this.#peers.add(number);
    return number;
  }

  #announce(
    prefixes: readonly RoutePrefix[],
    reach: MpReach | null,
    peer: number,
    at: number,
    attributes: PathAttributes,
    addPath: boolean,
  ): void {
    if (prefixes.length === 0) return;
    const mpReach = reach === null ? none : [{ ...reach, prefixes: null }];
    const kept = this.#table.pathOf(this.#encode({ ...attributes, mpReach, mpUnreach: none }, addPath));
    for (const { prefix, pathId } of prefixes) this.#table.announce(prefix, peer, pathId ?? 0, kept, at);
    this.report.announced += prefixes.length;
  }

  #withdraw(prefixes: readonly RoutePrefix[], peer: number): void {
    for (const { prefix, pathId } of prefixes) {
      if (this.#table.withdraw(prefix, peer, pathId ?? 0)) this.report.withdrawn++;
      else this.report.withdrawnUnknown++;
    }
  }

  /** Whether the prefixes are unicast IP; counts those that are not. */
  #ofConcern(safi: number, prefixes: readonly RoutePrefix[] | null): prefixes is readonly RoutePrefix[] {
    if (safi === 1 && prefixes !== null) return true;
    this.report.otherFamilies += prefixes?.length ?? 1;
    return false;
  }
}

/**
 * Why the unicast IP prefixes that an UPDATE announces count as withdrawn (RFC 7606 §3 d and RFC 7607). Null: it announces none, or they count as
 * announced.
 */
function unusableAttribute({ announced, attributes }: UpdateBody): string | null {
  const { origin, asPath, nextHop, mpReach } = attributes;
  if (announced.length === 0 && !mpReach.some(({ safi, prefixes }) => safi === 1 && prefixes !== null && prefixes.length > 0)) return null;
  const missing = origin === null ? "ORIGIN" : asPath === null ? "AS_PATH" : announced.length > 0 && nextHop === null ? "NEXT_HOP" : null;
  if (missing !== null) return `the message announces prefixes without ${missing}`;
  return asPath?.some(({ asns }) => asns.includes(0)) ? "AS_PATH has AS 0, which malforms it (RFC 7607)" : null;
}
