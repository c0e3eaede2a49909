/** Reads an operator's query of usage: days, filters, grouping and cursor. */

import { ProblemError, type UsageApart, usageApart } from "@netfacts/contracts";
import { daysOf, type UsagePlace, type UsageQuery } from "@netfacts/storage";
import { invalidParameter } from "../edge/invalid-parameter.ts";

export interface UsageQuestion {
  readonly query: UsageQuery;
  /** Grouping members, in the order of the sorted rows. */
  readonly by: readonly UsageApart[];
  readonly after: UsagePlace | null;
}

const byDefault: readonly UsageApart[] = ["key", "day", "route_class"];

/**
 * @param parameters  parameters of the request; each fits its schema.
 * @param now         Unix ms; its month is the default.
 * @throws ProblemError
 */
export function readUsageQuestion(parameters: Readonly<Record<string, string>>, now: number): UsageQuestion {
  const { key_id: keyId, bucket, route_class: routeClass, by: byText, cursor } = parameters;
  const named = new Set(byText?.split(",") ?? byDefault);
  if (named.has("day") && named.has("month")) throw invalidParameter("by", "contains day and month; use only one");
  const by = usageApart.filter((name) => named.has(name));
  return {
    query: {
      ...readDays(parameters, now),
      ...(keyId !== undefined && { keyId }),
      ...(bucket !== undefined && { bucket }),
      ...(routeClass !== undefined && { routeClass }),
    },
    by,
    after: cursor === undefined ? null : readCursor(by, cursor),
  };
}

/** The cursor includes the grouping, because it means another place with another grouping. */
export function usageCursor(by: readonly UsageApart[], { keyId, day, month, routeClass }: UsagePlace): string {
  return Buffer.from(JSON.stringify([by.join(), keyId, day ?? month, routeClass])).toString("base64url");
}

function readCursor(by: readonly UsageApart[], text: string): UsagePlace {
  try {
    const [wanted, keyId, time, routeClass, ...rest] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    const place = {
      keyId: textWhere(by.includes("key"), keyId),
      day: textWhere(by.includes("day"), by.includes("day") ? time : null),
      month: textWhere(by.includes("month"), by.includes("month") ? time : null),
      routeClass: textWhere(by.includes("route_class"), routeClass),
    };
    if (wanted === by.join() && rest.length === 0) return place;
  } catch {
    // Thrown below.
  }
  throw new ProblemError("invalid_cursor", {
    errors: [{ location: "query.cursor", code: "invalid_cursor", message: "is incomplete, or belongs to a request with a different `by`" }],
  });
}

function textWhere(wanted: boolean, value: unknown): string | null {
  if (wanted ? typeof value === "string" : value === null) return value as string | null;
  throw new TypeError("another member is wanted");
}

function readDays({ month, from, to }: Readonly<Record<string, string>>, now: number): Pick<UsageQuery, "from" | "to"> {
  if (from === undefined && to === undefined) return daysOf(month ?? new Date(now).toISOString().slice(0, 7));
  if (month !== undefined) throw invalidParameter("month", "cannot be combined with from and to");
  if (from === undefined || to === undefined)
    throw invalidParameter(from === undefined ? "from" : "to", "is missing: from and to must be used together");
  if (from > to) throw invalidParameter("from", "is after to");
  return { from, to };
}
