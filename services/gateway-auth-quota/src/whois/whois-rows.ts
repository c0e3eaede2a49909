/** Answers as lines of columns, in the form of Team Cymru's whois server. */

import { formatAddress, formatPrefix } from "@netfacts/address";
import type { AsnRecord, IpRecord, PrefixRecord } from "@netfacts/contracts";
import type { WhoisFormat, WhoisTarget } from "./whois-query.ts";

/** The members of records from which lines are made. */
export interface WhoisRecords {
  readonly ip: Pick<IpRecord, "routing" | "allocation">;
  readonly prefix: Pick<PrefixRecord, "match" | "origins" | "as_set_origins" | "allocation">;
  readonly asn: Pick<AsnRecord, "name" | "registry" | "registration_country" | "allocated_on">;
}

/** The facts of a line; null: unknown. */
export interface WhoisFacts {
  /** An AS number, or an AS_SET such as `{64500,64501}`. */
  readonly as: string | null;
  readonly name: string | null;
  readonly prefix: string | null;
  readonly country: string | null;
  readonly registry: string | null;
  readonly allocated: string | null;
}

interface Column {
  readonly title: string;
  readonly width: number;
  isShown(format: WhoisFormat, kind: WhoisTarget["kind"]): boolean;
  text(facts: WhoisFacts, target: WhoisTarget, format: WhoisFormat): string | null;
}

const nameCharsMax = 60;
const unknown = "NA";

/** All columns in their order. The last column is not padded. */
const columns: readonly Column[] = [
  { title: "AS", width: 7, isShown: ({ asNumber }) => asNumber, text: ({ as }) => as },
  { title: "IP", width: 16, isShown: (_, kind) => kind !== "asn", text: (_, target) => targetText(target) },
  { title: "BGP Prefix", width: 19, isShown: ({ prefix }, kind) => prefix && kind !== "asn", text: ({ prefix }) => prefix },
  { title: "CC", width: 2, isShown: ({ countryCode }) => countryCode, text: ({ country }) => country },
  { title: "Registry", width: 8, isShown: ({ registry }) => registry, text: ({ registry }) => registry },
  { title: "Allocated", width: 10, isShown: ({ allocated }) => allocated, text: ({ allocated }) => allocated },
  {
    title: "AS Name",
    width: 0,
    isShown: ({ asName }) => asName,
    text: ({ name }, _, { truncate }) => (name !== null && truncate ? [...name].slice(0, nameCharsMax).join("") : name),
  },
];

/** The line of titles. */
export function titleLine(format: WhoisFormat, kind: WhoisTarget["kind"]): string {
  return lineOf(columns.filter((column) => column.isShown(format, kind)).map(({ title, width }) => title.padEnd(width)));
}

/** Lines for one resource: one, or one for each origin of its prefix. */
export function factLines<K extends WhoisTarget["kind"]>(
  target: Extract<WhoisTarget, { kind: K }>,
  record: WhoisRecords[K],
  format: WhoisFormat,
): string[] {
  const shown = columns.filter((column) => column.isShown(format, target.kind));
  return factsOf[target.kind](record as never, target as never).map((facts) =>
    lineOf(shown.map((column) => inOneLine(column.text(facts, target, format) ?? unknown).padEnd(column.width))),
  );
}

const factsOf: {
  readonly [K in WhoisTarget["kind"]]: (record: WhoisRecords[K], target: Extract<WhoisTarget, { kind: K }>) => WhoisFacts[];
} = {
  ip({ routing, allocation }) {
    const registration = registrationOf(allocation);
    return origins(routing.origins, routing.as_set_origins).map((origin) => ({ ...origin, prefix: routing.prefix, ...registration }));
  },
  prefix(record) {
    const registration = registrationOf(record.allocation.blocks[0] ?? null);
    return origins(record.origins, record.as_set_origins).map((origin) => ({ ...origin, prefix: record.match.prefix, ...registration }));
  },
  asn({ name, registry, registration_country, allocated_on }, { asn }) {
    return [{ as: `${asn}`, name, prefix: null, country: registration_country, registry, allocated: allocated_on }];
  },
};

function registrationOf(
  allocation: { readonly registration_country: string | null; readonly registry: string; readonly allocated_on: string | null } | null,
): Pick<WhoisFacts, "country" | "registry" | "allocated"> {
  return {
    country: allocation?.registration_country ?? null,
    registry: allocation?.registry ?? null,
    allocated: allocation?.allocated_on ?? null,
  };
}

/** At least one item, so that a resource that is not announced has a line too. */
function origins(
  plain: readonly { readonly asn: number | null; readonly name: string | null }[],
  sets: readonly { readonly as_set: readonly number[] }[],
): Pick<WhoisFacts, "as" | "name">[] {
  const list = [
    ...plain.map(({ asn, name }) => ({ as: asn === null ? null : `${asn}`, name })),
    ...sets.map(({ as_set }) => ({ as: `{${as_set.join(",")}}`, name: null })),
  ];
  return list.length === 0 ? [{ as: null, name: null }] : list;
}

function targetText(target: WhoisTarget): string {
  if (target.kind === "ip") return formatAddress(target.ip);
  return target.kind === "prefix" ? formatPrefix(target.prefix) : `${target.asn}`;
}

function lineOf(cells: readonly string[]): string {
  return `${cells.join(" | ").trimEnd()}\n`;
}

/** Replaces characters that could begin a line, a column or an escape sequence: names come from files of others. */
function inOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029|]/gu, " ");
}
