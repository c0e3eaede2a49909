/** The schedule of a source as operators see it. */

import type { SourceSchedule } from "@netfacts/contracts";
import { timestamp } from "@netfacts/contracts";
import type { SourceConfig } from "../sources/index.ts";
import type { SourceStock } from "./source-stock.ts";

export async function scheduleOf(source: SourceConfig, stock: SourceStock): Promise<SourceSchedule> {
  const { nextAt } = stock.state(source);
  const { checkedAt, succeededAt, failures } = stock.checks(source);
  const newest = stock.newest(source);
  const file = await newest;
  return {
    checked_at: timestampOrNull(checkedAt),
    succeeded_at: timestampOrNull(succeededAt),
    next_check_at: timestampOrNull(nextAt),
    failures,
    error: stock.fault(source),
    refused: await stock.refusal(source, newest),
    url: file?.url ?? null,
    fetched_at: timestampOrNull(file?.fetchedAt ?? null),
    // Given-up data have an empty one.
    sha256: file?.sha256 || null,
  };
}

/** As RFC 3339, in whole seconds. */
function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}
