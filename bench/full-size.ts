/**
 * The whole way at full size: a RIB of 8 peers (about 8 M routes), rpki-client's export, delegated files and names are imported, published
 * to JetStream, and loaded by two `ip-routing` and one `asn-prefix`, which then answer: seconds per stage, memory per process, bytes
 * over NATS. `scripts/run.sh bench/full-size.ts [--peers 8]`
 */

import { parseArgs } from "node:util";
import { encodeQuestion } from "@netfacts/contracts";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { addressTexts } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { type Backing, withBacking } from "./support/distributed.ts";
import { writeModernSources } from "./support/modern.ts";
import { residentMib, startProcess } from "./support/service-process.ts";

const { values } = parseArgs({ options: { peers: { type: "string", default: "8" } } });
const questions = 4_000;
const network = { family: null, rpki: null, aggregate: false, limit: 100 } as const;
const data = requireData();
await withBacking(run);

async function run(backing: Backing): Promise<void> {
  const { folder, env, store, own } = backing;
  await writeModernSources(data, folder, { peers: Number(values.peers) });
  const stages: Record<string, number> = {};
  const bytes: Record<string, number> = {};
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const [started, bytesBefore] = [performance.now(), await natsBytes(backing)];
    const result = await work();
    stages[name] = (performance.now() - started) / 1_000;
    bytes[name] = (await natsBytes(backing)) - bytesBefore;
    return result;
  };

  const report = await timed("import and publish", async () => {
    const ingest = own(startProcess("bench/support/import-into-jetstream.ts", { name: "ingest", folder, env, args: [folder] }));
    return JSON.parse((await ingest.logged(/^report (.*)$/m))[1] as string);
  });
  const id = report.snapshot as string;
  await timed("activate", () => store.activate(id));
  const pods = await timed("three processes from their start to taking questions", async () => {
    const started = (["ip-routing", "ip-routing", "asn-prefix"] as const).map((name, index) => backing.startPod(name, `${name}-${index}`));
    await Promise.all(started.map((pod) => pod.logged(/ready for requests/)));
    return started;
  });
  const messaging = await createNatsMessaging({ servers: env.NATS_URL as string, name: "bench" });
  await timed(`${questions} addresses and ${questions} networks answered`, async () => {
    const ask = async (service: string, op: string, query: string) => {
      const reply = await messaging.request(service, "single", { op, query, requestId: "bench", traceparent: null, budgetMs: 10_000 });
      if (reply.status !== 200) throw new Error(`${op} ${query}: status ${reply.status}`);
    };
    await Promise.all(addressTexts(data, questions).map((text) => ask("ip-routing", "ip", text)));
    await Promise.all(
      Array.from({ length: questions }, (_, index) => ask("asn-prefix", "asn", encodeQuestion("asn", { ...network, asn: index + 1 }))),
    );
  });
  await messaging.close();

  const memory = Object.fromEntries(pods.map(({ name, pid }) => [name, residentMib(pid)]));
  const ingest = { peak: Math.round(report.peak_rss_bytes / 2 ** 20) };
  const natsServer = residentMib(backing.natsPid);
  for (const { name, counts } of report.sections) console.log(`${name}: ${JSON.stringify(counts)}`);
  console.log("\nstage                                                          seconds    MB in and out of nats-server");
  for (const [name, seconds] of Object.entries(stages))
    console.log(`${name.padEnd(60)}${seconds.toFixed(2).padStart(10)}${((bytes[name] ?? 0) / 1e6).toFixed(1).padStart(20)}`);
  console.log(`of the import: ${JSON.stringify(report.stages)} s`);
  console.log(`memory, MiB: ${JSON.stringify({ ingest, ...memory, natsServer })}`);
  console.log(
    JSON.stringify({ bench: "full size", peers: Number(values.peers), stages, import: report.stages, bytes, memory, ingest, natsServer }),
  );
}

/** Bytes that nats-server has sent and taken so far. */
async function natsBytes({ natsMonitorUrl }: Backing): Promise<number> {
  const response = await fetch(`${natsMonitorUrl}/varz`);
  const { in_bytes, out_bytes } = (await response.json()) as { in_bytes: number; out_bytes: number };
  return in_bytes + out_bytes;
}
