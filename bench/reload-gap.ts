/**
 * P7: a full-size snapshot is loaded and activated by an `ip-routing` process under load: the worst gap of its event loop, beside the
 * same load without a reload; failed requests; answers that are neither of the one snapshot nor of the other.
 * `scripts/run.sh bench/reload-gap.ts [--rounds 5]`
 */

import { hash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Messaging, ReplyItem } from "@netfacts/messaging";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import type { Manifest } from "@netfacts/snapshot";
import { addressTexts } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { type Backing, withBacking } from "./support/distributed.ts";
import { importedInto } from "./support/modern.ts";
import { median } from "./support/rounds.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "5" } } });
const addresses = 2_000;
const askersAtOnce = 64;
const quietMs = 3_000;
/** After the activation: what the old generation leaves behind is collected under load too. */
const afterMs = 2_000;
const changing = /"generated_at":"[^"]*",|"age_seconds":\d+,/g;

const data = requireData();
await withBacking(run);

async function run(backing: Backing): Promise<void> {
  const { store, folder } = backing;
  const [before, after] = [await importedInto(data, store, folder, "first"), await importedInto(data, store, folder, "second")];
  const texts = addressTexts(data, addresses);
  const messaging = await createNatsMessaging({ servers: backing.natsUrl, name: "bench" });
  const rounds: Round[] = [];
  try {
    for (let round = 0; round < Number(values.rounds); round++)
      rounds.push(await reload({ backing, messaging, before, after, texts, name: `pod-${round}` }));
  } finally {
    await messaging.close();
  }
  const column = (of: (round: Round) => number) => rounds.map(of);
  const line = (name: string, numbers: readonly number[]) =>
    console.log(
      `${name.padEnd(52)}${median(numbers).toFixed(1).padStart(9)}${Math.max(...numbers)
        .toFixed(1)
        .padStart(9)}`,
    );
  console.log(`\nP7 reload under load, ${rounds.length} rounds${"median".padStart(27)}${"worst".padStart(9)}`);
  line(
    "gap without reload, ms",
    column(({ quiet }) => quiet.wallMs),
  );
  line(
    "gap with reload, ms",
    column(({ reloading }) => reloading.wallMs),
  );
  line(
    "processor time held without reload, ms",
    column(({ quiet }) => quiet.cpuMs),
  );
  line(
    "processor time held with reload, ms",
    column(({ reloading }) => reloading.cpuMs),
  );
  line(
    "seconds from publication to loaded",
    column(({ loadSeconds }) => loadSeconds),
  );
  line(
    "answers while reloading",
    column(({ answers }) => answers),
  );
  line(
    "failed",
    column(({ failed }) => failed),
  );
  line(
    "of mixed generations",
    column(({ mixed }) => mixed),
  );
  console.log(JSON.stringify({ bench: "P7", rounds }));
}

interface Gap {
  readonly wallMs: number;
  readonly cpuMs: number;
}

interface Round {
  readonly quiet: Gap;
  readonly reloading: Gap;
  readonly loadSeconds: number;
  readonly answers: number;
  readonly failed: number;
  readonly mixed: number;
}

interface Reload {
  readonly backing: Backing;
  readonly messaging: Messaging;
  readonly before: Manifest;
  readonly after: Manifest;
  readonly texts: readonly string[];
  readonly name: string;
}

/** One process from its start: it holds the first snapshot, loads the second, and serves it. */
async function reload({ backing, messaging, before, after, texts, name }: Reload): Promise<Round> {
  const { store } = backing;
  await store.publish(before);
  await store.activate(before.id);
  const pod = backing.startPod("ip-routing", name, ["--import", join(import.meta.dirname, "support/loop-gap.ts")]);
  await pod.logged(/ready for requests/);
  const expected = new Map<string, string>();
  await askAll(messaging, texts, (text, reply) => expected.set(`${before.id} ${text}`, contentOf(reply)));

  let asking = true;
  let failed = 0;
  const heard: [key: string, content: string][] = [];
  const askers = Array.from({ length: askersAtOnce }, async (_, asker) => {
    for (let next = asker; asking; next = (next + askersAtOnce) % texts.length) {
      const text = texts[next] as string;
      const reply = await ask(messaging, text).catch(() => null);
      if (reply?.status !== 200) failed += 1;
      else heard.push([`${reply.snapshotId} ${text}`, contentOf(reply)]);
    }
  });
  let reads = 0;
  const readGap = async (): Promise<Gap> => {
    reads += 1;
    process.kill(pod.pid, "SIGUSR2");
    const [, text = ""] = await pod.logged(new RegExp(`^loop gap ${reads} (.*)$`, "m"));
    return JSON.parse(text);
  };
  // What is compiled and warmed up in the first second is not of the reload.
  await sleep(2_000);
  await readGap();
  await sleep(quietMs);
  const quiet = await readGap();
  const answersBefore = heard.length;
  const published = performance.now();
  await store.publish(after);
  await pod.logged(new RegExp(`"snapshot":"${after.id}".*"msg":"snapshot loaded`));
  const loadSeconds = (performance.now() - published) / 1_000;
  await store.activate(after.id);
  await pod.logged(new RegExp(`"snapshot":"${after.id}".*"msg":"snapshot in service`));
  await sleep(afterMs);
  const reloading = await readGap();
  asking = false;
  await Promise.all(askers);
  const answers = heard.length - answersBefore;
  await askAll(messaging, texts, (text, reply) => expected.set(`${after.id} ${text}`, contentOf(reply)));
  const mixed = heard.filter(([key, content]) => expected.get(key) !== content).length;
  const ofBoth = [before.id, after.id].every((id) => heard.some(([key]) => key.startsWith(id)));
  if (!ofBoth) throw new Error("not answered from both snapshots: the reload was not measured");
  await pod.stop();
  return { quiet, reloading, loadSeconds, answers, failed, mixed };
}

function ask(messaging: Messaging, query: string): Promise<ReplyItem> {
  return messaging.request("ip-routing", "single", { op: "ip", query, requestId: "bench", traceparent: null, budgetMs: 5_000 });
}

async function askAll(messaging: Messaging, texts: readonly string[], take: (text: string, reply: ReplyItem) => void): Promise<void> {
  await Promise.all(texts.map(async (text) => take(text, await ask(messaging, text))));
}

/** The record, without what each second changes, and the versions of sections that it says it is of. */
function contentOf({ body }: ReplyItem): string {
  return hash("sha256", Buffer.from(body).toString().replace(changing, ""), "base64");
}
