/**
 * P12: PTR lookups of names that nobody has asked for yet, against nsd: the service's lookup (cache, single flight, own client) and the whole
 * service as a process that is asked over NATS, both beside `node:dns`. `scripts/run.sh bench/ptr.ts`
 */

import { Resolver } from "node:dns/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatIpv4 } from "@netfacts/address";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { NameserverPool } from "../services/rdns-resolver/src/dns/pool.ts";
import { PtrLookup } from "../services/rdns-resolver/src/lookup/ptr-lookup.ts";
import { startNatsServer } from "../test/support/nats-server.ts";
import { startNsd } from "../test/support/nsd.ts";
import { interleave, printResults, type Side } from "./support/rounds.ts";
import { cpuSeconds, startService } from "./support/service-process.ts";

const lookupsPerRound = 20_000;
const rounds = 9;
const budgetMs = 10_000;

/** A name for every address of 11.0.0.0/8. */
const zone = `$ORIGIN 11.in-addr.arpa.
$TTL 3600
@ IN SOA ns.example. host.example. 1 7200 900 86400 300
@ IN NS ns.example.
* IN PTR host.example.
`;

/** No address twice in a run. */
let next = 0x0b00_0000;

const undo: (() => Promise<unknown>)[] = [];
try {
  await run();
} finally {
  for (const step of undo.reverse()) await step();
}

async function run(): Promise<void> {
  const authority = await startNsd({ zones: { "11.in-addr.arpa": zone } });
  undo.push(() => authority.stop());

  const peer = new Resolver({ timeout: 2_000, tries: 2 });
  peer.setServers([authority.address]);
  const viaNode = async (address: number) => {
    const names = await peer.reverse(formatIpv4(address)).catch(() => []);
    return names[0] === "host.example";
  };

  const pool = new NameserverPool({
    readServers: () => [{ host: "127.0.0.1", port: authority.port }],
    sockets: 4,
    rounds: 2,
    timeoutMs: 2_000,
    silentProbesMax: 2,
    probeIntervalMs: 500,
    measureIntervalMs: 10_000,
    randomCase: true,
    cookies: true,
    tlsAuthorities: undefined,
    counts: { asked() {}, dropped() {}, health() {}, latency() {}, tlsRefused() {}, caseLost() {} },
  });
  await pool.start();
  undo.push(() => pool.stop());
  const lookup = new PtrLookup({
    pool,
    clock: { now: () => Date.now() },
    namesMax: 100,
    // As node:dns, which asks for no more than the names.
    forwardNamesMax: 0,
    queriesMax: 64,
    budgetMs,
    openPrefixes: [],
    staleMaxSeconds: 0,
    refreshPercent: 0,
    shared: null,
    onRefresh() {},
    rules: { ttlMinSeconds: 0, ttlMaxSeconds: 86_400, negativeTtlMaxSeconds: 3_600, failureTtlSeconds: 5 },
    cacheEntriesMax: 100_000,
    cacheBytesMax: 1 << 26,
    inFlightMax: 4_096,
  });
  const viaLookup = async (address: number) => {
    const result = await lookup.lookup({ version: 4, w0: address, w1: 0, w2: 0, w3: 0 }, budgetMs);
    return result.kind === "entry" && result.entry.names[0]?.name === "host.example" && !result.hit;
  };

  const nats = await startNatsServer({ own: true });
  undo.push(() => nats.stop());
  const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const service = startService("rdns-resolver", {
    folder,
    env: { NATS_URL: nats.url, RESOLVERS: authority.address, RDNS_FORWARD_NAMES_MAX: "0" },
  });
  undo.push(() => service.stop());
  await service.logged(/"msg":"started"/);
  const messaging = await createNatsMessaging({ servers: nats.url, name: "bench" });
  undo.push(() => messaging.close());
  const viaService = async (address: number) => {
    const question = { op: "reverse_dns", query: formatIpv4(address), requestId: "bench", traceparent: null, budgetMs };
    const { status, body } = await messaging.request("rdns-resolver", "single", question);
    return status === 200 && Buffer.from(body).includes('"name":"host.example"');
  };

  const own = () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  for (const concurrency of [64, 512]) {
    const sides = [
      measured("node:dns", viaNode, concurrency, own),
      measured("lookup of rdns-resolver", viaLookup, concurrency, own),
      measured("process of it, over NATS", viaService, concurrency, () => cpuSeconds(service.pid)),
    ];
    const results = await interleave(sides, rounds);
    const cpu = Object.fromEntries(sides.map((side) => [side.name, Number(side.cpuMicroseconds().toFixed(1))]));
    printResults(`P12 PTR, cold, ${concurrency} at a time`, "lookups/s", results, { concurrency, cpu });
    console.log(`processor time of a lookup, µs (of the service's process alone where there is one): ${JSON.stringify(cpu)}`);
  }
}

interface MeasuredSide extends Side {
  /** Of one lookup, over all rounds. */
  cpuMicroseconds(): number;
}

function measured(name: string, one: (address: number) => Promise<boolean>, concurrency: number, cpu: () => number): MeasuredSide {
  let used = 0;
  let asked = 0;
  return {
    name,
    async run() {
      const end = next + lookupsPerRound;
      let lost = 0;
      const before = cpu();
      const work = async () => {
        while (next < end) {
          next += 1;
          if (!(await one(next))) lost += 1;
        }
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      used += cpu() - before;
      asked += lookupsPerRound;
      if (lost > 0) console.log(`${name}: ${lost} of ${lookupsPerRound} lost`);
      return lookupsPerRound;
    },
    cpuMicroseconds: () => (1e6 * used) / asked,
  };
}
