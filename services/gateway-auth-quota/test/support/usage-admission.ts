/** Admissions as the limiter makes them, for what is counted of them. */

import type { UsageClass } from "@netfacts/contracts";
import type { Admission } from "../../src/limits/index.ts";
import { limitedKey } from "./limited-keys.ts";

/** @param at  store time of the admission; its month window is that of `monthOf`, by default its own. */
export function admissionAt(at: number, usage: UsageClass = "ip", id = "7Q9M3W8K", monthOf = at): Admission {
  const month = new Date(monthOf);
  const monthWindowStart = Date.UTC(month.getUTCFullYear(), month.getUTCMonth(), 1) / 1_000;
  const rate = { rate: 1, rateWindowStart: Math.floor(at / 1_000) };
  const charge = { ...rate, month: 1, monthWindowStart, at, slot: false, usage, isRequest: true, kept: 0 };
  return { admitted: true, key: limitedKey({}, id), charge };
}
