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

/** A value for `JSON.stringify`. Attributes that a route does not have are absent. */
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

/** A text, or an object with the path identifier if there is one. */
function prefixJson({ prefix, pathId }: RoutePrefix) {
  return pathId === null ? formatPrefix(prefix) : { prefix: formatPrefix(prefix), path_id: pathId };
}

type Json = Record<string, unknown>;

/** The members of each attribute that is present, in the order of the output. */
const members: { readonly [Field in keyof PathAttributes]: (value: NonNullable<PathAttributes[Field]>) => Json } = {
  origin: (code) => ({ origin: origins[code] }),
  asPath: (segments) => ({ as_path: segmentsText(segments), as_path_segments: segments.map(segmentJson) }),
  nextHop: (address) => ({ next_hop: addressJson(address) }),
  multiExitDisc: (value) => ({ multi_exit_disc: value }),
  localPref: (value) => ({ local_pref: value }),
  atomicAggregate: (isThere) => (isThere ? { atomic_aggregate: true } : {}),
  aggregator: (value) => ({ aggregator: aggregatorJson(value) }),
  communities: (values) => ({ communities: values.map((value) => `${value >>> 16}:${value & 0xffff}`) }),
  originatorId: (address) => ({ originator_id: addressJson(address) }),
  clusterList: (list) => ({ cluster_list: list.map(addressJson) }),
  mpReach: (list) => (list.length > 0 ? { mp_reach_nlri: list.map(reachJson) } : {}),
  mpUnreach: (list) => (list.length > 0 ? { mp_unreach_nlri: list.map(unreachJson) } : {}),
  extendedCommunities: (values) => ({ extended_communities: values }),
  as4Path: (segments) => ({ as4_path: segmentsText(segments) }),
  as4Aggregator: (value) => ({ as4_aggregator: aggregatorJson(value) }),
  largeCommunities: (values) => ({ large_communities: values.map((parts) => parts.join(":")) }),
  unknown: (list) => (list.length > 0 ? { unknown: list } : {}),
  discarded: (list) => (list.length > 0 ? { discarded: list.map(({ type, reason }) => ({ type, reason })) } : {}),
};
// Each function gets the value of its own field.
const membersOf = Object.entries(members) as [keyof PathAttributes, (value: unknown) => Json][];

/** A value for `JSON.stringify`. */
export function attributesJson(attributes: PathAttributes): Json {
  const json: Json = {};
  for (const [field, write] of membersOf) {
    const value = attributes[field];
    if (value !== null) Object.assign(json, write(value));
  }
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
