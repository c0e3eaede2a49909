/**
 * A process that only uses processor time, for controls: `node burner.ts SHARE SECONDS` uses SHARE of one core, in turns as services
 * take them. It ends by itself, or when its parent does.
 */

import { setTimeout as sleep } from "node:timers/promises";

/** As long as a service keeps its event loop at most. */
const turnMs = 2;

const [share = 0, seconds = 0] = process.argv.slice(2).map(Number);
const startedAt = performance.now();
for (let now = startedAt; now - startedAt < seconds * 1_000; now = performance.now()) {
  const { user, system } = process.threadCpuUsage();
  if ((user + system) / 1_000 < share * (now - startedAt)) while (performance.now() - now < turnMs);
  else await sleep(1);
  await new Promise(setImmediate);
}
