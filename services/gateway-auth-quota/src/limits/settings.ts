/** Defaults of the limiter's settings, which `LimiterSettings` documents. */

import type { LimiterSettings } from "./surface.ts";

export const defaultLimiterSettings: LimiterSettings = {
  waitMs: 500,
  waitersMax: 1_024,
  askAgainMs: 250,
  idleReturnMs: 1_000,
  idleReturnMsMax: 5_000,
  blockMax: 4_096,
  blockSeconds: 0.25,
  bridgeSeconds: 15,
  blockShareOfLeft: 1 / 16,
  monthShareOfLeft: 1 / 64,
  debtMax: 0,
};
