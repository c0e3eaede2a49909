/** What the leases of one gateway share, and what they tell. */

import type { LimitMark, LimitRepository } from "@netfacts/storage";
import type { PolicyName } from "../domain/limit-windows.ts";
import type { DebtEvent } from "./debt.ts";
import type { StoreTime } from "./store-time.ts";
import type { LimiterSettings } from "./surface.ts";

export interface LeaseDeps {
  readonly limits: LimitRepository;
  readonly time: StoreTime;
  readonly monotonic: () => number;
  readonly settings: LimiterSettings;
  readonly onDebt: (event: DebtEvent, policy: PolicyName, units: number) => void;
  /** Told of an exception that nobody expected. The lease goes on. */
  readonly onFault: (error: unknown) => void;
  /** Of the marks. */
  readonly owner: string;
  /** A mark for each change of a counter. */
  readonly nextMark: () => LimitMark;
}

/** What is known of the window; `remaining` is null while nothing is. */
export interface LeaseStanding {
  readonly limit: number;
  readonly remaining: number | null;
  readonly resetsInSeconds: number | null;
  readonly resetsAt: number | null;
}
