/** The facts of two subjects with the same names, so that they can be shown side by side. */

import type { AsnRecord, IpRecord, PrefixRecord } from "@netfacts/client";
import type { Allocation, Meta } from "@netfacts/contracts";
import { count, countryName, registryName, share, words } from "./format.ts";
import { asName, listed, setName } from "./sentences.ts";

/** Facts by name; null: unknown. A name that only one subject has is not compared. */
export interface Compared {
  readonly facts: Readonly<Record<string, string | null>>;
  readonly meta: Meta;
}

export interface ComparedRow {
  readonly name: string;
  readonly values: readonly [string | null, string | null];
  readonly isDifferent: boolean;
}

/** Text for a fact that is known not to exist: nothing is announced. */
const none = "none";

type Routed = Pick<PrefixRecord | IpRecord["routing"], "origins" | "as_set_origins" | "visibility">;

function routed(announced: boolean | null, prefix: string | null, { origins, as_set_origins, visibility }: Routed, rpki: string | null) {
  const named = [...(origins ?? []).map(asName), ...(as_set_origins ?? []).map(({ as_set }) => `AS_SET ${setName(as_set)}`)];
  const absent = announced === false ? none : null;
  return {
    Announced: yesNo(announced),
    Prefix: prefix ?? absent,
    Origins: origins === null ? absent : named.length === 0 ? none : listed(named),
    Visibility: visibility === null || visibility.ratio === null ? absent : share(visibility.ratio),
    RPKI: rpki ?? absent,
  };
}

/** @param blocks  number of blocks that overlap the subject; null: unknown. Unless there is exactly one, no block describes the subject. */
function registered(blocks: number | null, block: Allocation | null) {
  return {
    "Registered blocks": known(blocks, count),
    ...((blocks === null || block !== null) && {
      Registry: known(block?.registry, registryName),
      "Country of registration": known(block?.registration_country, countryName),
      Holder: block?.holder?.name ?? null,
      "Allocated on": block?.allocated_on ?? null,
    }),
  };
}

function known<T>(value: T | null | undefined, shown: (value: T) => string): string | null {
  return value == null ? null : shown(value);
}

function yesNo(value: boolean | null): string | null {
  return value === null ? null : value ? "yes" : "no";
}

export function comparedIp({ routing, rpki, allocation, network_type, location, meta }: IpRecord): Compared {
  const facts = {
    ...routed(routing.announced, routing.prefix, routing, rpki.state),
    ...registered(allocation !== null ? 1 : meta.data.allocations === undefined ? null : 0, allocation),
    "Network type": known(network_type?.type, words),
    "Country of location": known(location?.country, countryName),
    City: location?.city ?? null,
  };
  return { facts, meta };
}

export function comparedPrefix(record: PrefixRecord): Compared {
  const { announced, match, rpki, allocation, more_specifics, less_specifics, meta } = record;
  const isCovered = allocation?.relation === "equal" || allocation?.relation === "within";
  const facts = {
    ...routed(announced, match?.prefix ?? null, record, rpki.state),
    ...registered(allocation?.total ?? null, (isCovered ? allocation.blocks[0] : null) ?? null),
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
  const facts = {
    Announced: yesNo(announced),
    Name: name,
    Organisation: organisation,
    Registry: known(registry, registryName),
    "Country of registration": known(registration_country, countryName),
    "Allocated on": allocated_on,
    "Network type": known(network_type?.type, words),
    "IPv4 prefixes": known(counts?.ipv4?.prefixes, count),
    "IPv4 addresses": known(counts?.ipv4?.addresses, count),
    "IPv6 prefixes": known(counts?.ipv6?.prefixes, count),
    "RPKI valid prefixes": known(rpki?.valid, count),
    "RPKI invalid prefixes": known(rpki?.invalid, count),
  };
  return { facts, meta };
}

/** Rows of the facts that both have. An unknown value does not count as different from any value, because this is unknown. */
export function rowsOf(left: Compared, right: Compared): ComparedRow[] {
  return Object.keys(left.facts).flatMap((name) => {
    const [a = null, b] = [left.facts[name], right.facts[name]];
    if (b === undefined) return [];
    return [{ name, values: [a, b] as const, isDifferent: a !== null && b !== null && a !== b }];
  });
}
