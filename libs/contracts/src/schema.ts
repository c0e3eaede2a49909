/** The few builders that every record schema is made of: closed objects, nullable types, enumerations. */

import Type, { type Static, type TProperties, type TSchema } from "typebox";

/** An object with exactly these members, serialised in this order. */
export function record<T extends TProperties>(members: T) {
  return Type.Object(members, { additionalProperties: false });
}

/** One of these strings. */
export function oneOf<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>({ type: "string", enum: [...values] });
}

/**
 * The schema's type or null, as `type: [T, "null"]`: compiled serialisers handle that form three times faster than `anyOf`.
 * Takes a schema with a single `type`.
 */
export function nullable<T extends TSchema>(schema: T) {
  const plain = schema as { type?: unknown; enum?: readonly unknown[] };
  if (typeof plain.type !== "string") throw new TypeError("nullable() takes a schema with a single type");
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [plain.type, "null"],
    ...(plain.enum === undefined ? {} : { enum: [...plain.enum, null] }),
  });
}

/** An AS number, a 32-bit integer. */
export const Asn = Type.Integer({ minimum: 0, maximum: 4_294_967_295 });

/** A number of things. */
export const Count = Type.Integer({ minimum: 0 });

/** A share from 0 to 1. */
export const Share = Type.Number({ minimum: 0, maximum: 1 });

/** RFC 3339 in UTC, whole seconds: `2026-11-21T09:00:02Z`. */
export const Timestamp = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$" });

/** `2026-11-21`. */
export const CalendarDate = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });

/** The version of an address. */
export const IpVersion = Type.Unsafe<4 | 6>({ type: "integer", enum: [4, 6] });

/** Text that may be unknown. */
export const NullableText = nullable(Type.String());

/** A truth that may be unknown. */
export const NullableBoolean = nullable(Type.Boolean());

/** A moment that may be unknown. */
export const NullableTimestamp = nullable(Timestamp);

/** A count that may be unknown. */
export const NullableCount = nullable(Count);
