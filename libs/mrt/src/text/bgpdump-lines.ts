/** Records as the lines of `bgpdump -m` (1.6.2): the same text for every record that both can read. Differences: docs/decisions/0013-mrt-lines-and-bgpdump.md. */

import type { Address, Prefix } from "@netfacts/address";
import { segmentBrackets } from "../as-path.ts";
import type { PathAttributes } from "../attribute/path-attributes.ts";
import { bgp, bgp4mpEt, tableDump } from "../header.ts";
import type { MrtRecord, RecordHeader, RibBody, Session, StateChangeBody, UpdateBody } from "../record/mrt-record.ts";
import type { RoutePrefix } from "../record/prefixes.ts";
import { LineBuffer } from "./line-buffer.ts";

const bar = 0x7c;
const newline = 0x0a;
const space = 0x20;
const slash = 0x2f;
const colon = 0x3a;
/** Lines are passed on in pieces of about this size: a record of 64 kB can have lines of gigabytes. */
const pieceBytes = 1 << 18;

const origins = ["IGP", "EGP", "INCOMPLETE"];
const wellKnownCommunities: ReadonlyMap<number, string> = new Map([
  [0xffffff01, "no-export"],
  [0xffffff02, "no-advertise"],
  [0xffffff03, "local-AS"],
]);
const wellKnownFrom = 0xffffff01;
/** Printed for a missing next hop, and never for an aggregator. */
const noAddress: Address = { version: 4, w0: 0xffffffff, w1: 0, w2: 0, w3: 0 };
/** Printed for an address that a writer left out. */
const leftOut: Address = { version: 4, w0: 0, w1: 0, w2: 0, w3: 0 };
/** The order in which a message's families are printed: AFI, SAFI. */
const families = [
  [1, 1],
  [1, 2],
  [1, 3],
  [2, 1],
  [2, 2],
  [2, 3],
] as const;

/** Initial size; most records print less. */
const recordBytes = 1_024;

/** The lines of one record, each with its newline, in pieces of whole lines; no piece for records that `bgpdump -m` skips. */
export function* bgpdumpLines(record: MrtRecord): Generator<string, void, undefined> {
  const out = new LineBuffer(recordBytes);
  for (const _ of writeBgpdumpLines(record, out)) yield Buffer.from(out.take()).toString("latin1");
  if (out.length > 0) yield Buffer.from(out.take()).toString("latin1");
}

/** Writes the lines of one record. Yields after a line that makes `out` large, so that the caller can take it; then continues. */
export function* writeBgpdumpLines({ header, body }: MrtRecord, out: LineBuffer): Generator<void, void, undefined> {
  switch (body.kind) {
    case "rib":
      yield* ribLines(header, body, out);
      return;
    case "update":
      yield* updateLines(header, body, out);
      return;
    case "state-change":
      stateLine(header, body, out);
  }
}

function* ribLines(
  { type, timestamp }: RecordHeader,
  { prefix, addPath, routes }: RibBody,
  out: LineBuffer,
): Generator<void, void, undefined> {
  const head = `${type === tableDump ? "TABLE_DUMP" : addPath ? "TABLE_DUMP2_AP" : "TABLE_DUMP2"}|${timestamp}|B|`;
  for (const { peer, pathId, attributes } of routes) {
    out.text(head);
    out.address(peer.address);
    out.char(bar);
    out.number(peer.asn);
    out.char(bar);
    writePrefix(prefix, pathId, out);
    out.char(bar);
    writeRouteColumns(attributes, out);
    if (out.length >= pieceBytes) yield;
  }
}

/** Writes the columns after the prefix in a RIB's line: `path|origin|next hop|…|`, and the newline. */
export function writeRouteColumns(attributes: PathAttributes, out: LineBuffer): void {
  writeAttributes(attributes, ribNextHop(attributes), true, out);
}

function ribNextHop({ mpReach, nextHop }: PathAttributes): Address | null {
  if (mpReach.length === 0) return nextHop;
  const reach = mpReach.find(({ afi, safi }) => afi === 2 && safi === 1) ?? mpReach.find(({ afi, safi }) => afi === 1 && safi === 1);
  return reach?.nextHop ?? nextHop;
}

function* updateLines(header: RecordHeader, body: UpdateBody, out: LineBuffer): Generator<void, void, undefined> {
  const { attributes, session, withdrawn, announced } = body;
  const { mpReach, mpUnreach } = attributes;
  if (withdrawn.length > 0 || mpUnreach.length > 0) {
    const head = lineHead(header, updateName(header, body), "W", session);
    yield* prefixLines(head, withdrawn, null, out);
    for (const [afi, safi] of families) {
      for (const unreach of mpUnreach) {
        if (unreach.afi === afi && unreach.safi === safi) yield* prefixLines(head, unreach.prefixes ?? [], null, out);
      }
    }
  }
  if (announced.length === 0 && mpReach.length === 0) return;
  const head = lineHead(header, updateName(header, body), "A", session);
  // bgpdump writes no separator before the communities of the old type, and no column if there are none.
  const separated = header.type !== bgp;
  yield* prefixLines(head, announced, attributesText(attributes, attributes.nextHop, separated), out);
  for (const [afi, safi] of families) {
    for (const reach of mpReach) {
      if (reach.afi !== afi || reach.safi !== safi) continue;
      yield* prefixLines(head, reach.prefixes ?? [], attributesText(attributes, reach.nextHop, separated), out);
    }
  }
}

