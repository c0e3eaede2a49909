/** A slow, obvious reading of an rpki-client export: JSON.parse of the whole, then the rules one by one. */

import { parsePrefix } from "@netfacts/address";

export interface ExportReading {
  /** `prefix-maxLength AS ta expiry`, in the order of first appearance. */
  vrps: string[];
  read: number;
  bad: number;
  /** `customer providers expiry`; null where there are none to know of. */
  aspas: string[] | null;
  aspasRead: number;
  aspasBad: number;
  asOf: number;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const isWhole = (value: unknown, max: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;

/** Null: not JSON, no such export, or without an `asOf`. */
export function obviousExport(bytes: Uint8Array): ExportReading | null {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
  if (!isObject(document) || !Array.isArray(document.roas) || !isObject(document.metadata)) return null;
  const { buildtime } = document.metadata;
  if (typeof buildtime !== "string" || !/^[\d-]{10}T[\d:]{8}Z$/.test(buildtime)) return null;
  const time = new Date(buildtime);
  if (Number.isNaN(time.getTime()) || time.toISOString() !== buildtime.replace("Z", ".000Z")) return null;
  const asOf = time.getTime() / 1000;

  const kept = new Map<string, { ta: string; expires: number }>();
  let bad = 0;
  for (const item of document.roas as unknown[]) {
    const vrp = isObject(item) ? obviousVrp(item) : null;
    if (vrp === null) bad++;
    else if (vrp.expires > (kept.get(vrp.key)?.expires ?? -1)) kept.set(vrp.key, vrp);
  }
  const vrps = [...kept]
    .filter(([, { expires }]) => expires === 0 || expires >= asOf)
    .map(([key, { ta, expires }]) => `${key} ${ta} ${expires}`);
  const listed = Array.isArray(document.aspas) ? (document.aspas as unknown[]) : null;
  const good = (listed ?? []).flatMap((aspa) => (isObject(aspa) ? (obviousAspa(aspa) ?? []) : []));
  return {
    vrps,
    read: document.roas.length,
    bad,
    aspas: listed && good.filter(({ expires }) => expires === 0 || expires >= asOf).map(({ text }) => text),
    aspasRead: listed?.length ?? 0,
    aspasBad: (listed?.length ?? 0) - good.length,
    asOf,
  };
}

function obviousVrp(item: Record<string, unknown>): { key: string; ta: string; expires: number } | null {
  const asn = asNumber(item.asn);
  const reading = typeof item.prefix === "string" ? parsePrefix(item.prefix) : null;
  if (asn === null || reading?.ok !== true) return null;
  const { prefix } = reading;
  const maxLength = item.maxLength ?? prefix.length;
  const expires = item.expires ?? null;
  const ta = item.ta ?? "";
  if (!isWhole(maxLength, prefix.version === 4 ? 32 : 128) || maxLength < prefix.length) return null;
  if (expires !== null && (!isWhole(expires, 4294967295) || expires === 0)) return null;
  if (typeof ta !== "string" || ta.length > 64) return null;
  const { version, w0, w1, w2, w3, length } = prefix;
  return { key: `${version} ${w0} ${w1} ${w2} ${w3}/${length}-${maxLength} ${asn}`, ta, expires: expires ?? 0 };
}

function obviousAspa({ customer_asid, providers, expires, ta }: Record<string, unknown>): { text: string; expires: number } | null {
  const time = expires ?? null;
  if (asNumber(customer_asid) === null || !Array.isArray(providers) || providers.some((provider) => asNumber(provider) === null))
    return null;
  if (time !== null && (!isWhole(time, 4294967295) || time === 0)) return null;
  if (ta !== undefined && ta !== null && (typeof ta !== "string" || ta.length > 64)) return null;
  return { text: `${asNumber(customer_asid)} ${providers.map(asNumber).join()} ${time ?? 0}`, expires: time ?? 0 };
}

/** Whether the ASPAs of a reading are within the share of bad records. */
export function aspasTrusted({ read, aspasRead, aspasBad }: ExportReading, badMax: number): boolean {
  return aspasBad === 0 || (aspasBad < aspasRead && aspasBad <= (read + aspasRead) * badMax);
}

function asNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^(as)?\d{1,10}$/i.test(value) ? Number(/\d+/.exec(value)?.[0]) : value;
  return isWhole(number, 4294967295) ? number + 0 : null;
}
