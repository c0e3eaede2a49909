/**
 * P12: PTR lookups of names that nobody has asked for yet, against a nameserver of ours in another process: the service's lookup (cache,
 * single flight, own client) against `node:dns`. `node --conditions=source bench/ptr.ts`
 */

import { spawn } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { formatIpv4, reverseName } from "@netfacts/address";
import { NameserverPool } from "../services/rdns-resolver/src/dns/pool.ts";
import { PtrLookup } from "../services/rdns-resolver/src/lookup/ptr-lookup.ts";
import { interleave, printResults, type Side } from "./support/rounds.ts";

const lookupsPerRound = 20_000;
const rounds = 7;

const authority = spawn(process.execPath, [new URL("support/ptr-authority.ts", import.meta.url).pathname], {
  stdio: ["pipe", "pipe", "inherit"],
});
const [chunk] = (await once(authority.stdout, "data")) as [Buffer];
const port = Number(chunk.toString());

const peer = new Resolver({ timeout: 2_000, tries: 2 });
peer.setServers([`127.0.0.1:${port}`]);

const pool = new NameserverPool({
  readServers: () => [{ host: "127.0.0.1", port }],
  sockets: 4,
  rounds: 2,
  timeoutMs: 2_000,
  silentProbesMax: 2,
  probeIntervalMs: 500,
  counts: { asked() {}, dropped() {}, health() {} },
});
await pool.start();
const lookup = new PtrLookup({
  pool,
  clock: { now: () => Date.now() },
  rules: { namesMax: 100, ttlMaxSeconds: 86_400, negativeTtlMaxSeconds: 3_600, failureTtlSeconds: 5 },
  cacheEntriesMax: 100_000,
  cacheBytesMax: 1 << 26,
  inFlightMax: 4_096,
});

/** No address twice in a run. */
let next = 0x0b00_0000;
let lost = 0;

async function viaNode(address: number): Promise<void> {
  const names = await peer.reverse(formatIpv4(address)).catch(() => []);
  if (names[0] !== "host.example") lost += 1;
}

async function viaService(address: number): Promise<void> {
  const result = await lookup.lookup(reverseName({ version: 4, w0: address, w1: 0, w2: 0, w3: 0 }), 10_000);
  if (result.kind !== "entry" || result.entry.names[0]?.name !== "host.example" || result.hit) lost += 1;
}

function side(name: string, one: (address: number) => Promise<void>, concurrency: number): Side {
  return {
    name,
    async run() {
      const end = next + lookupsPerRound;
      const work = async () => {
        while (next < end) {
          next += 1;
          await one(next);
        }
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      if (lost > 0) console.log(`${name}: ${lost} of ${lookupsPerRound} lost`);
      lost = 0;
      return lookupsPerRound;
    },
  };
}

for (const concurrency of [64, 512]) {
  const results = await interleave([side("node:dns", viaNode, concurrency), side("rdns-resolver", viaService, concurrency)], rounds);
  printResults(`P12 PTR, cold, ${concurrency} at a time`, "lookups/s", results, { concurrency });
}

await pool.stop();
authority.stdin.end();
await once(authority, "exit");
