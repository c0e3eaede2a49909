/**
 * What a pod holds under questions that do not repeat: `ip-routing` as a process with a full-size table from JetStream, asked over NATS for
 * addresses drawn evenly over all its prefixes. Its resident memory; halfway a second snapshot that differs in every section is loaded and
 * takes over. `scripts/run.sh bench/pod-memory.ts [SECONDS]`
 */

import { createNatsMessaging } from "@netfacts/messaging/nats";
import { evenAddresses } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { withBacking } from "./support/distributed.ts";
import { importedInto } from "./support/modern.ts";
import { residentMib } from "./support/service-process.ts";

const seconds = Number(process.argv[2] ?? 120);
const tellEveryMs = 10_000;
const askedAtOnce = 1_000;

const data = requireData();
await withBacking(async ({ natsUrl, store, folder, startPod }) => {
  const [before, after] = [await importedInto(data, store, folder, "first"), await importedInto(data, store, folder, "second")];
  await store.publish(before);
  await store.activate(before.id);
  const pod = startPod("ip-routing");
  await pod.logged(/"msg":"ready for requests"/);
  const messaging = await createNatsMessaging({ servers: natsUrl, name: "bench" });
  const addresses = evenAddresses(data);
  const started = performance.now();
  let asked = 0;
  const tell = (what: string) => {
    const { now, peak } = residentMib(pod.pid);
    console.log(`${asked.toString().padStart(10)} asked: ${Math.round(now)} MiB resident, ${Math.round(peak)} MiB at most (${what})`);
    return { what, asked, mib: now, peakMib: peak };
  };
  const ask = (query: string) =>
    messaging.request("ip-routing", "batch", {
      op: "ip",
      query,
      requestId: "01JD5T7Q9M3W8K2V6B4N1XCZPE",
      traceparent: null,
      budgetMs: 10_000,
    });
  const askUntil = async (endMs: number, what: string) => {
    for (let told = performance.now(); performance.now() - started < endMs; ) {
      const queries = Array.from({ length: askedAtOnce }, () => addresses.next().value);
      for (const { status } of await Promise.all(queries.map(ask))) if (status !== 200) throw new Error(`status ${status}`);
      asked += askedAtOnce;
      if (performance.now() - told < tellEveryMs) continue;
      told = performance.now();
      rows.push(tell(what));
    }
  };
  const rows = [tell("loaded")];
  await askUntil(seconds * 500, "first snapshot");
  await store.publish(after);
  await pod.logged(new RegExp(`"snapshot":"${after.id}".*"msg":"snapshot loaded`));
  rows.push(tell("second snapshot loaded"));
  await store.activate(after.id);
  await pod.logged(new RegExp(`"snapshot":"${after.id}".*"msg":"snapshot in service`));
  await askUntil(seconds * 1_000, "second snapshot");
  await messaging.close();
  console.log(JSON.stringify({ bench: "pod memory", seconds, rows }));
});