/** The text of attributes, which is the same after each prefix of a message: written once, as bytes. */
function attributesText(attributes: PathAttributes, hop: Address | null, separated: boolean): Uint8Array {
  writeAttributes(attributes, hop, separated, scratch);
  return scratch.take();
}

const scratch = new LineBuffer();

/** @param tail  text after each prefix, with its newline; null: none. */
function* prefixLines(
  head: string,
  prefixes: readonly RoutePrefix[],
  tail: Uint8Array | null,
  out: LineBuffer,
): Generator<void, void, undefined> {
  for (const { prefix, pathId } of prefixes) {
    out.text(head);
    writePrefix(prefix, pathId, out);
    if (tail === null) {
      out.char(newline);
    } else {
      out.char(bar);
      out.bytes(tail);
    }
    if (out.length >= pieceBytes) yield;
  }
}

function stateLine(header: RecordHeader, { session, oldState, newState }: StateChangeBody, out: LineBuffer): void {
  out.text(`${lineHead(header, sessionName(header), "STATE", session)}${oldState}|${newState}\n`);
}

function updateName(header: RecordHeader, { sent, addPath }: UpdateBody): string {
  return `${sessionName(header)}${sent ? "_LOCAL" : ""}${addPath ? "_AP" : ""}`;
}

function sessionName({ type }: RecordHeader): string {
  return type === bgp ? "BGP" : type === bgp4mpEt ? "BGP4MP_ET" : "BGP4MP";
}

/** `name|time|what|peer address|peer AS|`. */
function lineHead({ timestamp, microseconds }: RecordHeader, name: string, what: string, { peer }: Session): string {
  scratch.address(peer.address ?? leftOut);
  const address = Buffer.from(scratch.take()).toString("latin1");
  const time = microseconds === null ? timestamp : `${timestamp}.${String(microseconds).padStart(6, "0")}`;
  return `${name}|${time}|${what}|${address}|${peer.asn}|`;
}

/** Writes `prefix`, and `|path identifier` if there is one. */
function writePrefix(prefix: Prefix, pathId: number | null, out: LineBuffer): void {
  out.address(prefix);
  out.char(slash);
  out.number(prefix.length);
  if (pathId === null) return;
  out.char(bar);
  out.number(pathId);
}

/**
 * Writes `path|origin|next hop|local pref|MED|communities|AG or NAG|aggregator|`, and the newline. @param separated  write a separator before the
 * communities.
 */
function writeAttributes(attributes: PathAttributes, hop: Address | null, separated: boolean, out: LineBuffer): void {
  const { localPref, multiExitDisc, communities, atomicAggregate, aggregator } = attributes;
  writePath(attributes, out);
  out.char(bar);
  out.text(origins[attributes.origin ?? 2]!);
  out.char(bar);
  out.address(hop ?? noAddress);
  out.char(bar);
  out.number(localPref ?? 0);
  out.char(bar);
  out.number(multiExitDisc ?? 0);
  if (separated) out.char(bar);
  if (communities !== null) writeCommunities(communities, out);
  out.text(atomicAggregate ? "|AG|" : "|NAG|");
  if (aggregator !== null && aggregator.address.w0 !== noAddress.w0) {
    out.number(aggregator.asn);
    out.char(space);
    out.address(aggregator.address);
  }
  out.char(bar);
  out.char(newline);
}

function writePath({ asPath }: PathAttributes, out: LineBuffer): void {
  if (asPath === null) return;
  for (let segment = 0; segment < asPath.length; segment++) {
    const { type, asns } = asPath[segment]!;
    if (segment > 0) out.char(space);
    if (type === "sequence") {
      for (let index = 0; index < asns.length; index++) {
        if (index > 0) out.char(space);
        out.number(asns[index]!);
      }
    } else {
      const [open, separator, close] = segmentBrackets[type];
      out.text(open + asns.join(separator) + close);
    }
  }
}

function writeCommunities(communities: readonly number[], out: LineBuffer): void {
  for (let index = 0; index < communities.length; index++) {
    const value = communities[index]!;
    if (index > 0) out.char(space);
    const name = value < wellKnownFrom ? undefined : wellKnownCommunities.get(value);
    if (name !== undefined) {
      out.text(name);
    } else {
      out.number(value >>> 16);
      out.char(colon);
      out.number(value & 0xffff);
    }
  }
}
