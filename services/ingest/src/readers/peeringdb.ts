/** Readers of PeeringDB's API, for the responses of `/api/net` and `/api/org`: `{"data": [{…}, …], "meta": {…}}`. */

import { isCountry } from "@netfacts/records";
import { statementTypesMax } from "@netfacts/snapshot";
import { nameLettersMax, type ProfileRecord, readName, readWebsite } from "./as-profiles.ts";
import { isMembers, type JsonItemsForm, readJsonItems } from "./json-items.ts";
import { ReadableText } from "./readable-text.ts";
import { printable, type ReaderReport, type SourceContent, SourceError, Tally } from "./reader-report.ts";
import { asNumber, isWhole } from "./vrp-fields.ts";

type Members = Readonly<Record<string, unknown>>;

export interface Organisation {
  readonly name: string;
  readonly website: string | null;
  /** Two capital letters; absent if unknown. */
  readonly country?: string;
}

const numberMax = 0xffff_ffff;
/** Confidence if a network names one type, and if it names several. */
const oneTypeConfidence = 0.8;
const severalTypesConfidence = 0.5;

/**
 * Reads networks by AS number; if an AS appears again, the last network stays. Only networks of status `ok` are taken. Network types are `info_type`,
 * then `info_types`, each as one word: `Cable/DSL/ISP` is `cable_dsl_isp`; `Not Disclosed` is none. A website that is not an http or https URL is
 * left out, and counted. `kinds` of the report count the networks that have each fact: if a member is renamed, its count drops to 0.
 *
 * @throws SourceError with the byte if it is not such a response, has no networks, or more bad ones than allowed.
 */
export async function readPeeringDbNet(content: SourceContent): Promise<{ networks: Map<number, ProfileRecord>; report: ReaderReport }> {
  const fields = ["asn", "name", "org_id", "website", "info_type", "info_types", "status", "generated"];
  const { records, report } = await readData(content, "networks", fields, (item, texts) => {
    const asn = asNumber(item.asn);
    if (asn === null) return "asn is not an AS number";
    const { org_id: orgId } = item;
    if (orgId !== undefined && orgId !== null && !isWhole(orgId, numberMax)) return "org_id is not a number";
    const name = textOf(item.name);
    const website = textOf(item.website);
    const type = typeOf(item);
    if (name === null) return "name is not a string";
    if (website === null) return "website is not a string";
    if (typeof type === "string") return type;
    const readable = readName(texts.mend(name));
    if (readable === null) return `name has control characters or more than ${nameLettersMax} letters`;
    const url = texts.website(website);
    const record: ProfileRecord = {
      asn,
      ...(readable !== "" && { name: readable }),
      ...(typeof orgId === "number" && { orgId }),
      ...(url !== null && { website: url }),
      ...(type !== null && { networkType: type }),
    };
    return { key: asn, record };
  });
  const having = (field: keyof ProfileRecord) => [...records.values()].filter((record) => record[field] !== undefined).length;
  const kinds = {
    "networks with a name": having("name"),
    "networks with an organisation": having("orgId"),
    "networks with a website": having("website"),
    "networks with a network type": having("networkType"),
  };
  return { networks: records, report: { ...report, kinds } };
}

/** Members with the number of an owner: each record of PeeringDB has at least one of them, except organisations. */
const owners = ["org_id", "net_id", "ix_id", "ixlan_id", "fac_id"];

/** Reads organisations by their number in PeeringDB; otherwise as `readPeeringDbNet`. */
export async function readPeeringDbOrg(
  content: SourceContent,
): Promise<{ organisations: Map<number, Organisation>; report: ReaderReport }> {
  const fields = ["id", "asn", "name", "website", "country", "status", "generated", ...owners];
  const { records, report } = await readData(content, "organisations", fields, (item, texts) => {
    if (item.asn !== undefined) return "a network, not an organisation";
    const owner = owners.find((name) => item[name] !== undefined);
    if (owner !== undefined) return `has ${owner}, so it is not an organisation`;
    if (!isWhole(item.id, numberMax)) return "id is not a number";
    const name = textOf(item.name);
    const website = textOf(item.website);
    const readable = name === null ? null : readName(texts.mend(name));
    if (readable === null || readable === "") return "name is not a string";
    if (website === null) return "website is not a string";
    return { key: item.id, record: { name: readable, website: texts.website(website), ...countryOf(item.country) } };
  });
  const all = [...records.values()];
  const kinds = {
    "organisations with a website": all.filter(({ website }) => website !== null).length,
    "organisations with a country": all.filter(({ country }) => country !== undefined).length,
  };
  return { organisations: records, report: { ...report, kinds } };
}

