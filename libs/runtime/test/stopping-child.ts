/** A process for the tests of stop and main: what it does is its first argument. */

import Type from "typebox";
import { createLogger, installStop, loadConfig, runMain } from "../src/index.ts";

const stops: Record<string, () => Promise<void>> = {
  quick: async () => {},
  slow: () => new Promise((resolve) => setTimeout(resolve, 300)),
  never: () => new Promise(() => {}),
  failing: () => Promise.reject(new Error("the store did not close")),
};

await runMain(async () => {
  const [what = "quick"] = process.argv.slice(2);
  if (what === "misconfigured") loadConfig(Type.Object({ PORT: Type.Integer(), RATE: Type.Number() }), { PORT: "x", RATE: "y" });
  const alive = setInterval(() => process.stdout.write("alive\n"), 20);
  if (what === "unable") throw new Error("cannot start", { cause: new Error("port is in use") });
  // Put together here, as the bundle of the tests would compile it.
  if (what === "uncompilable") await import(["data:text/javascript", "import { none } from 'node:fs'"].join());
  if (what === "unreadable") JSON.parse("{");
  const log = createLogger({ service: "child" });
  const end = installStop({
    log,
    stopTimeoutMs: 2_000,
    hasTerminal: () => what !== "closed",
    stop: async () => {
      clearInterval(alive);
      // Something always holds the loop in a service: an open socket does here.
      setInterval(() => {}, 1_000);
      await stops[what]?.();
    },
  });
  process.stdout.write("ready\n");
  if (what === "done") end();
});
