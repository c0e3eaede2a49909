/** Cursors of operators' lists: the time and id of the last item of a page. So the next page is right although the list grows. */

import { ProblemError } from "@netfacts/contracts";

export interface PagePlace {
  /** Unix ms. */
  readonly at: number;
  readonly id: string;
}

export const pageLimitDefault = 100;

/** The text of `next_cursor`. */
export function encodePlace({ at, id }: PagePlace): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

/** @throws ProblemError for a text that is not a cursor of these lists. */
export function decodePlace(text: string | undefined): PagePlace | undefined {
  if (text === undefined) return undefined;
  try {
    const [at, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (Number.isSafeInteger(at) && typeof id === "string") return { at: at as number, id };
  } catch {
    // Thrown below.
  }
  throw invalidCursor();
}

/** The problem of a cursor that does not belong to the list. */
export function invalidCursor(): ProblemError {
  const errors = [{ location: "query.cursor", code: "invalid_cursor" as const, message: "is not a `next_cursor` of this list" }];
  return new ProblemError("invalid_cursor", { errors });
}

/** The items of a page and its cursor. @param found  up to `limit` items, and one more if there is a next page. */
export function pageOf<T, Item>(
  found: readonly T[],
  limit: number,
  itemOf: (each: T) => Item,
  placeOf: (each: T) => PagePlace,
): { items: Item[]; next_cursor: string | null } {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(itemOf), next_cursor: found.length > limit && last !== undefined ? encodePlace(placeOf(last)) : null };
}
