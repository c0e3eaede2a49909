/** A slow, obvious reading of lists of ranges. */

import { linesSlowly } from "../../support/slow-text.ts";
import { prefixOf } from "./geofeed.ts";
import { doubled, isObject, isTorn, type Members, parsed } from "./json.ts";

export interface ObviousRanges {
  readonly asOf: number | null;
  /** `prefix|region|services`, in the order of first appearance. */
  readonly records: string[];
}

interface Said {
  readonly prefix: unknown;
  readonly region?: unknown;
  readonly services?: readonly unknown[];
}

/** What an item says; null: it is no item. */
type Read = (item: Members) => readonly Said[] | null;

const arrays: Readonly<
  Record<
    "aws" | "azure" | "google" | "oracle",
    { readonly lists: readonly string[]; readonly names: readonly string[]; readonly read: Read }
  >
> = {
  aws: {
    names: ["ip_prefix", "ipv6_prefix", "region", "service"],
    lists: ["prefixes", "ipv6_prefixes"],
    read: (item) => [
      { prefix: item.ip_prefix === undefined ? item.ipv6_prefix : item.ip_prefix, region: item.region, services: listed(item.service) },
    ],
  },
  google: {
    names: ["ipv4Prefix", "ipv6Prefix", "service", "scope"],
    lists: ["prefixes"],
    read: (item) => [
      { prefix: item.ipv4Prefix === undefined ? item.ipv6Prefix : item.ipv4Prefix, region: item.scope, services: listed(item.service) },
    ],
  },
  azure: {
    names: ["name", "properties", "region", "systemService", "addressPrefixes"],
    lists: ["values"],
    read({ properties }) {
      if (!isObject(properties) || !Array.isArray(properties.addressPrefixes)) return null;
      return properties.addressPrefixes.map((prefix: unknown) => ({
        prefix,
        region: properties.region,
        services: listed(properties.systemService),
      }));
    },
  },
  oracle: {
    names: ["region", "cidrs", "cidr", "tags"],
    lists: ["regions"],
    read: ({ region, cidrs }) =>
      !Array.isArray(cidrs)
        ? null
        : cidrs.map((one: unknown) => {
            const { cidr, tags } = isObject(one) ? one : {};
            return { prefix: cidr, region, services: Array.isArray(tags) ? tags : listed(tags) };
          }),
  },
};

const listed = (value: unknown) => (value === null || value === undefined ? [] : [value]);

export function obviousProvider(bytes: Uint8Array, kind: keyof typeof arrays, badMax: number): ObviousRanges | undefined {
  const document = parsed(bytes);
  const { lists, names, read } = arrays[kind];
  const times = { aws: ["createDate"], azure: [], google: ["syncToken", "creationTime"], oracle: ["last_updated_timestamp"] }[kind];
  if (!isObject(document)) return undefined;
  const twice = doubled(bytes);
  if (twice.some((pointer) => [...lists, ...times].includes(pointer.slice(1)))) return undefined;
  if (times.some((name) => isTorn(twice, `/${name}`, names))) return undefined;
  if (document[lists[0] as string] === undefined) return undefined;
  const said: (Said | null)[] = [];
  for (const [name, items] of Object.entries(document)) {
    if (!lists.includes(name)) continue;
    if (!Array.isArray(items)) return undefined;
    for (const [at, item] of (items as unknown[]).entries())
      said.push(...(isObject(item) && !isTorn(twice, `/${name}/${at}`, names) ? (read(item) ?? [null]) : [null]));
  }
  const records = joined(said, badMax);
  const found = times.map((name) => timeOf(document[name], name)).find((time) => time !== null) ?? null;
  return records && { asOf: found, records };
}

