/** Checks that documents of keys, plans or limits have the form that this program writes. Other programs can write them too, with other types. */

import { keyBounds } from "@netfacts/contracts";
import type { StoreError } from "../store-error.ts";
import type { MongoConnection } from "./mongo-connection.ts";

/** @returns the fault, with the path of the member; null: there is none. */
type Rule = (value: unknown, path: string) => string | null;

/** Checks for the documents of one collection. */
export interface Documents<D extends { _id: string }> {
  /** @throws StoreError `invalid` */
  checked(document: D): D;
  /** Leaves out documents that are not valid. */
  valid(documents: readonly D[]): D[];
}

/** Each invalid document is reported by `connection.invalid`. */
export function documents<D extends { _id: string }>(connection: MongoConnection, collection: string, rule: Rule): Documents<D> {
  const faultOf = (document: D): StoreError | null => {
    const fault = rule(document, "");
    return fault === null ? null : connection.invalid(`document ${JSON.stringify(document._id)} of ${collection} is not valid: ${fault}`);
  };
  return {
    checked(document) {
      const fault = faultOf(document);
      if (fault !== null) throw fault;
      return document;
    },
    valid: (all) => all.filter((document) => faultOf(document) === null),
  };
}

function rule(must: string, holds: (value: unknown) => boolean): Rule {
  return (value, path) => (holds(value) ? null : `${path} must be ${must}, but ${seen(value)}`);
}

/** Describes a value without showing it: that of a key may be its hash. */
function seen(value: unknown): string {
  if (value === undefined) return "is missing";
  if (value === null) return "is null";
  const { _bsontype: type = null } = value as { readonly _bsontype?: string };
  if (type !== null) return `is a ${type}`;
  if (typeof value === "number") return `is ${value}`;
  return typeof value === "string" ? "is a text" : `is of the type ${Array.isArray(value) ? "array" : typeof value}`;
}

/** The driver reads integers and floating-point numbers as numbers; an integer beyond 2^53 and a Decimal128 are objects. */
function whole(min: number, max: number = Number.MAX_SAFE_INTEGER): Rule {
  return rule(
    `a whole number from ${min} to ${max}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
  );
}

function oneOf(...values: readonly string[]): Rule {
  const must = `must be ${values.map((value) => `"${value}"`).join(" or ")}`;
  return (value, path) => {
    if (values.includes(value as string)) return null;
    return `${path} ${must}, but ${typeof value === "string" ? `is ${JSON.stringify(value.slice(0, 40))}` : seen(value)}`;
  };
}

function orNull(of: Rule): Rule {
  return (value, path) => (value === null ? null : of(value, path));
}

function optional(of: Rule): Rule {
  return (value, path) => (value === undefined ? null : of(value, path));
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const object = rule("an object", isObject);

/** Other members are not checked. */
function members(rules: Readonly<Record<string, Rule>>): Rule {
  return (value, path) => {
    if (!isObject(value)) return object(value, path);
    const all = value as Readonly<Record<string, unknown>>;
    for (const [name, of] of Object.entries(rules)) {
      const fault = of(all[name], path === "" ? name : `${path}.${name}`);
      if (fault !== null) return fault;
    }
    return null;
  };
}

/** An object whose members, one for each owner, all follow one rule. */
function each(of: Rule): Rule {
  return (value, path) =>
    isObject(value)
      ? members(Object.fromEntries(Object.keys(value as object).map((name) => [name, of])))(value, path)
      : object(value, path);
}

const text = rule("a text", (value) => typeof value === "string");
const texts = rule("a list of texts", (value) => Array.isArray(value) && value.every((one) => typeof one === "string"));
const boolean = rule("true or false", (value) => typeof value === "boolean");
/** The range of a `Date`. */
const milliseconds = whole(0, 8.64e15);
const date = rule("a date", (value) => value instanceof Date && !Number.isNaN(value.getTime()));

const rate = members({ limit: whole(1, keyBounds.limitMax), windowSeconds: whole(1, keyBounds.windowSecondsMax) });
const month = members({ limit: whole(1, keyBounds.limitMax) });
const concurrency = orNull(members({ limit: whole(1, keyBounds.concurrencyMax) }));

/** Optional members are missing in documents of earlier versions. Scopes of later versions are accepted, and allow nothing here. */
export const keyRule = members({
  hash: text,
  hashAlgorithm: oneOf("sha256", "hmac-sha256"),
  pepperId: orNull(text),
  environment: oneOf("live", "test"),
  lastFour: text,
  label: text,
  scopes: texts,
  allowedCidrs: texts,
  plan: text,
  rate: orNull(rate),
  month: orNull(month),
  concurrency: optional(concurrency),
  bucket: text,
  state: oneOf("active", "disabled", "revoked"),
  createdAt: milliseconds,
  expiresAt: orNull(milliseconds),
  replacedBy: orNull(text),
  rotatedAt: optional(orNull(milliseconds)),
  validUntil: orNull(milliseconds),
  steppingDown: optional(boolean),
  version: whole(1),
});

export const planRule = members({ rate, month, concurrency: optional(concurrency), updatedAt: milliseconds, version: whole(1) });

const unitsOfOwners = optional(each(whole(0)));
const timesOfOwners = optional(each(date));

/** The members of a counter that readers use. */
export const windowRule = members({
  leased: whole(0),
  at: date,
  expiresAt: date,
  reserved: unitsOfOwners,
  reservedAt: timesOfOwners,
  held: unitsOfOwners,
  heldAt: timesOfOwners,
});
