/** A service's process for its tests: what it does is its first argument, and each step is a line of its output. */

import { setTimeout as sleep } from "node:timers/promises";
import { runMain, startTelemetry } from "../../src/telemetry.ts";

const [, , what = "plain"] = process.argv;
const say = (line: string) => process.stdout.write(`${line}\n`);

await runMain(async () => {
  const telemetry = await startTelemetry({ service: "child" });
  const { loadConfig, runService } = await import("../../src/index.ts");
  const { default: Type } = await import("typebox");
  await runService({
    service: "child",
    telemetry,
    loadConfig: () => loadConfig(Type.Object({ RATE: Type.Number({ default: 1 }) })),
    async build({ onStop, stopping }) {
      onStop(() => void say("closed the store"));
      onStop(() => {
        say("closed the connection");
        if (what === "faulty stop" || what === "unable and faulty") throw new Error("the connection did not close");
      });
      if (what.startsWith("unable")) throw new Error("no store");
      if (what === "starting") {
        say("starting");
        await new Promise((resolve) => stopping.addEventListener("abort", resolve));
        await sleep(50);
        onStop(() => void say("closed what was opened late"));
        throw new Error("the start was given up");
      }
      let ready = false;
      return {
        async start() {
          process.once("SIGUSR2", () => {
            ready = true;
          });
          if (what === "faulty") setTimeout(() => Promise.reject(new Error("nobody expected this")), 300);
        },
        async stop() {
          say("stopping the app");
          await sleep(300);
          say("stopped the app");
        },
        ready: () => ready,
      };
    },
  });
});
