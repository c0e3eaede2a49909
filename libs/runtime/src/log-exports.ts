/** Log lines about the export of traces. */

import type { Logger } from "./logger.ts";
import type { Telemetry } from "./telemetry.ts";

/** From now on the log says when traces cannot be exported, and when they are exported again. */
export function logExports(telemetry: Pick<Telemetry, "onExport">, log: Pick<Logger, "info" | "warn">): void {
  telemetry.onExport((fault) => {
    if (fault === null) log.info({}, "traces are exported again");
    else log.warn({ fault }, "traces cannot be exported; the service continues without them");
  });
}
