/** The answer of each page in one sentence. Names come from outside, so they pass through `plainText`. */

import type { AsnRecord, IpRecord, PrefixRecord, RelatedPrefix, ReverseDnsRecord, ValidityRecord } from "@netfacts/client";
import type { AsSetOrigin, OriginValidation } from "@netfacts/contracts";
import { count, counted, countryName, registryName } from "./format.ts";
import { plainText } from "./plain-text.ts";

/** Why it is not known what is announced. Without routes of a full-feed peer, an absent route proves nothing (docs/design/semantics.md, "Announced, routed, visible"). */
export function unroutedWhy({ meta }: { readonly meta: { readonly data: object } }): string {
  return "routes" in meta.data ? "the loaded routes are not a full table" : "no routes are loaded";
}

type Origin = { readonly asn: number | null; readonly name: string | null };

export function asName({ asn, name }: Origin): string {
  if (asn === null) return "an unknown AS";
  return name === null ? `AS${asn}` : `AS${asn} ${plainText(name)}`;
}

/** The origins of a prefix in a list, a word each: `AS3333`, and an AS_SET as `{64500,64501}`. */
export function originWords({ origins, as_set_origins }: Pick<RelatedPrefix, "origins" | "as_set_origins">): string {
  return listed([...origins.map((asn) => (asn === null ? "unknown AS" : `AS${asn}`)), ...as_set_origins.map(setName)]);
}

interface JudgedOrigins {
  readonly origins: readonly Pick<Origin & { readonly rpki: OriginValidation }, "asn" | "rpki">[] | null;
  readonly as_set_origins: readonly Pick<AsSetOrigin, "as_set" | "rpki">[] | null;
}

/** What RPKI says about each origin: its ASes in the order of the answer, then its AS_SETs. */
export function judged({ origins, as_set_origins }: JudgedOrigins): { readonly name: string; readonly validation: OriginValidation }[] {
  return [
    ...(origins ?? []).map(({ asn, rpki }) => ({ name: asn === null ? "unknown AS" : `AS${asn}`, validation: rpki })),
    ...(as_set_origins ?? []).map(({ as_set, rpki }) => ({ name: `AS_SET ${setName(as_set)}`, validation: rpki })),
  ];
}

export function setName(members: readonly number[]): string {
  return `{${members.join(",")}}`;
}

const namedMax = 3;

