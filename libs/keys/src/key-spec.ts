/** The requested members of a key or a plan, checked as a whole: every fault is reported at once. */

import { formatPrefix, hostPrefix, parseAddress, parsePrefix, plainPrefix } from "@netfacts/address";
import { keyBounds, type Scope } from "@netfacts/contracts";
import type { ConcurrencyLimit, KeyEnvironment, KeyLimits, MonthLimit, RateLimit } from "./key-repository.ts";
import { redactText } from "./redact.ts";

export interface NewKey {
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly environment?: KeyEnvironment;
  /** CIDRs or single addresses. */
  readonly allowedCidrs?: readonly string[];
  readonly plan?: string;
  readonly rate?: RateLimit | null;
  readonly month?: MonthLimit | null;
  readonly concurrency?: ConcurrencyLimit | null;
  /** Unix milliseconds. */
  readonly expiresAt?: number | null;
}

/** Changeable members of a key; absent members stay unchanged. */
export type KeyPatch = Partial<Omit<NewKey, "environment">>;

const { labelCharsMax, allowedCidrsMax, limitMax, windowSecondsMax, concurrencyMax } = keyBounds;
/** Direction marks could change how the text next to a label is read in a list or log. Joiners are allowed: some scripts need them. */
const unshownInLabels = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const planNamePattern = new RegExp(keyBounds.planName);

export interface SpecFault {
  /** The name in the HTTP API: `allowed_cidrs[1]`. */
  readonly field: string;
  /** The message, without the field. */
  readonly message: string;
  /** The right value, if it is known. */
  readonly suggestion: string | null;
  /** The whole fault as a sentence for people. */
  readonly sentence: string;
}

/** `faults` has one sentence for each fault, `items` the same for programs. */
export class KeySpecError extends Error {
  readonly items: readonly SpecFault[];

  constructor(items: readonly SpecFault[]) {
    super(items.map(({ sentence }) => sentence).join("; "));
    this.name = "KeySpecError";
    this.items = items;
  }

  get faults(): readonly string[] {
    return this.items.map(({ sentence }) => sentence);
  }
}

/** @param name  the name of the field for people. */
export function specFault(field: string, message: string, name: string = field, suggestion: string | null = null): SpecFault {
  const sentence = `${name}: ${message}${suggestion === null ? "" : `; did you mean ${suggestion}?`}`;
  return { field, message, suggestion, sentence };
}

/** @returns the allowed CIDRs in canonical text; @throws KeySpecError */
export function checkNewKey(spec: NewKey, now: number): readonly string[] {
  return checkKey(spec, spec.environment ?? "live", now);
}

/** Checks the members that are present. @returns the allowed CIDRs in canonical text; @throws KeySpecError */
export function checkKey(spec: KeyPatch, environment: KeyEnvironment, now: number): readonly string[] {
  const faults: SpecFault[] = [];
  const { label, scopes, plan, expiresAt, allowedCidrs: cidrs = [] } = spec;
  if (label !== undefined && (label.trim() === "" || [...label].length > labelCharsMax || unshownInLabels.test(label))) {
    const what = `must be 1 to ${labelCharsMax} characters, not all blank and without control characters or marks of text direction`;
    faults.push(specFault("label", what));
  }
  if (label !== undefined && redactText(label) !== label) faults.push(specFault("label", "contains the text of a key"));
  if (scopes?.length === 0) faults.push(specFault("scopes", "must have at least one"));
  if (environment === "test" && scopes?.includes("admin")) faults.push(specFault("scopes", "must not include admin in a test key"));
  if (plan !== undefined && !planNamePattern.test(plan)) faults.push(planNameFault("plan"));
  faults.push(...limitFaults(spec));
  if (typeof expiresAt === "number" && !(expiresAt > now)) faults.push(specFault("expires_at", "must be in the future", "expiry"));
  if (cidrs.length > allowedCidrsMax) faults.push(specFault("allowed_cidrs", `must be at most ${allowedCidrsMax}`, "allowed CIDRs"));
  const canonical = cidrs.map((text, at) => canonicalCidr(text, `allowed_cidrs[${at}]`, faults));
  if (faults.length > 0) throw new KeySpecError(faults);
  return [...new Set(canonical)];
}

/** @throws KeySpecError */
export function checkPlan(name: string, limits: KeyLimits): void {
  const faults = limitFaults(limits);
  if (!planNamePattern.test(name)) faults.unshift(planNameFault("name"));
  if (faults.length > 0) throw new KeySpecError(faults);
}

function planNameFault(field: string): SpecFault {
  return specFault(field, "must be a name of 1 to 40 lower-case letters, digits, `-` and `_`, which begins with a letter or digit");
}

function limitFaults({ rate, month, concurrency }: Pick<KeyPatch, "rate" | "month" | "concurrency">): SpecFault[] {
  const faults: SpecFault[] = [];
  if (rate && !(isCount(rate.limit, limitMax) && isCount(rate.windowSeconds, windowSecondsMax))) {
    faults.push(specFault("rate", `must be 1 to ${limitMax} requests per window of 1 to ${windowSecondsMax} seconds`));
  }
  if (month && !isCount(month.limit, limitMax)) faults.push(specFault("month", `must be 1 to ${limitMax} answers`));
  if (concurrency && !isCount(concurrency.limit, concurrencyMax)) {
    faults.push(specFault("concurrency", `must be 1 to ${concurrencyMax} requests at a time`));
  }
  return faults;
}

function isCount(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= max;
}

function canonicalCidr(text: string, field: string, faults: SpecFault[]): string {
  const address = parseAddress(text);
  if (address !== null) return formatPrefix(plainPrefix(hostPrefix(address)));
  const reading = parsePrefix(text);
  if (reading.ok) return formatPrefix(plainPrefix(reading.prefix));
  if (reading.fault === "host-bits") {
    faults.push(specFault(field, "has bits set beyond its length", `allowed CIDR ${text}`, formatPrefix(reading.corrected)));
  } else {
    faults.push(specFault(field, "is not a CIDR or address", `allowed CIDR ${JSON.stringify(text)}`));
  }
  return text;
}
