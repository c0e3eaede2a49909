/** `make soak MINUTES=60`: the distributed form under load that never repeats; memory, files, timers, sockets and subscriptions must stay flat. */

import { setTimeout as sleep } from "node:timers/promises";
import { startDistributed } from "../test/support/distributed.ts";
import { netfactsJsonWith, removeFolders, temporaryFolder } from "../test/support/processes.ts";
import { startRecursiveDns } from "../test/support/recursive-dns.ts";
import { soakLoad, type Tally } from "./soak/load.ts";
import { growthOf, type Sample, sampleOfNats, sampleOfService } from "./soak/watch.ts";

const minutes = Number(process.env.MINUTES ?? 60);
const stepsPerSecond = Number(process.env.RATE ?? 150);
const sampleMs = 5_000;
const workers = 24;
// Fewer samples than in half a minute tell nothing.
if (!(minutes >= 0.5 && minutes <= 24 * 60)) throw new Error("MINUTES must be a number from 0.5 to 1440 (one day)");
if (!(stepsPerSecond > 0)) throw new Error("RATE must be a number greater than 0");

interface Watched {
  readonly name: string;
  readonly sample: () => Promise<Partial<Sample>>;
  readonly samples: Partial<Sample>[];
}

/** Takes a sample of each now and then. Rejects when one does not tell. */
async function watch(watched: readonly Watched[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const { sample, samples } of watched) samples.push(await sample());
    await sleep(sampleMs, undefined, { signal }).catch(() => undefined);
  }
}

const dns = await startRecursiveDns();
const all = await startDistributed({
  replicas: { "ip-routing": 2, "gateway-auth-quota": 2 },
  natsConfig: 'http: "127.0.0.1:-1"',
  settings: { RESOLVERS: dns.address, RDNS_TIMEOUT_MS: "1000", FAILED_KEYS_MAX: "1000000" },
}).catch(async (error: unknown) => {
  await dns.stop();
  throw error;
});
try {
  const home = temporaryFolder();
  const key = (...options: string[]) =>
    netfactsJsonWith<{ secret: string }>(
      all.env,
      home,
      "keys",
      "create",
      "--label",
      "soak",
      "--rate",
      "1000000",
      "--month",
      "1000000000",
      ...options,
    );
  const target = {
    urls: all.gateways.map(({ url }) => url),
    operatorUrl: all.gateways[0]?.operatorUrl ?? "",
    adminKey: (await key("--scopes", "admin")).secret,
    key: (await key()).secret,
  };
  const monitor = /http monitor on (127\.0\.0\.1:\d+)/.exec(all.nats.log())?.[1];
  const watched: Watched[] = [
    ...all.processes.map(({ name, operationsUrl }) => ({ name, sample: () => sampleOfService(operationsUrl), samples: [] })),
    { name: "nats-server", sample: () => sampleOfNats(`http://${monitor}`), samples: [] },
  ];
  const tally: Tally = new Map();
  console.log(`${minutes} minutes at up to ${stepsPerSecond} steps a second`);
  // Either ends the other: load that nobody watches, and a watch of what has ended, tell nothing.
  const ending = new AbortController();
  const untilMs = performance.now() + minutes * 60_000;
  const both = [soakLoad(target, untilMs, stepsPerSecond, workers, tally, ending.signal), watch(watched, ending.signal)];
  const ended = both.map((one) => one.finally(() => ending.abort()));
  await Promise.allSettled(ended);
  await Promise.all(ended);

  console.table(Object.fromEntries([...tally].sort()));
  let leaks = 0;
  const rows = watched.flatMap(({ name, samples }) =>
    growthOf(samples).map((growth) => {
      if (growth.isLeak) leaks += 1;
      const shown = (value: number) => (value > 1 << 20 ? `${(value / (1 << 20)).toFixed(1)} MiB` : String(value));
      return {
        process: name,
        what: growth.name,
        before: shown(growth.before),
        after: shown(growth.after),
        grows: growth.isLeak ? "YES" : "",
      };
    }),
  );
  console.table(rows);
  // 503 is what a machine that has too much to do should say.
  const failures = [...tally].filter(([line]) => / 5(?!03)\d\d$/.test(line));
  if (failures.length > 0) console.log(`unexpected failures: ${failures.map(([line, count]) => `${count} × ${line}`).join(", ")}`);
  console.log(
    JSON.stringify({ minutes, steps: [...tally.values()].reduce((sum, count) => sum + count, 0), leaks, failures: failures.length }),
  );
  process.exitCode = leaks === 0 && failures.length === 0 ? 0 : 1;
} finally {
  await all.stop();
  await dns.stop();
  removeFolders();
}