/** `AS1 A`, `AS1 A and AS2 B`, `AS1, AS2, AS3 and 4 more`. */
export function listed(items: readonly string[]): string {
  if (items.length > namedMax) return `${items.slice(0, namedMax).join(", ")} and ${items.length - namedMax} more`;
  return items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

function rpkiClause(state: string | null, reason: string | null, mixed: boolean | null): string {
  if (mixed) return "RPKI valid for some origins and invalid for others";
  if (state === null) return "RPKI state unknown";
  if (state === "not-found") return "RPKI not found: no ROA covers it";
  if (state === "valid") return "RPKI valid";
  return reason === "length" ? "RPKI invalid: more specific than any ROA allows" : "RPKI invalid: no ROA allows this origin at this length";
}

function announcedBy(origins: readonly Origin[], asSets: readonly unknown[]): string {
  if (origins.length > 0) return `announced by ${listed(origins.map(asName))}`;
  return asSets.length > 0 ? "announced with an AS_SET as its origin" : "announced, with an unknown origin";
}

export function ipSentence(record: IpRecord): string {
  const { ip, routing, rpki, special_purpose, allocation } = record;
  if (routing.announced === true && routing.prefix !== null)
    return `${ip} is in ${routing.prefix}, ${announcedBy(routing.origins ?? [], routing.as_set_origins ?? [])}, ${rpkiClause(rpki.state, rpki.reason, rpki.mixed)}.`;
  if (special_purpose !== null)
    return `${ip} is in ${special_purpose.block}, reserved for special use: ${plainText(special_purpose.name)}.`;
  if (routing.announced === null) return `Whether ${ip} is announced is unknown: ${unroutedWhy(record)}.`;
  if (allocation === null) return `${ip} is not announced, and no registry lists it.`;
  return `${ip} is not announced. It is ${plainText(allocation.status ?? "registered")} by ${registryName(allocation.registry)}.`;
}

export function prefixSentence(record: PrefixRecord): string {
  const { prefix, announced, match, origins, as_set_origins, rpki, special_purpose, less_specifics } = record;
  if (announced === null) return `Whether ${prefix} is announced is unknown: ${unroutedWhy(record)}.`;
  if (announced && match !== null)
    return `${prefix} is ${announcedBy(origins ?? [], as_set_origins ?? [])}, ${rpkiClause(rpki.state, rpki.reason, rpki.mixed)}.`;
  if (special_purpose !== null) return `${prefix} is not announced. It is reserved for special use: ${plainText(special_purpose.name)}.`;
  const cover = match?.prefix ?? less_specifics?.[0]?.prefix;
  return cover === undefined
    ? `${prefix} is not announced, and no announced prefix covers it.`
    : `${prefix} is not announced itself; it is inside ${cover}.`;
}

export function asSentence(record: AsnRecord): string {
  const { asn, name, announced, counts, rpki, registration_country, special_purpose } = record;
  const who = asName({ asn, name });
  if (special_purpose !== null) return `${who} is reserved for special use.`;
  const where = registration_country === null ? "" : ` (${countryName(registration_country)})`;
  if (announced === null) return `Whether ${who} announces anything is unknown: ${unroutedWhy(record)}.`;
  const families = Object.entries({ IPv4: counts?.ipv4?.prefixes ?? null, IPv6: counts?.ipv6?.prefixes ?? null });
  const unknown = families.filter(([, prefixes]) => prefixes === null);
  const prefixes = families.reduce((sum, [, of]) => sum + (of ?? 0), 0);
  if (!announced || (prefixes === 0 && unknown.length === 0)) return `${who}${where} announces no prefix.`;
  if (unknown.length === families.length) return `${who}${where} announces an unknown number of prefixes.`;
  const missing = unknown.map(([family]) => ` (${family}: unknown)`).join("");
  const invalid = rpki?.invalid ?? null;
  const clause =
    invalid === null ? "RPKI state unknown" : invalid === 0 ? "none of them RPKI invalid" : `${count(invalid)} of them RPKI invalid`;
  return `${who}${where} announces ${counted(prefixes, "prefix", "prefixes")}${missing}, ${clause}.`;
}

export function validitySentence({ route, rpki }: ValidityRecord): string {
  if (rpki.state === null) return `Whether AS${route.asn} may announce ${route.prefix} is unknown: no usable ROAs are loaded.`;
  if (rpki.state === "valid") return `AS${route.asn} may announce ${route.prefix}: a ROA allows it.`;
  if (rpki.state === "not-found") return `No ROA covers ${route.prefix}, so RPKI says nothing about AS${route.asn}.`;
  return rpki.reason === "length"
    ? `AS${route.asn} must not announce ${route.prefix}: the ROAs allow only shorter prefixes.`
    : `AS${route.asn} must not announce ${route.prefix}: the ROAs that allow this length are not for this AS.`;
}

export function reverseDnsSentence({ ip, status, names, forward_confirmed }: ReverseDnsRecord): string {
  if (status === "special_purpose") return `${ip} is not reachable from the Internet, so DNS was not asked.`;
  if (names.length === 0)
    return status === "ok" || status === "nxdomain" || status === "nodata"
      ? `${ip} has no name in DNS.`
      : `The name of ${ip} is unknown: DNS answered “${plainText(status)}”.`;
  const confirmed =
    forward_confirmed === true
      ? "and a name leads back to it"
      : forward_confirmed === false
        ? "but no name leads back to it"
        : "and whether a name leads back is unknown";
  return `${ip} is ${listed(names.map(({ name }) => plainText(name)))}, ${confirmed}.`;
}

/** @param stale  names of the stale sections. */
export function dataSentence(sections: number, stale: readonly string[]): string {
  if (sections === 0) return "No data are loaded yet.";
  const loaded = `${counted(sections, "section")} of data ${sections === 1 ? "is" : "are"} loaded`;
  if (stale.length > 0) return `${loaded}; stale: ${listed(stale)}.`;
  return sections === 1 ? `${loaded}, and it is not stale.` : `${loaded}, none of them stale.`;
}
