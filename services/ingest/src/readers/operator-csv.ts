/** Readers of the lists that operators write: corrections by AS number, and network types of prefixes and AS numbers. */

import { hostPrefix, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";
import { type NetworkTypeRecord, operatorTypesBasis, statementTypesMax } from "@netfacts/snapshot";
import { isNetworkType, nameLettersMax, type ProfileRecord, readName, readWebsite } from "./as-profiles.ts";
import { readListedAsn } from "./listed-asn.ts";
import { type NamedColumns, readRows } from "./named-columns.ts";
import type { ReaderReport, SourceContent } from "./reader-report.ts";

/** Value that says that there is none, while an empty field says nothing. */
const none = "-";

/** Confidence of the operator's own data. */
const certain = 1;

/**
 * Reads `asn,name,organisation,website,network_type`, in the order of the first line; only `asn` is required. An empty field says nothing; `-` says
 * that there is none. Blank lines and lines that begin with `#` are ignored. If an AS appears again, the last line stays. A file with only the first
 * line is valid, because it remains when the last correction is removed.
 *
 * @throws SourceError with the line if there is no such first line, or more bad records than allowed.
 */
export async function readOverridesCsv(content: SourceContent): Promise<{ overrides: Map<number, ProfileRecord>; report: ReaderReport }> {
  const overrides = new Map<number, ProfileRecord>();
  const columns: NamedColumns = {
    what: "overrides",
    required: ["asn"],
    optional: ["name", "organisation", "website", "network_type"],
    mayBeEmpty: true,
  };
  const report = await readRows(content, columns, (row) => {
    const asn = readListedAsn(row.asn ?? "");
    if (asn === null) return "asn is not an AS number";
    const name = field(row.name, readName);
    const organisation = field(row.organisation, readName);
    const website = field(row.website, readWebsite);
    const types = field(row.network_type, readTypes);
    if (name === fault || organisation === fault) return `a name has control characters or more than ${nameLettersMax} letters`;
    if (website === fault) return "website is not an http or https URL";
    if (types === fault) return typesFault;
    const again = overrides.has(asn);
    overrides.set(asn, {
      asn,
      ...(name !== undefined && { name }),
      ...(organisation !== undefined && { organisation }),
      ...(website !== undefined && { website }),
      ...(types !== undefined && { networkType: types && profileType(types) }),
    });
    return again;
  });
  return { overrides, report };
}

/**
 * Reads `resource,network_type` with an optional `confidence` (0 to 1, or 0% to 100%; default 1). A resource is a prefix, an address or an AS number.
 * Several types are separated by blanks. Otherwise as `readOverridesCsv`.
 */
export async function readNetworkTypesCsv(content: SourceContent): Promise<{ types: NetworkTypeRecord[]; report: ReaderReport }> {
  const types = new Map<string, NetworkTypeRecord>();
  const report = await readRows(
    content,
    { what: "network types", required: ["resource", "network_type"], optional: ["confidence"], mayBeEmpty: true },
    (row) => {
      const resource = resourceOf(row.resource ?? "");
      if (typeof resource === "string") return resource;
      const words = readTypes(row.network_type ?? "");
      if (words === null) return typesFault;
      const confidence = confidenceOf(row.confidence ?? "");
      if (confidence === null) return "confidence is not a number from 0 to 1 or a percentage, such as 0.8 or 80%";
      const key = JSON.stringify(resource);
      const again = types.has(key);
      types.set(key, { ...resource, statement: { ...operatorStatement, types: words, confidence } });
      return again;
    },
  );
  return { types: [...types.values()], report };
}

const operatorStatement = { basis: operatorTypesBasis, provider: null, region: null, services: [] };

const typesFault = `network_type is not one word of lowercase letters, digits and underscores, or up to ${statementTypesMax} of them with blanks between`;

/** Different words, separated by blanks; null for anything else. */
function readTypes(text: string): string[] | null {
  const words = [...new Set(text.trim().split(/ +/))];
  return words.length <= statementTypesMax && words.every(isNetworkType) ? words : null;
}

function profileType([type = "", ...also]: readonly string[]): NonNullable<ProfileRecord["networkType"]> {
  return { type, confidence: certain, ...(also.length > 0 && { also }) };
}

const fault = Symbol("fault");

/** A field as `read` returns it: undefined if it is blank or nothing remains of it, null for `-`, `fault` if it is invalid. */
function field<T>(text: string | undefined, read: (text: string) => T | null): T | null | undefined | typeof fault {
  const said = text?.trim() ?? "";
  if (said === "") return undefined;
  if (said === none) return null;
  const told = read(said);
  return told === "" ? undefined : (told ?? fault);
}

function resourceOf(text: string): { prefix: Prefix } | { asn: number } | string {
  const reading = parsePrefix(text);
  if (reading.ok) return { prefix: reading.prefix };
  if (reading.fault === "host-bits") return "resource has host bits set";
  const address = parseAddress(text);
  if (address !== null) return { prefix: hostPrefix(address) };
  const asn = readListedAsn(text);
  return asn === null ? "resource is not a prefix, an address or an AS number" : { asn };
}

function confidenceOf(text: string): number | null {
  const match = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/.exec(text);
  if (text === "") return certain;
  const share = match === null ? Number.NaN : Number(match[1]) / (match[2] === "%" ? 100 : 1);
  return share >= 0 && share <= 1 ? share : null;
}
