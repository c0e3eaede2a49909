/** Batches over real processes: of one snapshot each while snapshots change, and whole while pods and connections are lost. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type BatchAnswer, type BatchResult, type BatchSummary, errors, type ProblemCode } from "@netfacts/contracts";
import { createKey, readScopes } from "@netfacts/keys";
import { openFolderStore, type SnapshotStore } from "@netfacts/snapshot";
import { openMongoStore } from "@netfacts/storage/mongo";
import { publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { asLines, json, openLines, post } from "../../services/gateway-auth-quota/test/batch/support.ts";
import { madeWorld, WorldOracle, type WorldQuestion, worldQuestions } from "../load/worlds.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { freezeProcess } from "../support/frozen.ts";
import { until } from "../support/http.ts";
import { removeFolders, temporaryFolder } from "../support/processes.ts";
import { isLong } from "../support/runs.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

/** Of questions; each is asked again once at half of it. */
const budgetMs = 5_000;
const worlds = [0, 1, 2];

let all: Distributed;
let nats: TcpProxy;
let origin: SnapshotStore;
let headers: { readonly authorization: string };
let url: string;
const oracle = new WorldOracle(worlds);
beforeAll(async () => {
  origin = openFolderStore(temporaryFolder());
  const { id } = await publishMade(origin, madeWorld(0));
  all = await startDistributed({
    replicas: { "gateway-auth-quota": 1, "ip-routing": 2, "asn-prefix": 2, "rdns-resolver": 0 },
    settings: { LOG_LEVEL: "warn", LOOKUP_BUDGET_MS: String(budgetMs) },
    snapshot: { store: origin, id },
    async route({ natsUrl, mongoUrl }) {
      nats = await startTcpProxy(natsUrl);
      return { natsUrl: nats.url, mongoUrl };
    },
  });
  const store = await openMongoStore(all.mongoUrl, { appName: "batch" });
  const limits = { rate: { limit: 1_000_000, windowSeconds: 60 }, month: { limit: 100_000_000 } };
  const { secret } = await createKey(store, { label: "batch", scopes: [...readScopes], ...limits });
  await store.close();
  headers = { authorization: `Bearer ${secret}` };
  url = `${all.gateways[0]?.url}/api/v1/batch`;
  // Leases and code are cold at first.
  await untilWell();
});
afterAll(async () => {
  await all?.stop();
  await nats?.stop();
  removeFolders();
});

/** A document is answered with nothing but records. */
async function untilWell(): Promise<void> {
  const isWell = async () => {
    const { status, body } = await ask();
    return status === 200 && (JSON.parse(body) as BatchAnswer).failed_count === 0;
  };
  await until(isWell, { timeoutMs: 60_000 });
}

const ask = () => post(url, { ...json, ...headers }, JSON.stringify({ questions: items }));

/** The question as an item. */
function itemOf({ op, path }: WorldQuestion): object {
  const { pathname, searchParams } = new URL(path, "http://x");
  if (op === "validity") return { kind: op, asn: searchParams.get("asn"), prefix: searchParams.get("prefix") };
  return { kind: op, value: pathname.slice(op.length + 2) };
}

/** As many as a document takes: every question of the world, six times. */
const questions = Array.from({ length: 960 }, (_, index) => worldQuestions[index % worldQuestions.length] as WorldQuestion);
const items = questions.map(itemOf);

/** What is wrong with the results; a problem is only where it is allowed. */
function faults(results: readonly BatchResult[], allowed: readonly ProblemCode[]): string[] {
  return results.flatMap(({ index, record, problem }, place) => {
    if (index !== place) return [`result ${place} has index ${index}`];
    if (problem !== undefined) return allowed.includes(problem.code) ? [] : [`${index}: ${problem.code}`];
    const question = questions[index % questions.length] as WorldQuestion;
    const fault = oracle.fault({ question, body: JSON.stringify(record), snapshotId: null, pinned: null });
    return fault === null ? [] : [`${index}: ${fault}`];
  });
}

/** The snapshots that records name. */
function versionsOf(results: readonly BatchResult[]): Set<string | undefined> {
  return new Set(results.flatMap(({ record }) => (record === undefined ? [] : [record.meta?.data.vrps?.version])));
}