/** Texts of a response, with the number of websites that are not URLs. */
class AnswerTexts extends ReadableText {
  #notWebsites = 0;

  website(text: string): string | null {
    if (text.trim() === "") return null;
    const website = readWebsite(this.mend(text));
    if (website === null) this.#notWebsites++;
    return website;
  }

  override notes(): string[] {
    return this.#notWebsites === 0
      ? super.notes()
      : [...super.notes(), `websites that are not http or https URLs, left out: ${this.#notWebsites}`];
  }
}

async function readData<T>(
  content: SourceContent,
  what: string,
  fields: readonly string[],
  read: (item: Members, texts: AnswerTexts) => { readonly key: number; readonly record: T } | string,
): Promise<{ records: Map<number, T>; report: ReaderReport }> {
  const { file, badRecordsMax } = content;
  const form: JsonItemsForm = { what: "a response of PeeringDB's API", fields, members: { data: "items", meta: "whole" } };
  const tally = new Tally();
  const texts = new AnswerTexts();
  const records = new Map<number, T>();
  let asOf: number | null = null;
  const { bytes, seconds, seen, byteOrderMark } = await readJsonItems(content, form, {
    item(_member, value, offset, fault) {
      tally.read++;
      if (isMembers(value) && typeof value.status === "string" && value.status !== "ok") {
        tally.leaveOut("not in service", { offset }, shown(value));
        return;
      }
      const found = fault ?? (isMembers(value) ? read(value, texts) : "not an object");
      if (typeof found === "string") tally.bad(found, { offset }, shown(value));
      else {
        if (records.has(found.key)) tally.leaveOut("appears more than once; the last one was kept", { offset }, shown(value));
        records.set(found.key, found.record);
      }
    },
    whole(_member, value) {
      const generated = isMembers(value) ? value.generated : undefined;
      if (typeof generated === "number" && isWhole(Math.floor(generated), numberMax)) asOf = Math.floor(generated);
    },
    notItems(_member, offset) {
      throw new SourceError(file, { offset }, '"data" is not an array');
    },
  });
  if (!seen.has("data")) throw new SourceError(file, { offset: bytes }, 'not a response of PeeringDB\'s API: it has no "data"');
  tally.accepted = records.size;
  tally.judge(file, badRecordsMax, what, { offset: bytes });
  texts.byteOrderMark = byteOrderMark;
  return {
    records,
    report: { bytes, seconds, read: tally.read, accepted: tally.accepted, skipped: tally.skipped(), asOf, notes: texts.notes() },
  };
}

/** A string, which is empty if there is none; null for anything else. */
function textOf(value: unknown): string | null {
  return value === undefined || value === null ? "" : typeof value === "string" ? value : null;
}

/** The type of a network; null if it names none. Returns text to say what is wrong. */
function typeOf({ info_type, info_types }: Members): NonNullable<ProfileRecord["networkType"]> | null | string {
  const several = info_types ?? [];
  if (!Array.isArray(several) || several.some((word) => typeof word !== "string")) return "info_types is not a list of strings";
  const single = textOf(info_type);
  if (single === null) return "info_type is not a string";
  const words = [...new Set([single, ...(several as string[])].map(wordOf))].filter((word) => word !== "");
  const [first, ...also] = words.slice(0, statementTypesMax);
  if (first === undefined) return null;
  return also.length === 0 ? { type: first, confidence: oneTypeConfidence } : { type: first, confidence: severalTypesConfidence, also };
}

/** A country of ISO 3166-1; empty for anything else, since PeeringDB has empty ones. */
function countryOf(value: unknown): Pick<Organisation, "country"> {
  const code = typeof value === "string" ? value.toUpperCase() : "";
  return isCountry(code) ? { country: code } : {};
}

/** One word of lowercase letters, digits and underscores; empty for a type without meaning. */
function wordOf(type: string): string {
  const word = type
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[_0-9]+|_+$/g, "")
    .slice(0, 40);
  return word === "not_disclosed" ? "" : word;
}

function shown(value: unknown): string {
  if (!isMembers(value)) return "an item of data";
  return printable(
    Object.entries(value)
      .map(([field, inside]) => `${field} ${JSON.stringify(inside)}`)
      .join(", "),
  );
}
