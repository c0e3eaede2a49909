/** Records as JSON values: every field by its name, addresses and prefixes as text, unknown bytes as hexadecimal digits. */

import { type Address, formatAddress, formatIpv4, formatPrefix } from "@netfacts/address";
import { type PathSegment, segmentsText } from "../as-path.ts";
import type { Aggregator } from "../attribute/aggregator.ts";
import type { MpReach } from "../attribute/mp-reach-nlri.ts";
import type { MpUnreach } from "../attribute/mp-unreach-nlri.ts";
import type { PathAttributes } from "../attribute/path-attributes.ts";
import { recordSubtypeName, recordTypeName } from "../header.ts";
import type { MrtRecord, RecordBody, RecordHeader, RibRoute, Session, Speaker } from "../record/mrt-record.ts";
import type { RoutePrefix } from "../record/prefixes.ts";

const origins = ["igp", "egp", "incomplete"];

/** For `JSON.stringify`. An attribute that a route does not have is not there. */
export function recordJson({ header, body }: MrtRecord): Record<string, unknown> {
  return { ...headerJson(header), ...bodyJson(body) };
}

function headerJson({ offset, timestamp, microseconds, type, subtype }: RecordHeader) {
  return {
    offset,
    timestamp,
    ...(microseconds === null ? {} : { microseconds }),
    type: recordTypeName(type),
    subtype: recordSubtypeName(type, subtype),
  };
}

function bodyJson(body: RecordBody): Record<string, unknown> {
  const { kind } = body;
  switch (kind) {
    case "peer-index": {
      const { collectorId, viewName, peers } = body.table;
      return {
        kind,
        collector_id: formatIpv4(collectorId),
        view: viewName,
        peers: peers.map(({ address, asn, bgpId }) => ({ address: formatAddress(address), asn, bgp_id: formatIpv4(bgpId) })),
      };
    }
    case "rib":
      return { kind, sequence: body.sequence, prefix: formatPrefix(body.prefix), routes: body.routes.map(routeJson) };
    case "update":
      return {
        kind,
        ...sessionJson(body.session),
        sent: body.sent,
        withdrawn: body.withdrawn.map(prefixJson),
        announced: body.announced.map(prefixJson),
        attributes: attributesJson(body.attributes),
      };
    case "state-change":
      return { kind, ...sessionJson(body.session), old_state: body.oldState, new_state: body.newState };
    case "open": {
      const { session, sent, version, asn, holdTime, bgpId, parameters } = body;
      const open = { version, asn, hold_time: holdTime, bgp_id: formatIpv4(bgpId), parameters };
      return { kind, ...sessionJson(session), sent, ...open };
    }
    case "notification":
      return { kind, ...sessionJson(body.session), sent: body.sent, code: body.code, subcode: body.subcode, data: body.data };
    case "unread":
      return { kind, what: body.what };
    default:
      return { kind, ...sessionJson(body.session), sent: body.sent };
  }
}

function routeJson({ peer, originatedAt, pathId, attributes }: RibRoute) {
  return {
    peer: speakerJson(peer),
    originated_at: originatedAt,
    ...(pathId === null ? {} : { path_id: pathId }),
    attributes: attributesJson(attributes),
  };
}

function sessionJson({ peer, local }: Session) {
  return { peer: speakerJson(peer), ...(local === null ? {} : { local: speakerJson(local) }) };
}

function speakerJson({ address, asn }: Speaker) {
  return { address: addressJson(address), asn };
}

function addressJson(address: Address | null): string | null {
  return address === null ? null : formatAddress(address);
}

/** A text; with its path identifier where there is one. */
function prefixJson({ prefix, pathId }: RoutePrefix) {
  return pathId === null ? formatPrefix(prefix) : { prefix: formatPrefix(prefix), path_id: pathId };
}

/** For `JSON.stringify`. */
export function attributesJson(attributes: PathAttributes): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  const put = <Value>(name: string, value: Value | null, write: (value: Value) => unknown = (same) => same): void => {
    if (value !== null) json[name] = write(value);
  };
  put("origin", attributes.origin, (code) => origins[code]);
  put("as_path", attributes.asPath, segmentsText);
  put("as_path_segments", attributes.asPath, (segments) => segments.map(segmentJson));
  put("next_hop", attributes.nextHop, addressJson);
  put("multi_exit_disc", attributes.multiExitDisc);
  put("local_pref", attributes.localPref);
  if (attributes.atomicAggregate) json.atomic_aggregate = true;
  put("aggregator", attributes.aggregator, aggregatorJson);
  put("communities", attributes.communities, (values) => values.map((value) => `${value >>> 16}:${value & 0xffff}`));
  put("originator_id", attributes.originatorId, addressJson);
  put("cluster_list", attributes.clusterList, (list) => list.map(addressJson));
  if (attributes.mpReach.length > 0) json.mp_reach_nlri = attributes.mpReach.map(reachJson);
  if (attributes.mpUnreach.length > 0) json.mp_unreach_nlri = attributes.mpUnreach.map(unreachJson);
  put("extended_communities", attributes.extendedCommunities);
  put("as4_path", attributes.as4Path, segmentsText);
  put("as4_aggregator", attributes.as4Aggregator, aggregatorJson);
  put("large_communities", attributes.largeCommunities, (values) => values.map((parts) => parts.join(":")));
  if (attributes.unknown.length > 0) json.unknown = attributes.unknown;
  if (attributes.discarded.length > 0) json.discarded = attributes.discarded.map(({ type, reason }) => ({ type, reason }));
  return json;
}

function segmentJson({ type, asns }: PathSegment) {
  return { type, asns };
}

function aggregatorJson({ asn, address }: Aggregator) {
  return { asn, address: addressJson(address) };
}

function reachJson({ afi, safi, nextHop, linkLocal, prefixes }: MpReach) {
  const hops = { next_hop: addressJson(nextHop), ...(linkLocal === null ? {} : { link_local: addressJson(linkLocal) }) };
  return { afi, safi, ...hops, prefixes: prefixes?.map(prefixJson) ?? null };
}

function unreachJson({ afi, safi, prefixes }: MpUnreach) {
  return { afi, safi, prefixes: prefixes?.map(prefixJson) ?? null };
}
