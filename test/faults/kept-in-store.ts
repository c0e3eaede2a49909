/** What a shared store keeps, to be compared with what another one does: the rows that `netfacts usage`, `audit`, `keys list` and `plans list` show. */

import type { AuditEntry, KeyRecord, PlanRecord } from "@netfacts/keys";
import type { Store, UsageRow } from "@netfacts/storage";
import { openMongoStore } from "@netfacts/storage/mongo";

export interface KeptInStore {
  readonly usage: readonly UsageRow[];
  readonly audit: readonly AuditEntry[];
  readonly keys: readonly KeyRecord[];
  readonly plans: readonly PlanRecord[];
}

export const allDays = { from: "2000-01-01", to: "2999-12-31" };

/** @param uri  of MongoDB. */
export function keptInStore(uri: string): Promise<KeptInStore> {
  return inStore(uri, async ({ usage, audit, keys, plans }) => ({
    usage: await usage.list(allDays),
    audit: await audit.list({ limit: 1_000 }),
    keys: await keys.list(),
    plans: await plans.list(),
  }));
}

export async function inStore<T>(uri: string, act: (store: Store) => Promise<T>): Promise<T> {
  const store = await openMongoStore(uri, { appName: "faults" });
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}
