/** Cursors of operators' lists: the time and id of the last item of a page, so that a list that grows stays in step. */

import { ProblemError } from "@netfacts/contracts";

export interface PagePlace {
  /** Unix ms. */
  readonly at: number;
  readonly id: string;
}

export const pageLimitDefault = 100;

/** As `next_cursor` has it. */
export function encodePlace({ at, id }: PagePlace): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

/** @throws ProblemError for text that no page of ours gave. */
export function decodePlace(text: string | undefined): PagePlace | undefined {
  if (text === undefined) return undefined;
  try {
    const [at, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (Number.isSafeInteger(at) && typeof id === "string") return { at: at as number, id };
  } catch {
    // Said below.
  }
  throw invalidCursor();
}

/** For a cursor that the list did not give. */
export function invalidCursor(): ProblemError {
  const errors = [{ location: "query.cursor", code: "invalid_cursor" as const, message: "is not a `next_cursor` of this list" }];
  return new ProblemError("invalid_cursor", { errors });
}

/** The items of a page and its cursor, out of one item more than fits. */
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