/** Lines of the list of exit nodes, or with a prefix each. */
export function obviousLines(bytes: Uint8Array, kind: "tor" | "prefixes", badMax: number): ObviousRanges | undefined {
  let asOf: number | null = null;
  const said: (Said | null)[] = [];
  const lines = linesSlowly(bytes);
  for (const line of lines) {
    if (kind === "prefixes") {
      const [text = "", ...comment] = line.split("#");
      // A line break of another kind: what follows it may be a range.
      if (/[\r\u2028\u2029]/.test(comment.join("").trimEnd()) && !line.startsWith("#")) said.push(null);
      else if (text.trim() !== "") said.push({ prefix: text.trim() });
      continue;
    }
    const words = line.trim().split(" ");
    if (words[0] === "" || words[0]?.startsWith("#")) continue;
    const isAddress = words[0] === "ExitAddress" && words.length === 4 && spacedTime(words[2], words[3]) !== null;
    const time = words[0] === "LastStatus" ? spacedTime(words[1], words[2]) : null;
    if (time !== null) asOf = Math.max(asOf ?? 0, time);
    if (["ExitNode", "Published", "LastStatus"].includes(words[0] as string)) continue;
    said.push(isAddress && !words[1]?.includes("/") ? { prefix: words[1] } : null);
  }
  const records = joined(said, badMax);
  const isOpen = bytes.length > 0 && bytes.at(-1) !== 10;
  const last = lines.at(-1) ?? "";
  if (isOpen && !(kind === "prefixes" && /\/[0-9]+$/.test(last) && prefixOf(last.split("#")[0]?.trim() ?? "") !== null)) return undefined;
  return records && { asOf, records };
}

function joined(said: readonly (Said | null)[], badMax: number): string[] | undefined {
  const found = new Map<string, { regions: Set<string>; services: Set<string> }>();
  let bad = 0;
  for (const one of said) {
    const prefix = typeof one?.prefix === "string" ? prefixOf(one.prefix.trim()) : null;
    const isGiven = (value: unknown) => value !== undefined && value !== null && value !== "";
    const words = [
      ...(isGiven(one?.region) ? [one?.region] : []),
      ...(one?.services ?? []).filter((value) => value !== undefined && value !== ""),
    ];
    const texts = words.map(textOf);
    if (prefix === null || texts.includes(null)) {
      bad++;
      continue;
    }
    const record = found.get(prefix) ?? { regions: new Set(), services: new Set() };
    found.set(prefix, record);
    texts.forEach((text, at) => {
      (at === 0 && isGiven(one?.region) ? record.regions : record.services).add(text as string);
    });
  }
  if (found.size === 0 || bad > said.length * badMax) return undefined;
  return [...found].map(([prefix, { regions, services }]) =>
    [prefix, regions.size === 1 ? [...regions][0] : "", [...services].sort().slice(0, 16).join()].join("|"),
  );
}

/** One line of at most 64 letters, without controls; null for anything else. */
function textOf(value: unknown): string | null {
  if (typeof value !== "string" || value.length > 64) return null;
  const text = value
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, "")
    .split(/\s+/)
    .filter((word) => word !== "")
    .join(" ");
  const isOdd = [...text].some((letter) => {
    const code = letter.codePointAt(0) as number;
    return code < 32 || (code >= 127 && code < 160) || (code >= 0xd800 && code < 0xe000);
  });
  return text === "" || isOdd ? null : text;
}

function spacedTime(date = "", time = ""): number | null {
  return timeOf(`${date}T${time}`, "");
}

function timeOf(value: unknown, name: string): number | null {
  if (typeof value !== "string") return null;
  if (name === "syncToken")
    return value.length === 13 && [...value].every((digit) => digit >= "0" && digit <= "9") ? Math.floor(Number(value) / 1000) : null;
  const form =
    name === "createDate"
      ? /^(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)-(\d\d)()()$/
      : /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$/i;
  const [, day = "", hour, minute, second, , zone] = form.exec(value) ?? [];
  const ms = Date.parse(`${day}T${hour}:${minute}:${second}${zone?.toUpperCase() || "Z"}`);
  const exists = Number(day.slice(0, 4)) >= 1900 && new Date(Date.parse(`${day}T00:00:00Z`)).toJSON()?.startsWith(day);
  return Number.isNaN(ms) || hour === "24" || exists !== true ? null : ms / 1000;
}
