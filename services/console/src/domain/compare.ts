/** The facts of two subjects by the same names, so that they can stand side by side. */

import type { AsnRecord, IpRecord, PrefixRecord } from "@netfacts/client";
import type { Meta } from "@netfacts/contracts";
import { count, share } from "./format.ts";
import { asName, listed } from "./sentences.ts";

/** Null: unknown. A name that only one subject has is not compared for the other. */
export interface Compared {
  readonly facts: Readonly<Record<string, string | null>>;
  readonly meta: Meta;
}

export interface ComparedRow {
  readonly name: string;
  readonly values: readonly [string | null, string | null];
  readonly isDifferent: boolean;
}

type Routed = Pick<PrefixRecord, "origins" | "visibility"> | Pick<IpRecord["routing"], "origins" | "visibility">;

function routed({ origins, visibility }: Routed) {
  return {
    Origins: origins === null ? null : origins.length === 0 ? "none" : listed(origins.map(asName)),
    Visibility: visibility === null || visibility.ratio === null ? null : share(visibility.ratio),
  };
}

function yesNo(value: boolean | null): string | null {
  return value === null ? null : value ? "yes" : "no";
}

export function comparedIp({ routing, rpki, allocation, network_type, location, meta }: IpRecord): Compared {
  const facts = {
    Announced: yesNo(routing.announced),
    Prefix: routing.prefix,
    ...routed(routing),
    RPKI: rpki.state,
    Registry: allocation?.registry ?? null,
    "Country of registration": allocation?.registration_country ?? null,
    Holder: allocation?.holder?.name ?? null,
    "Allocated on": allocation?.allocated_on ?? null,
    "Network type": network_type?.type ?? null,
    "Country of location": location?.country ?? null,
    City: location?.city ?? null,
  };
  return { facts, meta };
}

export function comparedPrefix(record: PrefixRecord): Compared {
  const { announced, match, rpki, allocation, more_specifics, less_specifics, meta } = record;
  const block = allocation?.blocks[0];
  const facts = {
    Announced: yesNo(announced),
    Prefix: match?.prefix ?? null,
    ...routed(record),
    RPKI: rpki.state,
    Registry: block?.registry ?? null,
    "Country of registration": block?.registration_country ?? null,
    Holder: block?.holder?.name ?? null,
    "Allocated on": block?.allocated_on ?? null,
    "More specific prefixes": more_specifics.count === null ? null : count(more_specifics.count),
    "Less specific prefixes": less_specifics === null ? null : count(less_specifics.length),
  };
  return { facts, meta };
}

export function comparedAs({
  announced,
  name,
  organisation,
  registry,
  registration_country,
  allocated_on,
  network_type,
  counts,
  rpki,
  meta,
}: AsnRecord): Compared {
  const number = (value: number | null | undefined) => (value == null ? null : count(value));
  const facts = {
    Announced: yesNo(announced),
    Name: name,
    Organisation: organisation,
    Registry: registry,
    "Country of registration": registration_country,
    "Allocated on": allocated_on,
    "Network type": network_type?.type ?? null,
    "IPv4 prefixes": number(counts?.ipv4?.prefixes),
    "IPv4 addresses": number(counts?.ipv4?.addresses),
    "IPv6 prefixes": number(counts?.ipv6?.prefixes),
    "RPKI valid prefixes": number(rpki?.valid),
    "RPKI invalid prefixes": number(rpki?.invalid),
  };
  return { facts, meta };
}

/** Rows of the facts that both have. Two unknown values are not different; an unknown and a known one cannot be told apart, and are not either. */
export function rowsOf(left: Compared, right: Compared): ComparedRow[] {
  return Object.keys(left.facts).flatMap((name) => {
    const [a = null, b] = [left.facts[name], right.facts[name]];
    if (b === undefined) return [];
    return [{ name, values: [a, b] as const, isDifferent: a !== null && b !== null && a !== b }];
  });
}
