/** Checks and condenses a batch of usage for every store: one row per key, day and class. */

import type { UsageBatch, UsageQuery, UsageRow } from "./usage-repository.ts";

const names = /^[A-Za-z0-9_-]{1,64}$/;
const dayForm = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const monthForm = /^\d{4}-(0[1-9]|1[0-2])$/;

/** @throws RangeError */
export function condense({ writer, sequence, increments }: UsageBatch): UsageRow[] {
  // The name becomes part of a field name, and the sequence is compared.
  if (!names.test(writer)) throw new RangeError("the name of a usage writer must be 1 to 64 letters, digits, _ and -");
  if (!Number.isSafeInteger(sequence) || sequence < 1) throw new RangeError(`the sequence number of a usage batch cannot be ${sequence}`);
  const rows = new Map<string, UsageRow>();
  for (const row of increments) {
    const id = usageId(row);
    const before = rows.get(id);
    check(row);
    rows.set(id, {
      ...row,
      counted: row.counted + (before?.counted ?? 0),
      uncounted: row.uncounted + (before?.uncounted ?? 0),
    });
  }
  return [...rows.values()];
}

export function usageId({ keyId, day, routeClass }: UsageRow): string {
  return `${keyId}:${day}:${routeClass}`;
}

/** The first and the last day of a month, `2026-11`. @throws RangeError */
export function daysOf(month: string): Pick<UsageQuery, "from" | "to"> {
  if (!monthForm.test(month)) throw new RangeError(`${JSON.stringify(month)} is not a month`);
  const [year = 0, number = 0] = month.split("-").map(Number);
  return { from: `${month}-01`, to: `${month}-${new Date(Date.UTC(year, number, 0)).getUTCDate()}` };
}

function check({ keyId, bucket, day, routeClass, counted, uncounted }: UsageRow): void {
  if (!names.test(keyId) || !names.test(bucket) || !names.test(routeClass)) throw new RangeError("usage with an invalid key id or class");
  if (!dayForm.test(day)) throw new RangeError(`${JSON.stringify(day)} is not a day`);
  for (const count of [counted, uncounted]) {
    if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`cannot add ${count} requests`);
  }
}
