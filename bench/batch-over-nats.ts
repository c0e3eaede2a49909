/**
 * P4: batches of 1,000 addresses, from their texts to the bytes of their records: asked within one process, and asked over NATS of
 * `ip-routing` in a process of its own, with nats-server between. `node --conditions=source bench/batch-over-nats.ts`
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Generation, loadSnapshot, openDataFolder } from "@netfacts/dataset";
import { buildApp } from "@netfacts/ip-routing/app";
import { createInProcessMessaging, type Messaging } from "@netfacts/messaging";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { startNatsServer } from "../test/support/nats-server.ts";
import { addressTexts } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { importModern } from "./support/modern.ts";
import { interleave, printResults } from "./support/rounds.ts";

const batchAddresses = 1_000;
/** Batches that are asked at the same time, as by as many callers. */
const batchesAtOnce = 3;
const batchesPerRound = 120;
const rounds = 7;
const self = fileURLToPath(import.meta.url);
const [, , role, url, podFolder] = process.argv;

async function serve(messaging: Messaging, folder: string): Promise<Generation> {
  const store = openDataFolder(folder);
  const id = (await store.currentId()) as string;
  const generation = Generation.of(await loadSnapshot(store, await store.getManifest(id)));
  const dataset = { current: () => generation, at: () => generation };
  const onFailure = (_item: unknown, cause: unknown) => console.error(cause);
  await buildApp({ messaging, dataset, clock: { now: () => Date.now() }, onFailure }).start();
  return generation;
}

if (role === "pod" && url !== undefined && podFolder !== undefined) {
  await serve(await createNatsMessaging({ servers: url, name: "ip-routing", onError: console.error }), podFolder);
  process.send?.("ready");
} else await main();

async function main(): Promise<void> {
  const data = requireData();
  const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
  const server = await startNatsServer({ own: true });
  let pod: ChildProcess | null = null;
  try {
    await importModern(data, folder);
    pod = spawn(process.execPath, [...process.execArgv, self, "pod", server.url, folder], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    await once(pod, "message");
    const inProcess = createInProcessMessaging();
    const generation = await serve(inProcess, folder);
    const overNats = await createNatsMessaging({ servers: server.url, name: "bench" });
    const texts = addressTexts(data, 100_000);

    let bytes = 0;
    const side = (messaging: Messaging) => async (): Promise<number> => {
      let next = 0;
      const askBatches = async () => {
        while (next < batchesPerRound) {
          const first = (next++ * batchAddresses) % texts.length;
          const replies = await Promise.all(texts.slice(first, first + batchAddresses).map((query) => askOne(messaging, query)));
          for (const { status, body } of replies) {
            if (status !== 200) throw new Error(`status ${status}`);
            bytes += body.length;
          }
        }
      };
      await Promise.all(Array.from({ length: batchesAtOnce }, askBatches));
      return batchesPerRound * batchAddresses;
    };
    const results = await interleave(
      [
        { name: "in process", run: side(inProcess) },
        { name: "over NATS", run: side(overNats) },
      ],
      rounds,
      2,
    );
    const asked = (rounds + 2) * 2 * batchesPerRound * batchAddresses;
    printResults("P4 batches of 1,000 addresses", "addresses/s", results, {
      bytesPerRecord: Math.round(bytes / asked),
      routes: generation.routes?.prefixes.base.size,
    });
    await overNats.close();
    await inProcess.close();
  } finally {
    pod?.kill();
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

function askOne(messaging: Messaging, query: string) {
  return messaging.request("ip-routing", "batch", {
    op: "ip",
    query,
    requestId: "01JD5T7Q9M3W8K2V6B4N1XCZPE",
    traceparent: null,
    budgetMs: 10_000,
  });
}
