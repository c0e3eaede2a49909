/** A small world in which every case of docs/design/semantics.md happens once: ten full-feed peers of each family. */

import {
  madeAllocations,
  madeAspas,
  madeLocations,
  madeNames,
  madeNetworkTypes,
  madeProfiles,
  madeRoutes,
  madeVrps,
  route,
} from "./made-sections.ts";
import { type MadeSnapshot, madeAsOf } from "./made-snapshot.ts";

const asOf = Date.parse(madeAsOf) / 1000;

export const world = {
  peersTotal: { ipv4: 10, ipv6: 10 },
  routes: madeRoutes([
    route("0.0.0.0/0", [1, 10]),
    route("::/0", [1, 10]),
    route("193.0.0.0/21", [3333, 9, 4]),
    // Two origins, one valid and one invalid, and a leak inside.
    route("11.0.0.0/8", [100, 10]),
    { ...route("11.1.0.0/16", [100, 8], [200, 3]), full: 10 },
    route("11.1.2.0/24", [200, 1, 2]),
    route("12.0.0.0/8", [[300, 301], 5]),
    route("13.0.0.0/8", [400, 4], [[401, 402], 6]),
    route("14.0.0.0/8", [500, 4], [501, 4]),
    route("10.1.0.0/16", [600, 5]),
    route("15.0.0.0/8", [64512, 5]),
    route("16.0.0.0/8", [700, 5]),
    route("17.0.0.0/8", [null, 5]),
    route("18.0.0.0/8", [800, 10]),
    route("19.0.0.0/8", [0, 5]),
    route("20.0.0.0/8", [900, 5]),
    route("21.0.0.0/8", [1000, 5]),
    route("22.0.0.0/8", [1100, 0, 3]),
    route("2a00:1::/32", [3333, 9]),
    route("2a00:1:1::/48", [3333, 0, 1]),
  ]),
  vrps: madeVrps([
    { prefix: "193.0.0.0/21", asn: 3333, expiresAt: asOf + 86_401 },
    { prefix: "193.0.0.0/24", asn: 3333 },
    { prefix: "11.1.0.0/16", asn: 100 },
    { prefix: "12.0.0.0/8", asn: 300 },
    { prefix: "14.0.0.0/8", asn: 500 },
    { prefix: "18.0.0.0/8", asn: 800, maxLength: 10, loose: true, expiresAt: asOf + 3600 },
    { prefix: "19.0.0.0/8", asn: 0 },
    { prefix: "20.0.0.0/7", asn: 900 },
    { prefix: "21.0.0.0/8", asn: 1000, expiresAt: asOf + 60, ta: null },
  ]),
  aspas: madeAspas([
    { customer: 3333, providers: [100, 200], expiresAt: asOf + 86_401 },
    { customer: 100, providers: [0], ta: null },
  ]),
  allocations: madeAllocations(
    [
      { start: "193.0.0.0", end: "193.0.7.255", status: "assigned", date: 19930901, holder: "h1" },
      { start: "11.0.0.0", end: "11.255.255.255", registry: "arin", country: "US", holder: "h2" },
      { start: "20.0.0.0", end: "20.0.2.255", country: "EU" },
      { start: "20.0.4.0", end: "20.0.4.255", country: null },
      { start: "2a00:1::", end: "2a00:1:ffff:ffff:ffff:ffff:ffff:ffff", holder: "h1" },
      { start: "193.0.0.0", end: "193.0.0.255", registry: "apnic", status: "reserved", country: "AP" },
      { start: "16.0.0.0", end: "16.255.255.255", registry: "lacnic", status: "available", country: null },
    ],
    [
      { first: 3333, holder: "h1", date: 19930901, status: "assigned" },
      { first: 100, holder: "h1" },
      { first: 200, holder: "h2", registry: "arin", country: "US" },
      { first: 700, status: "reserved", country: null },
    ],
  ),
  profiles: madeProfiles({
    3333: {
      organisation: "Réseaux IP Européens",
      website: "https://ripe.example/",
      networkType: { type: "non_profit", basis: "peeringdb:net.info_type", confidence: 0.8 },
    },
    100: { organisation: "Hundred", networkType: { type: "nsp", basis: "operator:overrides", confidence: 1 } },
    501: { networkType: { type: "content", basis: "peeringdb:net.info_type", confidence: 0.5 } },
  }),
  networkTypes: madeNetworkTypes({
    "10.0.0.0/7": "access 0.7",
    "193.0.4.0/24": "office",
    "9.0.0.0/8": "test",
    AS100: "transit 0.9",
    AS1000: "hosting",
  }),
  locations: madeLocations({
    "193.0.4.0/22": "NL,NL-NH,Amsterdam",
    // Its network says that it has no location.
    "193.0.7.0/24": null,
    "11.0.0.0/8": "DE,DE-BE,",
    "20.0.2.0/24": "FR,,",
    "9.0.0.0/8": ",,Springfield",
    "2a00:1:1::/48": "JP,JP-13,Tokyo",
    "193.0.5.0/24": "NL,NL-NH,Amsterdam @52.37,4.9,10,0.93,41,1763676845 @DE,DE-BE,Berlin,577,3,20300 @FR,,,,1,20400",
    "11.1.2.0/24": "FR,, @,,,0.5,1,1763676845",
    "14.0.0.0/24": ",, @-33.8688,151.2093,25,0.71,2,1763676845",
  }),
  names: madeNames({ 3333: "RIPE-NCC-AS", 100: "HUNDRED" }),
} satisfies MadeSnapshot;
