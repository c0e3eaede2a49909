/** A slow, obvious reading of validators' JSON exports: JSON.parse of the whole, then the rules one by one. */

import { parsePrefix } from "@netfacts/address";
import { doubled, isObject, isTorn, isWhole, type Members, parsed } from "./json.ts";

export interface ExportReading {
  /** `prefix-maxLength AS ta expiry`, in the order of first appearance. */
  vrps: string[];
  /** `customer providers ta expiry`; null where there are none to know of. */
  aspas: string[] | null;
  read: number;
  asOf: number | null;
}

export type ExportKind = "rpki-client" | "json" | "jsonext";

/** Members by which a file is known to be of another format. */
const foreign = {
  "rpki-client": { metadata: ["generated", "generatedTime"], roas: ["source"], aspas: ["customer", "source"] },
  json: { metadata: ["buildtime"], roas: ["expires", "source"], aspas: ["customer_asid", "expires", "source"] },
  jsonext: { metadata: ["buildtime"], roas: ["expires", "ta"], aspas: ["customer_asid", "expires", "ta"] },
};

const common = ["asn", "prefix", "maxLength", "ta", "customer", "customer_asid", "providers", "buildtime", "generated", "generatedTime"];
/** Members of which no item may have two. */
const names = {
  "rpki-client": [...common, "expires", "source", "uniquevrps", "uniquevaps"],
  json: [...common, "expires", "source"],
  jsonext: [...common, "expires", "source", "tal", "chainValidity", "notAfter"],
};

/** Undefined: no such export, or not to be trusted when so large a share of its records may be bad. */
export function obviousExport(bytes: Uint8Array, kind: ExportKind, badMax: number): ExportReading | undefined {
  const document = parsed(bytes);
  if (!isObject(document)) return undefined;
  const twice = doubled(bytes);
  if (twice.some((pointer) => ["/roas", "/metadata", "/aspas"].includes(pointer))) return undefined;
  if (isTorn(twice, "/metadata", names[kind])) return undefined;
  const isGood = (item: unknown, list: string, at: number): item is Members =>
    isObject(item) && !isTorn(twice, `/${list}/${at}`, names[kind]);
  const { roas, aspas, metadata } = document;
  if (!Array.isArray(roas) || ("metadata" in document && !isObject(metadata))) return undefined;
  const aliens = foreign[kind];
  const has = (value: unknown, names: readonly string[]) => isObject(value) && names.some((name) => name in value);
  if (has(metadata, aliens.metadata) || roas.some((item) => has(item, aliens.roas))) return undefined;
  if (Array.isArray(aspas) && aspas.some((item) => has(item, aliens.aspas))) return undefined;
  const asOf = timeOf(isObject(metadata) ? metadata : {}, kind);
  if (asOf === undefined) return undefined;
  const alive = ({ expires }: { expires: number | null }) => asOf === null || expires === null || expires >= asOf;

  const good = roas.flatMap((item, at) => (isGood(item, "roas", at) ? (vrpOf(item, kind) ?? []) : []));
  const kept = new Map<string, (typeof good)[number]>();
  for (const vrp of good) if (!kept.has(vrp.key) || (vrp.expires ?? 0) > (kept.get(vrp.key)?.expires ?? 0)) kept.set(vrp.key, vrp);
  const vrps = [...kept.values()].filter(alive);
  const bad = roas.length - good.length;
  if (vrps.length === 0 || bad > roas.length * badMax) return undefined;

  const listed = Array.isArray(aspas) ? (aspas as unknown[]) : null;
  const goodAspas = (listed ?? []).flatMap((item, at) => (isGood(item, "aspas", at) ? (aspaOf(item, kind) ?? []) : []));
  const count = listed?.length ?? 0;
  const badAspas = count - goodAspas.length;
  if (badAspas > 0 && (badAspas === count || badAspas > (roas.length + count) * badMax)) return undefined;
  return {
    vrps: vrps.map(({ key, ta, expires }) => `${key} ${ta} ${expires}`),
    aspas: listed && goodAspas.filter(alive).map(({ text, ta, expires }) => `${text} ${ta} ${expires}`),
    read: roas.length,
    asOf,
  };
}

/** Undefined: the document is not to be trusted; null: it tells no time. */
function timeOf(metadata: Members, kind: ExportKind): number | null | undefined {
  if (kind === "rpki-client") return secondsOf(metadata.buildtime);
  const { generated, generatedTime } = metadata;
  if (generated !== undefined) return isWhole(generated) ? generated : undefined;
  return generatedTime === undefined ? null : secondsOf(generatedTime);
}

function secondsOf(text: unknown): number | undefined {
  if (typeof text !== "string" || !/^[\d-]{10}T[\d:]{8}Z$/.test(text)) return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) || time.toISOString() !== text.replace("Z", ".000Z") ? undefined : time.getTime() / 1000;
}

interface Origin {
  ta: string | null;
  expires: number | null;
}

function vrpOf(item: Members, kind: ExportKind): ({ key: string } & Origin) | null {
  const asn = asNumber(item.asn);
  const reading = typeof item.prefix === "string" ? parsePrefix(item.prefix) : null;
  const origin = originOf(item, kind);
  if (asn === null || reading?.ok !== true || origin === null) return null;
  const { version, w0, w1, w2, w3, length } = reading.prefix;
  const { maxLength } = item;
  if (!isWhole(maxLength, version === 4 ? 32 : 128) || maxLength < length) return null;
  return { key: `${version} ${w0} ${w1} ${w2} ${w3}/${length}-${maxLength} ${asn}`, ...origin };
}

function aspaOf(item: Members, kind: ExportKind): ({ text: string } & Origin) | null {
  const customer = asNumber(kind === "rpki-client" ? item.customer_asid : item.customer);
  const origin = originOf(item, kind);
  if (customer === null || origin === null || !Array.isArray(item.providers)) return null;
  const providers = item.providers.map(asNumber);
  return providers.includes(null) ? null : { text: `${customer} ${providers.join()}`, ...origin };
}

/** Where a record comes from and until when it holds; null: not as it should be. */
function originOf(item: Members, kind: ExportKind): Origin | null {
  if (kind === "rpki-client") return origin(item.ta, item.expires ?? null);
  if (kind === "json") return origin(item.ta === "N/A" ? null : item.ta, null);
  if (item.source === undefined) return origin(null, null);
  if (!Array.isArray(item.source) || !item.source.every(isObject)) return null;
  const chains = item.source.filter(({ chainValidity }) => chainValidity !== undefined);
  const ends = chains.map(({ chainValidity }) => (isObject(chainValidity) ? secondsOf(chainValidity.notAfter) : undefined));
  if (ends.includes(undefined)) return null;
  const last = Math.max(...(ends as number[]));
  const source = chains[ends.indexOf(last)];
  return source === undefined ? origin(null, null) : origin(source.tal === "N/A" ? null : source.tal, last);
}

function origin(ta: unknown, expires: unknown): Origin | null {
  const name = ta ?? null;
  if (name !== null && (typeof name !== "string" || name.length > 64 || /\p{Cc}|\p{Cs}/u.test(name))) return null;
  if (expires !== null && (!isWhole(expires) || expires === 0)) return null;
  return { ta: name === "" ? null : name, expires };
}

export function asNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^(as)?\d{1,10}$/i.test(value) ? Number(/\d+/.exec(value)?.[0]) : value;
  return isWhole(number) ? number + 0 : null;
}
