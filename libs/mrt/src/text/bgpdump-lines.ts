/** Records as the lines of `bgpdump -m` (1.6.2): what it prints of what both read is printed here the same. See docs/decisions for the rest. */

import type { Address } from "@netfacts/address";
import { segmentsText } from "../as-path.ts";
import type { PathAttributes } from "../attribute/path-attributes.ts";
import { bgp, bgp4mpEt, tableDump } from "../header.ts";
import type { MrtRecord, RecordHeader, RibBody, Session, StateChangeBody, UpdateBody } from "../record/mrt-record.ts";
import type { RoutePrefix } from "../record/prefixes.ts";
import { addressText, prefixText } from "./address-text.ts";

const origins = ["IGP", "EGP", "INCOMPLETE"];
const wellKnownCommunities: ReadonlyMap<number, string> = new Map([
  [0xffffff01, "no-export"],
  [0xffffff02, "no-advertise"],
  [0xffffff03, "local-AS"],
]);
/** What stands for a next hop that is not there, and never for an aggregator. */
const noAddress = "255.255.255.255";
/** The order in which a message's families are printed: AFI, SAFI. */
const families = [
  [1, 1],
  [1, 2],
  [1, 3],
  [2, 1],
  [2, 2],
  [2, 3],
] as const;

/** The lines of one record, each with its newline; none for what `bgpdump -m` passes over. Lazy: a record can have very many. */
export function* bgpdumpLines({ header, body }: MrtRecord): Generator<string, void, undefined> {
  switch (body.kind) {
    case "rib":
      yield* ribLines(header, body);
      return;
    case "update":
      yield* updateLines(header, body);
      return;
    case "state-change":
      yield stateLine(header, body);
  }
}

function* ribLines({ type, timestamp }: RecordHeader, { prefix, addPath, routes }: RibBody): Generator<string, void, undefined> {
  const name = type === tableDump ? "TABLE_DUMP" : addPath ? "TABLE_DUMP2_AP" : "TABLE_DUMP2";
  const head = `${name}|${timestamp}|B|`;
  const text = prefixText(prefix);
  for (const { peer, pathId, attributes } of routes) {
    const route = `${head}${addressText(peer.address)}|${peer.asn}|${text}|${pathId === null ? "" : `${pathId}|`}`;
    yield `${route}${pathColumns(attributes)}|${ribNextHop(attributes)}|${restColumns(attributes, "|")}\n`;
  }
}

function ribNextHop({ mpReach, nextHop }: PathAttributes): string {
  const reach = mpReach.find(({ afi, safi }) => afi === 2 && safi === 1) ?? mpReach.find(({ afi, safi }) => afi === 1 && safi === 1);
  return hopText(reach?.nextHop ?? nextHop);
}

function* updateLines(header: RecordHeader, body: UpdateBody): Generator<string, void, undefined> {
  const { attributes, session, withdrawn, announced } = body;
  const { mpReach, mpUnreach } = attributes;
  const name = updateName(header, body);
  const peer = peerColumns(session);
  if (withdrawn.length > 0 || mpUnreach.length > 0) {
    const head = `${name}|${timeText(header)}|W|${peer}|`;
    yield* withdrawnLines(head, withdrawn);
    for (const [afi, safi] of families) {
      for (const unreach of mpUnreach)
        if (unreach.afi === afi && unreach.safi === safi) yield* withdrawnLines(head, unreach.prefixes ?? []);
    }
  }
  if (announced.length === 0 && mpReach.length === 0) return;
  const head = `${name}|${timeText(header)}|A|${peer}|`;
  const path = pathColumns(attributes);
  // bgpdump puts no separator before the communities of the old type, and no column where there are none.
  const rest = restColumns(attributes, header.type === bgp ? "" : "|");
  yield* announcedLines(head, announced, `|${path}|${hopText(attributes.nextHop)}|${rest}\n`);
  for (const [afi, safi] of families) {
    for (const reach of mpReach) {
      if (reach.afi !== afi || reach.safi !== safi) continue;
      yield* announcedLines(head, reach.prefixes ?? [], `|${path}|${hopText(reach.nextHop)}|${rest}\n`);
    }
  }
}

function* withdrawnLines(head: string, prefixes: readonly RoutePrefix[]): Generator<string, void, undefined> {
  for (const { prefix, pathId } of prefixes) yield `${head}${prefixText(prefix)}${pathId === null ? "" : `|${pathId}`}\n`;
}

function* announcedLines(head: string, prefixes: readonly RoutePrefix[], tail: string): Generator<string, void, undefined> {
  for (const { prefix, pathId } of prefixes) yield `${head}${prefixText(prefix)}${pathId === null ? "" : `|${pathId}`}${tail}`;
}

function stateLine(header: RecordHeader, { session, oldState, newState }: StateChangeBody): string {
  return `${sessionName(header)}|${timeText(header)}|STATE|${peerColumns(session)}|${oldState}|${newState}\n`;
}

function updateName(header: RecordHeader, { sent, addPath }: UpdateBody): string {
  return `${sessionName(header)}${sent ? "_LOCAL" : ""}${addPath ? "_AP" : ""}`;
}

function sessionName({ type }: RecordHeader): string {
  return type === bgp ? "BGP" : type === bgp4mpEt ? "BGP4MP_ET" : "BGP4MP";
}

function timeText({ timestamp, microseconds }: RecordHeader): string {
  return microseconds === null ? String(timestamp) : `${timestamp}.${String(microseconds).padStart(6, "0")}`;
}

function peerColumns({ peer }: Session): string {
  return `${peer.address === null ? "0.0.0.0" : addressText(peer.address)}|${peer.asn}`;
}

function hopText(address: Address | null): string {
  return address === null ? noAddress : addressText(address);
}

/** `path|origin`. */
function pathColumns({ asPath, origin }: PathAttributes): string {
  return `${asPath === null ? "" : segmentsText(asPath)}|${origins[origin ?? 2]}`;
}

/** `local pref|MED|communities|AG or NAG|aggregator|`. @param separator  what stands before the communities. */
function restColumns({ localPref, multiExitDisc, communities, atomicAggregate, aggregator }: PathAttributes, separator: string): string {
  const listed = communities === null ? "" : communities.map(communityText).join(" ");
  const column = communities === null && separator === "" ? "" : separator + listed;
  const by = aggregator === null ? null : addressText(aggregator.address);
  const aggregated = by === null || by === noAddress ? "" : `${aggregator?.asn} ${by}`;
  return `${localPref ?? 0}|${multiExitDisc ?? 0}${column}|${atomicAggregate ? "AG" : "NAG"}|${aggregated}|`;
}

function communityText(value: number): string {
  return wellKnownCommunities.get(value) ?? `${value >>> 16}:${value & 0xffff}`;
}
