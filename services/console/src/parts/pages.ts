/** Further pages of a list of the public API. */

import type { NetfactsClient } from "@netfacts/client";
import { client } from "../session.ts";
import { type Page, type Pages, useFurtherPages } from "./further-pages.ts";

export type { Page } from "./further-pages.ts";

/** @param first  the page that the answer has; another one begins anew. */
export function usePages<T>(
  first: Page<T>,
  ask: (client: NetfactsClient, cursor: string, signal: AbortSignal) => Promise<Page<T>>,
): Pages<T> {
  return useFurtherPages(first, (cursor, signal) => ask(client.value, cursor, signal));
}
