/** The fields of VRPs and ASPAs as validators write them, in any format. */

import { parsePrefix } from "@netfacts/address";
import type { Aspa, Vrp } from "@netfacts/rpki";

const numberMax = 0xffff_ffff;
const anchorLettersMax = 64;
/** Most providers of a valid customer; the largest real record has some dozens. */
const providersMax = 10_000;

/** The fields of one VRP as written. Undefined and null: absent, which is allowed for `ta` and `expires`. */
export interface VrpFields {
  readonly asn: unknown;
  readonly prefix: unknown;
  readonly maxLength: unknown;
  readonly ta: unknown;
  /** Unix seconds. */
  readonly expires: unknown;
}

/** Reads a VRP; returns text to say what is wrong. */
export function readVrp(fields: VrpFields): Vrp | string {
  const asn = asNumber(fields.asn);
  if (asn === null) return "asn is not an AS number";
  const reading = typeof fields.prefix === "string" ? parsePrefix(fields.prefix) : null;
  if (reading?.ok !== true) return reading?.fault === "host-bits" ? "prefix has host bits set" : "prefix is not an IP prefix";
  const { prefix } = reading;
  const maxLength = fields.maxLength ?? null;
  // Every validator writes it, even if it equals the prefix length. Without it, it is unknown what the ROA allows.
  if (maxLength === null) return "has no maxLength";
  if (!isWhole(maxLength, prefix.version === 4 ? 32 : 128) || maxLength < prefix.length) return "maxLength does not fit the prefix";
  const expiresAt = fields.expires ?? null;
  if (!isExpiry(expiresAt)) return "expires is not a time in seconds";
  const ta = fields.ta ?? null;
  if (!isAnchor(ta)) return "ta is not the name of a trust anchor";
  return { asn, prefix, maxLength, ta: ta || null, expiresAt, loose: false };
}

export interface AspaFields {
  readonly customer: unknown;
  readonly providers: unknown;
  readonly ta: unknown;
  /** Unix seconds. */
  readonly expires: unknown;
}

/** Reads an ASPA; returns text to say what is wrong. */
export function readAspa(fields: AspaFields): Aspa | string {
  const customer = asNumber(fields.customer);
  if (customer === null) return "the customer is not an AS number";
  if (!Array.isArray(fields.providers) || fields.providers.length > providersMax) return "providers is not a list of AS numbers";
  const providers: number[] = [];
  for (const provider of fields.providers) {
    const asn = asNumber(provider);
    if (asn === null) return "providers is not a list of AS numbers";
    providers.push(asn);
  }
  const expiresAt = fields.expires ?? null;
  if (!isExpiry(expiresAt)) return "expires is not a time in seconds";
  const ta = fields.ta ?? null;
  if (!isAnchor(ta)) return "ta is not the name of a trust anchor";
  return { customer, providers, ta: ta || null, expiresAt };
}

export function isWhole(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;
}

/** rpki-client writes a number; other validators write `"AS123"`. */
export function asNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^(?:AS)?\d{1,10}$/i.test(value) ? Number(value.replace(/^AS/i, "")) : value;
  return isWhole(number, numberMax) ? number : null;
}

/** Unix seconds of a time such as `2026-01-05T09:31:33Z` that exists; null for anything else. */
export function secondsOfTime(value: unknown): number | null {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value)) return null;
  const milliseconds = Date.parse(value);
  return Number.isNaN(milliseconds) || new Date(milliseconds).toISOString() !== value.replace("Z", ".000Z") ? null : milliseconds / 1000;
}

function isExpiry(value: unknown): value is number | null {
  return value === null || (isWhole(value, numberMax) && value > 0);
}

/** In lists of VRPs the name is one field of a line, so that a tab or a line break in it would make other records. */
function isAnchor(value: unknown): value is string | null {
  return value === null || (typeof value === "string" && value.length <= anchorLettersMax && !/[\p{Cc}\p{Cs}]/u.test(value));
}
