/** Limits at the edge: the limiter admits requests from leased blocks, and reports what is left. */

export { type DebtEvent, debtEvents } from "./debt.ts";
export { createLimiter } from "./limiter.ts";
export { defaultLimiterSettings } from "./settings.ts";
export type {
  Admission,
  Charge,
  ConcurrencyStanding,
  Cost,
  Decision,
  LimitedKey,
  Limiter,
  LimiterOptions,
  LimiterSettings,
  LimitName,
  LimitStanding,
  Refusal,
  WindowStanding,
} from "./surface.ts";
