/** The process of the one-process form: `make up`. */

import { runMain, startTelemetry } from "@netfacts/runtime/telemetry";

await runMain(async () => {
  const telemetry = await startTelemetry({ service: "netfacts" });
  // Only now: what is imported earlier is not instrumented.
  const { start } = await import("./start.ts");
  await start(telemetry);
});
