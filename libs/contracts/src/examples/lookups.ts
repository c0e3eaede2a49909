/** Example records of the lookups of addresses, prefixes and AS numbers. */

import type { Allocation, CountryFlag, Holder, ListedNetworkType, NetworkType } from "../parts/registration.ts";
import type { Origin, Visibility } from "../parts/routing.ts";
import type { OriginValidation, RpkiSummary, VrpItem } from "../parts/rpki.ts";
import type { AsnRecord } from "../records/asn.ts";
import type { AsnVrpsRecord } from "../records/asn-vrps.ts";
import type { IpRecord } from "../records/ip.ts";
import type { PrefixRecord } from "../records/prefix.ts";
import type { RoutingRecord } from "../records/routing.ts";
import type { ValidityRecord } from "../records/validity.ts";
import { metaWithData, metaWithRoutes, metaWithVrps } from "./meta.ts";

const visibility: Visibility = { peers_seeing: 352, peers_total: 355, ratio: 0.992, partial_peers_seeing: 41 };
const vrp: VrpItem = { asn: 3333, prefix: "193.0.0.0/21", max_length: 21, ta: "ripe", expires_at: "2026-11-22T04:11:09Z" };
const validation: OriginValidation = {
  state: "valid",
  reason: null,
  description: "At least one VRP matches the route's prefix and origin",
  vrps: { matched: [vrp], unmatched_as: [], unmatched_length: [] },
  notes: [],
};
const rpki: RpkiSummary = {
  state: "valid",
  reason: null,
  mixed: false,
  by_state: { valid: { origins: 1, peers_seeing: 352 } },
  covering_vrps: 1,
};
const holder: Holder = {
  id: "3e8e22ba-0d5c-4bd4-8f1e-2f1a5c1f6a2b",
  asns: [3333],
  asn_count: 1,
  name: "RIPE-NCC-AS",
  basis: "delegated-extended:opaque-id+as-names",
};
const block = { start: "193.0.0.0", end: "193.0.7.255", cidrs: ["193.0.0.0/21"] };
const allocation: Allocation = {
  registry: "ripencc",
  status: "assigned",
  registration_country: "NL",
  block,
  allocated_on: "1993-09-01",
  conflicts: [],
  holder,
};
const flag: CountryFlag = { country: "NL", name: "Netherlands", emoji: "🇳🇱", svg_url: "/flags/nl.svg" };
const networkType: NetworkType = { type: "non_profit", basis: "peeringdb:net.info_type", confidence: 0.8 };
const networkTypes: ListedNetworkType[] = [{ ...networkType, prefix: null, asn: 3333, provider: null, region: null, services: [] }];
const moas = { is_moas: false, origin_count: 1 };
const origin: Origin = {
  asn: 3333,
  name: "RIPE-NCC-AS",
  registration_country: "NL",
  special_purpose: null,
  same_holder_as_allocation: true,
  visibility,
  first_seen_at: "2024-02-11T00:00:00Z",
  last_seen_at: "2026-11-21T08:55:00Z",
  rpki: validation,
};

export const ipExample: IpRecord = {
  ip: "193.0.6.139",
  version: 4,
  special_purpose: null,
  is_global: true,
  allocation,
  country_flag: flag,
  routing: {
    announced: true,
    prefix: "193.0.0.0/21",
    moas,
    visibility,
    origins: [{ asn: 3333, name: "RIPE-NCC-AS", special_purpose: null, same_holder_as_allocation: true, visibility, rpki_state: "valid" }],
    as_set_origins: [],
    low_visibility_matches: [],
  },
  rpki,
  network_type: networkType,
  network_types: networkTypes,
  location: {
    country: "NL",
    region: "NL-NH",
    city: "Amsterdam",
    latitude: 52.37,
    longitude: 4.9,
    radius_km: 10,
    basis: "observation",
    confidence: 0.93,
    observations: 41,
    last_observed_at: "2026-11-20T22:14:05Z",
    outliers: {
      observations: 2,
      items: [{ country: "DE", region: "DE-BE", city: "Berlin", distance_km: 576, observations: 2, last_observed_on: "2026-10-02" }],
    },
    agrees_with_registration: true,
  },
  links: {
    routing: "/api/v1/routing/193.0.6.139",
    prefix: "/api/v1/prefix/193.0.0.0/21",
    asn: ["/api/v1/asn/AS3333"],
    reverse_dns: "/api/v1/reverse-dns/193.0.6.139",
  },
  meta: metaWithData,
};

