/** Limits at the edge: the limiter admits requests from leased blocks and tells what is left. */

export { createLimiter } from "./limiter.ts";
export { defaultLimiterSettings } from "./settings.ts";
export type {
  Admission,
  Charge,
  Decision,
  LimitedKey,
  Limiter,
  LimiterOptions,
  LimiterSettings,
  LimitStanding,
  Refusal,
} from "./surface.ts";
