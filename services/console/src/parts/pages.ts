/** Further pages of a list of the public API. */

import type { NetfactsClient } from "@netfacts/client";
import { client, patientClient } from "../session.ts";
import { type Page, type Pages, useFurtherPages } from "./further-pages.ts";

export { itemsMax, type Page, type Pages } from "./further-pages.ts";

/** Items of each further page. */
export const pageItems = 1_000;

/**
 * @param first  page in the answer; the list starts again when it changes.
 * @param again  requests `first` again.
 */
export function usePages<T>(
  first: Page<T>,
  ask: (client: NetfactsClient, cursor: string, signal: AbortSignal) => Promise<Page<T>>,
  again: () => void,
): Pages<T> {
  return useFurtherPages(first, (cursor, signal, isPatient) => ask((isPatient ? patientClient : client).value, cursor, signal), again);
}
