/** Usage in the form that operators ask for: rows summed over the dimensions that they leave out. */

import type { UsageItem } from "@netfacts/contracts";
import type { UsageCounts, UsageQuery, UsageRepository, UsageRow } from "./usage-repository.ts";

/** Dimensions of a report. `day` and `month` exclude each other. */
export const usageDimensions = ["key", "day", "month", "route_class"] as const;
export type UsageDimension = (typeof usageDimensions)[number];

/** Null: summed over this dimension. `bucket` is given together with the key. */
export interface UsageGroup extends UsageCounts {
  readonly keyId: string | null;
  readonly bucket: string | null;
  readonly day: string | null;
  /** `2026-11`. */
  readonly month: string | null;
  readonly routeClass: string | null;
}

/** The place at which a list of groups continues: after this group. */
export type UsagePlace = Pick<UsageGroup, "keyId" | "day" | "month" | "routeClass">;

/** Rows of one read: between two reads, the event loop and other users of the store get their turn. */
const rowsRead = 1_000;

/**
 * The groups in ascending order of key, day or month, and class. Holds at most the groups of one key; if keys are summed, one group per day and
 * class. Reads the rows of the query by pages.
 */
export async function* usageGroups(
  usage: Pick<UsageRepository, "list">,
  query: UsageQuery,
  by: readonly UsageDimension[],
  after: UsagePlace | null = null,
): AsyncGenerator<UsageGroup> {
  const byKey = by.includes("key");
  const isBehind = (group: UsageGroup): boolean => after === null || compare(group, after) > 0;
  let groups = new Map<string, UsageGroup>();
  let keyId: string | null = null;
  for await (const rows of pagesOf(usage, query, byKey ? (after?.keyId ?? null) : null)) {
    for (const row of rows) {
      if (byKey && row.keyId !== keyId) {
        yield* inOrder(groups).filter(isBehind);
        groups = new Map();
        keyId = row.keyId;
      }
      add(groups, row, by);
    }
  }
  yield* inOrder(groups).filter(isBehind);
}

/** An item of the API: dimensions that were summed over are absent. */
export function usageItem({ keyId, bucket, day, month, routeClass, counted, uncounted }: UsageGroup): UsageItem {
  return {
    ...(keyId !== null && { key_id: keyId }),
    ...(bucket !== null && { bucket }),
    ...(day !== null && { day }),
    ...(month !== null && { month }),
    ...(routeClass !== null && { route_class: routeClass as UsageItem["route_class"] & string }),
    counted,
    uncounted,
  };
}

/** The members of its items, in their order. */
export function usageColumns(by: readonly UsageDimension[]): string[] {
  const apart = usageDimensions.filter((name) => by.includes(name));
  return [...apart.flatMap((name) => (name === "key" ? ["key_id", "bucket"] : [name])), "counted", "uncounted"];
}

/** @param fromKey  the first key to read; null: all. */
async function* pagesOf(usage: Pick<UsageRepository, "list">, query: UsageQuery, fromKey: string | null): AsyncGenerator<UsageRow[]> {
  let after = fromKey === null ? undefined : { keyId: fromKey, day: "", routeClass: "" };
  for (;;) {
    const rows = await usage.list(query, { limit: rowsRead, ...(after !== undefined && { after }) });
    yield rows;
    after = rows.at(-1);
    if (after === undefined || rows.length < rowsRead) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function add(groups: Map<string, UsageGroup>, row: UsageRow, by: readonly UsageDimension[]): void {
  const day = by.includes("day") ? row.day : null;
  const month = by.includes("month") ? row.day.slice(0, 7) : null;
  const routeClass = by.includes("route_class") ? row.routeClass : null;
  const id = `${day ?? month}:${routeClass}`;
  const before = groups.get(id);
  groups.set(id, {
    keyId: by.includes("key") ? row.keyId : null,
    bucket: by.includes("key") ? row.bucket : null,
    day,
    month,
    routeClass,
    counted: row.counted + (before?.counted ?? 0),
    uncounted: row.uncounted + (before?.uncounted ?? 0),
  });
}

function inOrder(groups: ReadonlyMap<string, UsageGroup>): UsageGroup[] {
  return [...groups.values()].sort(compare);
}

/** Compares by code units, the order of rows in both stores. */
function compare(a: UsagePlace, b: UsagePlace): number {
  for (const member of ["keyId", "day", "month", "routeClass"] as const) {
    const [left, right] = [a[member] ?? "", b[member] ?? ""];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
