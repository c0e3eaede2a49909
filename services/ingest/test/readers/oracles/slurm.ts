/** A slow, obvious reading of SLURM files: a list of everything that RFC 8416 asks for. */

import { formatPrefix, parsePrefix } from "@netfacts/address";
import { doubled, isObject, isWhole, parsed } from "./json.ts";

export interface SlurmReading {
  filters: string[];
  assertions: string[];
  notApplied: number;
}

const has = (value: unknown, needed: string[], allowed: string[] = []): value is Record<string, unknown> =>
  isObject(value) &&
  needed.every((name) => Object.hasOwn(value, name)) &&
  Object.keys(value).every((name) => needed.includes(name) || allowed.includes(name));
const absentOr = (value: Record<string, unknown>, name: string, good: (inside: unknown) => boolean) =>
  !Object.hasOwn(value, name) || good(value[name]);

const isText = (value: unknown) => typeof value === "string";
const isAsn = (value: unknown) => isWhole(value);
const isSki = (value: unknown) => typeof value === "string" && /^[\w-]{27}$/.test(value);
const isKey = (value: unknown) => typeof value === "string" && /^[\w-]+$/.test(value) && value.length % 4 !== 1;
const prefixOf = (value: unknown) => {
  const reading = typeof value === "string" ? parsePrefix(value) : null;
  return reading?.ok === true ? reading.prefix : null;
};
const isPrefix = (value: unknown) => prefixOf(value) !== null;

function isPrefixFilter(item: unknown): item is Record<string, unknown> {
  return (
    has(item, [], ["prefix", "asn", "comment"]) &&
    ("prefix" in item || "asn" in item) &&
    absentOr(item, "prefix", isPrefix) &&
    absentOr(item, "asn", isAsn) &&
    absentOr(item, "comment", isText)
  );
}

function isPrefixAssertion(item: unknown): item is Record<string, unknown> {
  if (!has(item, ["asn", "prefix"], ["maxPrefixLength", "comment"]) || !isAsn(item.asn)) return false;
  const prefix = prefixOf(item.prefix);
  if (prefix === null || !absentOr(item, "comment", isText)) return false;
  return absentOr(item, "maxPrefixLength", (most) => isWhole(most, prefix.version === 4 ? 32 : 128) && most >= prefix.length);
}

function isBgpsecFilter(item: unknown): boolean {
  return (
    has(item, [], ["asn", "SKI", "comment"]) &&
    ("asn" in item || "SKI" in item) &&
    absentOr(item, "asn", isAsn) &&
    absentOr(item, "SKI", isSki) &&
    absentOr(item, "comment", isText)
  );
}

function isBgpsecAssertion(item: unknown): boolean {
  return (
    has(item, ["asn", "SKI", "routerPublicKey"], ["comment"]) &&
    isAsn(item.asn) &&
    isSki(item.SKI) &&
    isKey(item.routerPublicKey) &&
    absentOr(item, "comment", isText)
  );
}

/** Undefined: a deviation, wherever it is. */
export function obviousSlurm(bytes: Uint8Array): SlurmReading | undefined {
  const document = parsed(bytes);
  if (!has(document, ["slurmVersion", "validationOutputFilters", "locallyAddedAssertions"])) return undefined;
  const { slurmVersion: version, validationOutputFilters: filters, locallyAddedAssertions: assertions } = document;
  if (version !== 1 && version !== 2) return undefined;
  const aspa = (name: string) => (version === 2 ? [name] : []);
  if (!has(filters, ["prefixFilters", "bgpsecFilters"], aspa("aspaFilters"))) return undefined;
  if (!has(assertions, ["prefixAssertions", "bgpsecAssertions"], aspa("aspaAssertions"))) return undefined;
  const { prefixFilters, bgpsecFilters, aspaFilters = [] } = filters;
  const { prefixAssertions, bgpsecAssertions, aspaAssertions = [] } = assertions;
  const every = (list: unknown, good: (item: unknown) => boolean): list is Record<string, unknown>[] =>
    Array.isArray(list) && list.every(good);
  if (!every(prefixFilters, isPrefixFilter) || !every(prefixAssertions, isPrefixAssertion)) return undefined;
  if (!every(bgpsecFilters, isBgpsecFilter) || !every(bgpsecAssertions, isBgpsecAssertion)) return undefined;
  if (!every(aspaFilters, isObject) || !every(aspaAssertions, isObject)) return undefined;
  // What is said of ASPAs is not held to its form: there a name may stand twice.
  if (doubled(bytes).some((pointer) => !/^\/[^/]*\/aspa(Filters|Assertions)\/./.test(pointer))) return undefined;
  const text = (value: unknown) => formatPrefix(prefixOf(value) as NonNullable<ReturnType<typeof prefixOf>>);
  return {
    filters: prefixFilters.map(
      ({ prefix, asn }) => `${prefix === undefined ? null : text(prefix)} ${asn === undefined ? null : Number(asn) + 0}`,
    ),
    assertions: prefixAssertions.map(
      ({ asn, prefix, maxPrefixLength }) => `${text(prefix)}-${maxPrefixLength ?? prefixOf(prefix)?.length} ${Number(asn) + 0}`,
    ),
    notApplied: [bgpsecFilters, bgpsecAssertions, aspaFilters, aspaAssertions].reduce((sum, list) => sum + list.length, 0),
  };
}
