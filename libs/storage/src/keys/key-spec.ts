/** What a new key is asked to be, checked whole: every fault at once. */

import { formatPrefix, makePrefix, parseAddress, parsePrefix } from "@netfacts/address";
import type { Scope } from "@netfacts/contracts";
import type { KeyEnvironment, MonthLimit, RateLimit } from "../key-repository.ts";

export interface NewKey {
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly environment?: KeyEnvironment;
  /** CIDRs or single addresses. */
  readonly allowedCidrs?: readonly string[];
  readonly plan?: string;
  readonly rate?: RateLimit | null;
  readonly month?: MonthLimit | null;
  /** Unix milliseconds. */
  readonly expiresAt?: number | null;
}

export const labelMax = 100;
export const cidrsMax = 100;
export const limitMax = 1_000_000_000;
export const windowSecondsMax = 86_400;

/** `faults` has one sentence for each thing that is wrong. */
export class KeySpecError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("; "));
    this.name = "KeySpecError";
    this.faults = faults;
  }
}

/** @returns the allowed CIDRs in canonical text; @throws KeySpecError */
export function checkNewKey(spec: NewKey, now: number): readonly string[] {
  const faults: string[] = [];
  if (spec.label.trim() === "" || spec.label.length > labelMax || /\p{Cc}/u.test(spec.label)) {
    faults.push(`label: 1 to ${labelMax} characters, no control characters`);
  }
  if (spec.scopes.length === 0) faults.push("scopes: at least one");
  if (spec.environment === "test" && spec.scopes.includes("admin")) faults.push("scopes: a test key never has the scope admin");
  if (spec.rate && !(isCount(spec.rate.limit, limitMax) && isCount(spec.rate.windowSeconds, windowSecondsMax))) {
    faults.push(`rate: 1 to ${limitMax} requests per window of 1 to ${windowSecondsMax} seconds`);
  }
  if (spec.month && !isCount(spec.month.limit, limitMax)) faults.push(`month: 1 to ${limitMax} answers`);
  if (typeof spec.expiresAt === "number" && !(spec.expiresAt > now)) faults.push("expiry: must be in the future");
  const cidrs = spec.allowedCidrs ?? [];
  if (cidrs.length > cidrsMax) faults.push(`allowed CIDRs: at most ${cidrsMax}`);
  const canonical = cidrs.map((text) => canonicalCidr(text, faults));
  if (faults.length > 0) throw new KeySpecError(faults);
  return [...new Set(canonical)];
}

function isCount(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= max;
}

function canonicalCidr(text: string, faults: string[]): string {
  const address = parseAddress(text);
  if (address !== null) {
    const { version, w0, w1, w2, w3 } = address;
    return formatPrefix(makePrefix(version, w0, w1, w2, w3, version === 4 ? 32 : 128));
  }
  const reading = parsePrefix(text);
  if (reading.ok) return formatPrefix(reading.prefix);
  faults.push(
    reading.fault === "host-bits"
      ? `allowed CIDR ${text}: has bits set beyond its length; did you mean ${formatPrefix(reading.corrected)}?`
      : `allowed CIDR ${JSON.stringify(text)}: is no CIDR or address`,
  );
  return text;
}