export const routingExample: RoutingRecord = {
  ip: "193.0.6.139",
  announced: true,
  match: { prefix: "193.0.0.0/21", type: "longest" },
  visibility,
  origins: [{ ...origin, upstreams: [{ asn: 1103, name: "SURFNET-NL", paths: 146, share: 0.41 }] }],
  as_set_origins: [],
  low_visibility_matches: [],
  moas,
  rpki,
  less_specifics: [{ prefix: "193.0.0.0/20", origins: [3333], as_set_origins: [], rpki_state: "not-found", visibility_ratio: 0.98 }],
  more_specifics: { count: 0, items: [], truncated: false },
  meta: metaWithData,
};

export const asnExample: AsnRecord = {
  asn: 3333,
  asdot: "3333",
  name: "RIPE-NCC-AS",
  organisation: "Reseaux IP Europeens",
  organisation_country: "NL",
  website: null,
  registry: "ripencc",
  registration_country: "NL",
  country_flag: flag,
  status: "allocated",
  allocated_on: "1993-09-01",
  holder,
  special_purpose: null,
  allocations: { items: [{ registry: "ripencc", block, allocated_on: "1993-09-01" }], total: 4, next_cursor: null },
  network_type: networkType,
  network_types: networkTypes,
  announced: true,
  first_seen_at: "2024-02-11T00:00:00Z",
  last_seen_at: "2026-11-21T08:55:00Z",
  counts: {
    ipv4: { prefixes: 6, prefixes_aggregated: 5, addresses: 11_264, largest: 21 },
    ipv6: { prefixes: 4, prefixes_aggregated: 3, slash48s: 65_540, largest: 32 },
    moas_prefixes: 0,
    low_visibility_prefixes: 0,
  },
  rpki: { valid: 10, invalid: 0, not_found: 0, valid_share: 1, vrps_for_this_as: 12 },
  aspa: { present: true, providers: [1103, 3356], expires_at: "2026-11-22T04:11:09Z", ta: "ripe" },
  neighbours: {
    method: "observed-paths",
    counts: { left: 14, right: 0, uncertain: 4 },
    items: [
      {
        asn: 1103,
        name: "SURFNET-NL",
        position: "left",
        paths_left: 1_210,
        paths_right: 0,
        share: 0.41,
        ipv4: true,
        ipv6: true,
        aspa: "provider",
      },
    ],
    next_cursor: null,
  },
  prefixes: {
    items: [{ prefix: "193.0.0.0/21", visibility_ratio: 0.992, rpki_state: "valid", is_moas: false }],
    total: 10,
    limit: 100,
    next_cursor: null,
  },
  meta: metaWithData,
};

export const prefixExample: PrefixRecord = {
  prefix: "193.0.0.0/21",
  version: 4,
  special_purpose: null,
  announced: true,
  match: { prefix: "193.0.0.0/21", type: "exact" },
  visibility,
  origins: [origin],
  as_set_origins: [],
  moas,
  rpki,
  vrps: { covering: [vrp], more_specific_count: 0, unannounced: [], next_cursor: null },
  less_specifics: [],
  more_specifics: { count: 0, items: [], announced_share: 1, next_cursor: null },
  allocation: { relation: "equal", total: 1, blocks: [allocation], next_cursor: null },
  meta: metaWithData,
};

export const validityExample: ValidityRecord = { route: { asn: 3333, prefix: "193.0.0.0/21" }, rpki: validation, meta: metaWithVrps };

export const asnVrpsExample: AsnVrpsRecord = {
  asn: 3333,
  name: "RIPE-NCC-AS",
  counts: { vrps: 1, unannounced: 0, max_length_loose: 0 },
  vrps: { items: [{ ...vrp, announced_prefixes: 1, max_length_loose: false }], total: 1, limit: 100, next_cursor: null },
  meta: metaWithRoutes,
};
