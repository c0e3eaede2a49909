/** Readers of the JSON lists in which providers publish their ranges: AWS, Azure, Google (and crawlers, in the same form) and Oracle. */

import { isMembers, type JsonItemsForm, type MemberKind, readJsonItems } from "./json-items.ts";
import { type ListedRange, type RangeItem, RangeList } from "./range-list.ts";
import { type ReaderReport, type SourceContent, SourceError } from "./reader-report.ts";
import { readTimestamp } from "./timestamp.ts";

type Members = Readonly<Record<string, unknown>>;
type Reading = Promise<{ ranges: ListedRange[]; report: ReaderReport }>;

/** A part of an item that names one prefix, with its path inside the item. */
type Range = Omit<RangeItem, "place" | "text"> & { readonly path: string };

interface ProviderForm {
  /** Name of the document in errors: "an AWS ip-ranges.json". */
  readonly what: string;
  /** Members of the document that are lists of ranges; the first one is required. */
  readonly lists: readonly [string, ...string[]];
  /** Members that contain its time, the most exact one first, with a function that reads each: Unix seconds, null if it is not a time. */
  readonly times: Readonly<Record<string, (value: unknown) => number | null>>;
  /** Members of items that are read. */
  readonly fields: readonly string[];
  /** The ranges that an item of a list names; text to say what is wrong with it. */
  read(item: Members): readonly Range[] | string;
}

const aws: ProviderForm = {
  what: "an AWS ip-ranges.json",
  lists: ["prefixes", "ipv6_prefixes"],
  times: { createDate: dashedTime },
  fields: ["ip_prefix", "ipv6_prefix", "region", "service"],
  read: ({ ip_prefix, ipv6_prefix, region, service }) => [
    ip_prefix === undefined
      ? { prefix: ipv6_prefix, region, services: listOf(service), path: ".ipv6_prefix" }
      : { prefix: ip_prefix, region, services: listOf(service), path: ".ip_prefix" },
  ],
};

const azure: ProviderForm = {
  what: "a list of Azure service tags",
  lists: ["values"],
  times: {},
  fields: ["name", "properties", "region", "systemService", "addressPrefixes"],
  read({ properties }) {
    if (!isMembers(properties)) return "has no properties";
    const { addressPrefixes, region, systemService } = properties;
    if (!Array.isArray(addressPrefixes)) return "addressPrefixes is not a list";
    return addressPrefixes.map((prefix: unknown, at) => ({
      prefix,
      region,
      services: listOf(systemService),
      path: `.properties.addressPrefixes[${at}]`,
    }));
  },
};

const google: ProviderForm = {
  what: "a list in the form of Google's cloud.json",
  lists: ["prefixes"],
  // `creationTime` is local time without a zone; `syncToken`, in milliseconds, is exact if it is present.
  times: { syncToken: millisecondsTime, creationTime: zonelessTime },
  fields: ["ipv4Prefix", "ipv6Prefix", "service", "scope"],
  read: ({ ipv4Prefix, ipv6Prefix, service, scope }) => [
    ipv4Prefix === undefined
      ? { prefix: ipv6Prefix, region: scope, services: listOf(service), path: ".ipv6Prefix" }
      : { prefix: ipv4Prefix, region: scope, services: listOf(service), path: ".ipv4Prefix" },
  ],
};

const oracle: ProviderForm = {
  what: "an Oracle public_ip_ranges.json",
  lists: ["regions"],
  times: { last_updated_timestamp: zonelessTime },
  fields: ["region", "cidrs", "cidr", "tags"],
  read({ region, cidrs }) {
    if (!Array.isArray(cidrs)) return "cidrs is not a list";
    return cidrs.map((one: unknown, at) => {
      const { cidr, tags }: Members = isMembers(one) ? one : {};
      return { prefix: cidr, region, services: Array.isArray(tags) ? tags : listOf(tags), path: `.cidrs[${at}].cidr` };
    });
  },
};