/** A busy machine may let a deadline pass at any time, also that of NATS to answer: the proxy before it is in this process. */
const late: readonly ProblemCode[] = ["upstream_timeout", "upstream_unavailable"];

/** The same of its store, and of its own event loop. */
const busy: readonly ProblemCode[] = ["limits_unavailable", "temporarily_overloaded"];

test("every document is of one snapshot, in whichever order pods change, and tells which", async () => {
  const seen = new Set<string>();
  let publishing = true;
  const asking = async () => {
    do {
      const answer = await ask();
      const { results, meta, code } = JSON.parse(answer.body) as BatchAnswer & { readonly code?: ProblemCode };
      // Of a whole document, which a client sends again.
      if (code !== undefined) {
        expect(busy).toContain(code);
        await sleep(500);
        continue;
      }
      expect([answer.status, faults(results, late)]).toEqual([200, []]);
      expect([versionsOf(results).size, meta.snapshots.length]).toEqual([1, 1]);
      seen.add(meta.snapshots[0] as string);
    } while (publishing);
  };
  const askers = [asking(), asking()];
  const published: string[] = [];
  try {
    for (const world of worlds.slice(1)) {
      const { id } = await publishMade(origin, madeWorld(world));
      published.push(await all.publish({ store: origin, id }));
      await until(() => seen.has(id), { timeoutMs: 60_000 });
    }
  } finally {
    publishing = false;
    await Promise.all(askers);
  }
  expect([...seen].slice(-published.length)).toEqual(published);
});

const away: readonly ProblemCode[] = [
  "upstream_unavailable",
  "upstream_timeout",
  "temporarily_overloaded",
  "data_not_ready",
  "upstream_error",
];
const total = isLong ? 9_600 : 2 * items.length;
/** Between blocks: the load of an ordinary run leaves the processors time. */
const pauseMs = isLong ? 0 : 200;

test.each<{ name: string; make: () => void | Promise<void>; mend: () => void | Promise<void>; lastsMs: number }>([
  {
    name: "a pod killed",
    make: () => all.kill("ip-routing", 0),
    mend: () => all.restart("ip-routing", 0),
    lastsMs: 0,
  },
  {
    name: "a pod frozen",
    make: () => freezeProcess(all.services["ip-routing"][1]?.pid as number),
    mend: () => void process.kill(all.services["ip-routing"][1]?.pid as number, "SIGCONT"),
    lastsMs: 3_000,
  },
  { name: "NATS cut", make: () => nats.cut(), mend: () => nats.restore(), lastsMs: 1_500 },
])("a stream outlives $name midway: each line has its record or a documented problem", async ({ make, mend, lastsMs }) => {
  const stream = openLines(url, headers);
  const results: BatchResult[] = [];
  let summary: BatchSummary | null = null;
  let made = false;
  let mended = false;
  const send = async () => {
    for (let sent = 0; sent < total || !mended; sent += items.length) {
      stream.send(asLines(items));
      // A block at a time, so that the fault comes while there is more to ask, and the end when it is over.
      await until(() => results.length >= sent || stream.isWhole(), { timeoutMs: 60_000 });
      if (made) await sleep(pauseMs);
    }
    stream.end();
  };
  const sending = send();
  const reading = (async () => {
    for (let line = await stream.next(); line !== null; line = await stream.next()) {
      const value = JSON.parse(line) as BatchResult | BatchSummary;
      if ("index" in value) results.push(value);
      else summary = value;
    }
  })();
  await until(() => results.length > items.length, { timeoutMs: 60_000 });
  await make();
  made = true;
  await new Promise((resolve) => setTimeout(resolve, lastsMs));
  await mend();
  mended = true;
  await Promise.all([sending, reading]);
  expect([made, stream.isWhole()]).toEqual([true, true]);
  expect(faults(results, away).slice(0, 5)).toEqual([]);
  const failed = results.filter(({ problem }) => problem !== undefined);
  expect(summary).toMatchObject({ count: results.length, failed_count: failed.length });
  await untilWell();
  for (const { problem } of failed) expect(problem?.status).toBe(errors[problem?.code as ProblemCode].status);
});
