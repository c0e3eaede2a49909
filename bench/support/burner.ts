/**
 * A process that only uses processor time, for control measurements: `node burner.ts SHARE SECONDS` uses SHARE of one core, in turns like those
 * of services. It ends by itself.
 */

import { setTimeout as sleep } from "node:timers/promises";

/** Longest time for which a service blocks its event loop, in ms. */
const turnMs = 2;

const [share = 0, seconds = 0] = process.argv.slice(2).map(Number);
const startedAt = performance.now();
for (let now = startedAt; now - startedAt < seconds * 1_000; now = performance.now()) {
  const { user, system } = process.threadCpuUsage();
  if ((user + system) / 1_000 < share * (now - startedAt)) while (performance.now() - now < turnMs);
  else await sleep(1);
  await new Promise(setImmediate);
}