/**
 * Reads `{"prefixes": [{"ip_prefix", "region", "service"}, …], "ipv6_prefixes": […]}`. A prefix is one range with all services that the list names
 * for it, and with its region if there is only one.
 *
 * Examples in the report begin with the path of the value.
 *
 * @throws SourceError with the byte for a document of another form, without ranges, with more than a million, or with more invalid ones than allowed.
 *
 * Cost: about 320 bytes a range during the reading.
 */
export function readAwsRanges(content: SourceContent): Reading {
  return readProvider(content, aws);
}

/** Reads `{"values": [{"properties": {"region", "systemService", "addressPrefixes": […]}}, …]}`; otherwise as `readAwsRanges`. */
export function readAzureTags(content: SourceContent): Reading {
  return readProvider(content, azure);
}

/** Reads `{"creationTime", "prefixes": [{"ipv4Prefix" or "ipv6Prefix", "service", "scope"}, …]}`; otherwise as `readAwsRanges`. */
export function readGoogleRanges(content: SourceContent): Reading {
  return readProvider(content, google);
}

/** Reads `{"regions": [{"region", "cidrs": [{"cidr", "tags": […]}, …]}, …]}`; otherwise as `readAwsRanges`. */
export function readOracleRanges(content: SourceContent): Reading {
  return readProvider(content, oracle);
}

async function readProvider(content: SourceContent, { what, lists, times, fields, read }: ProviderForm): Reading {
  const { file } = content;
  const kinds: [string, MemberKind][] = [...lists.map((name): [string, MemberKind] => [name, "items"]), ...timeKinds(times)];
  const form: JsonItemsForm = { what, fields, members: Object.fromEntries(kinds) };
  const list = new RangeList(content);
  const counts = new Map<string, number>();
  const told = new Map<string, number>();
  const { bytes, seconds, seen, byteOrderMark } = await readJsonItems(content, form, {
    item(member, value, offset, fault) {
      const at = counts.get(member) ?? 0;
      counts.set(member, at + 1);
      const place = { offset };
      const path = `${member}[${at}]`;
      const found = fault ?? (isMembers(value) ? read(value) : "is not an object");
      if (typeof found === "string") {
        list.tally.read++;
        list.tally.bad(found, place, path);
        return;
      }
      for (const { path: inside, ...range } of found)
        list.add({ ...range, place, text: `${path}${inside}: ${JSON.stringify(range.prefix) ?? "missing"}` });
    },
    whole(member, value) {
      const time = times[member]?.(value) ?? null;
      if (time !== null) told.set(member, time);
    },
    notItems(member, offset) {
      throw new SourceError(file, { offset }, `"${member}" is not an array`);
    },
  });
  const [first] = lists;
  if (!seen.has(first)) throw new SourceError(file, { offset: bytes }, `not ${what}: it has no "${first}"`);
  const ranges = list.ranges({ offset: bytes });
  const timeMember = Object.keys(times).find((member) => told.has(member));
  const asOf = timeMember === undefined ? null : (told.get(timeMember) ?? null);
  const notes = byteOrderMark ? ["begins with a byte order mark"] : [];
  return { ranges, report: list.report({ bytes, seconds, asOf, notes }) };
}

function timeKinds(times: ProviderForm["times"]): [string, MemberKind][] {
  return Object.keys(times).map((name) => [name, "whole"]);
}

function listOf(value: unknown): unknown[] {
  return value === undefined || value === null ? [] : [value];
}

/** AWS: `2026-11-21-08-50-12`, in UTC. */
function dashedTime(value: unknown): number | null {
  const match = typeof value === "string" ? /^(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)-(\d\d)$/.exec(value) : null;
  return match === null ? null : readTimestamp(`${match[1]}T${match[2]}:${match[3]}:${match[4]}Z`);
}

/** `2026-11-21T08:50:12.63728`, read as UTC. */
function zonelessTime(value: unknown): number | null {
  return typeof value === "string" ? (readTimestamp(value) ?? readTimestamp(`${value}Z`)) : null;
}

function millisecondsTime(value: unknown): number | null {
  return typeof value === "string" && /^\d{13}$/.test(value) ? Math.floor(Number(value) / 1000) : null;
}
