/** The record of one address: allocation, routing, RPKI, location, flag and links. */

import { type Address, embeddedIpv4, formatAddress, formatPrefix, hostPrefix } from "@netfacts/address";
import type { IpRecord, IpRouting, RpkiSummary } from "@netfacts/contracts";
import { isGlobal, lookupSpecialPurpose, matchRoute, type SectionName } from "@netfacts/snapshot";
import type { AnswerNotes } from "./answer.ts";
import { countryFlag } from "./country-flag.ts";
import { locationRecord } from "./location.ts";
import { networkTypesOfAddress } from "./network-type.ts";
import { allocationRecord, specialPurposeRecord } from "./registration-parts.ts";
import {
  announcedOf,
  asSetOriginRecord,
  lowVisibilityRecord,
  moasRecord,
  noMoas,
  originSummary,
  rpkiSummary,
  viewRoute,
  visibilityRecord,
  warnAboutDefaultRoute,
  warnAboutOrigins,
  warnAboutRoute,
  warnAboutSetVrps,
} from "./route-parts.ts";

/** The record without `meta`, which `notes` provides. */
export type IpRecordBody = Omit<IpRecord, "meta">;

/** The sections that the record reads, in the order in which it notes them. */
export const ipSections = [
  "allocations",
  "routes",
  "vrps",
  "as_names",
  "profiles",
  "network_types",
  "locations",
] as const satisfies readonly SectionName[];

/** The record of an address, from one generation. Warnings and the sections used go to `notes`. */
export function ipRecord(ip: Address, notes: AnswerNotes): IpRecordBody {
  const { generation } = notes;
  notes.use(...ipSections);
  const block = lookupSpecialPurpose(ip);
  const { allocations } = generation;
  const records = allocations?.recordsAt(ip) ?? [];
  const allocation = allocationRecord(generation, records);
  const location = locationRecord(generation, ip, allocation?.registration_country ?? null);
  const { routing, rpki } = routingOf(ip, records, notes);
  const text = formatAddress(ip);
  const embedded = embeddedIpv4(ip);
  return {
    ip: text,
    version: ip.version,
    special_purpose: specialPurposeRecord(block),
    is_global: isGlobal(ip, block),
    ...(embedded && { embedded_ipv4: formatAddress(embedded) }),
    allocation,
    country_flag: countryFlag(location?.country ?? allocation?.registration_country ?? null),
    routing,
    rpki,
    ...networkTypesOfAddress(
      generation,
      ip,
      routing.origins.map(({ asn }) => asn),
    ),
    location,
    links: {
      routing: `/api/v1/routing/${text}`,
      prefix: routing.prefix === null ? null : `/api/v1/prefix/${routing.prefix}`,
      asn: routing.origins.flatMap((origin) => (origin.asn === null ? [] : [`/api/v1/asn/AS${origin.asn}`])),
      reverse_dns: `/api/v1/reverse-dns/${text}`,
      ...(embedded && { embedded_ipv4: `/api/v1/ip/${formatAddress(embedded)}` }),
    },
  };
}

function routingOf(ip: Address, records: readonly number[], notes: AnswerNotes): { routing: IpRouting; rpki: RpkiSummary } {
  const { generation } = notes;
  const { routes, allocations } = generation;
  const match = routes === null ? null : matchRoute(routes, ip, generation.matchPeersMin(ip.version));
  if (routes === null || match === null || match.entry < 0) {
    const announced = announcedOf(generation, ip.version);
    if (match?.defaultOnly) warnAboutDefaultRoute(notes, ip, announced);
    return { routing: unannounced(announced), rpki: rpkiSummary(generation, null, hostPrefix(ip)) };
  }
  const view = viewRoute(routes, match.entry);
  const rpki = rpkiSummary(generation, view, view.prefix);
  const [winner] = records;
  const entry = winner === undefined || allocations === null ? null : allocations.entry(winner);
  warnAboutRoute(notes, view, rpki, entry, match.lowVisibility.length);
  warnAboutOrigins(notes, "routing.", view);
  warnAboutSetVrps(notes, "routing.as_set_origins", view, rpki.covering_vrps);
  return {
    rpki,
    routing: {
      announced: true,
      prefix: formatPrefix(view.prefix),
      moas: moasRecord(view),
      visibility: visibilityRecord(generation, ip.version, view.counts),
      origins: view.shown.origins.map((origin) => originSummary(generation, view, origin, entry)),
      as_set_origins: view.shown.asSets.map((origin) => asSetOriginRecord(notes, view, origin)),
      low_visibility_matches: match.lowVisibility.map((low) => lowVisibilityRecord(generation, routes, low)),
    },
  };
}

function unannounced(announced: false | null): IpRouting {
  return {
    announced,
    prefix: null,
    moas: noMoas(announced),
    visibility: null,
    origins: [],
    as_set_origins: [],
    low_visibility_matches: [],
  };
}
