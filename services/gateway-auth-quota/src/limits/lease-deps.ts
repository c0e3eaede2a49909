/** The parts that the leases of one gateway share, and the standing that they report. */

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
  /** Called with an unexpected exception. The lease continues. */
  readonly onFault: (error: unknown) => void;
  /** Owner in all marks of this gateway. */
  readonly owner: string;
  /** Makes a new mark for a change of a counter. */
  readonly nextMark: () => LimitMark;
}

/** The known state of a window. `remaining` is null while the counter is unknown; the reset times, while the store's time is. */
export interface LeaseStanding {
  readonly limit: number;
  readonly remaining: number | null;
  readonly resetsInSeconds: number | null;
  readonly resetsAt: number | null;
}
