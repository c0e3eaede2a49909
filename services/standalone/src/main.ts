/** The process of the one-process form: `make up`. */

import { runMain, startTelemetry } from "@netfacts/runtime/telemetry";

await runMain(async () => {
  const telemetry = await startTelemetry({ service: "netfacts" });
  // Import only now: earlier imports are not instrumented.
  const { start } = await import("./start.ts");
  await start(telemetry);
});
