/** The process of `ip-routing`, which accepts questions when it has a snapshot. */

import { runMain, startTelemetry } from "@netfacts/runtime/telemetry";

const service = "ip-routing";

await runMain(async () => {
  const telemetry = await startTelemetry({ service });
  // Import only now: earlier imports are not instrumented.
  const { runService, systemClock } = await import("@netfacts/runtime");
  const { openPod } = await import("@netfacts/pod/open-pod");
  const { buildApp } = await import("./app.ts");
  const { loadPodConfig } = await import("./config.ts");

  await runService({
    service,
    telemetry,
    loadConfig: loadPodConfig,
    async build(context) {
      const { config, log } = context;
      const pod = await openPod(service, config, context);
      return pod.serve(
        buildApp({
          messaging: pod.messaging,
          dataset: pod.dataset,
          past: pod.past,
          clock: systemClock,
          onFailure: ({ op, requestId }, cause) => log.error({ err: cause, op, request_id: requestId }, "an answer failed"),
          onNoPast: (err) => log.warn({ err }, "requests with as_of cannot be served"),
        }),
      );
    },
  });
});
