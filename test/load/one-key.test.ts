/** One key at four gateways, two of which are killed: never more than its month, and less only by what the killed ones had leased. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createKey } from "@netfacts/keys";
import { openFolderStore } from "@netfacts/snapshot";
import type { LimitRepository, Store } from "@netfacts/storage";
import { openMongoStore } from "@netfacts/storage/mongo";
import { publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { returningTwice } from "../../libs/storage/test/contract/over-admission.ts";
import { holdMax } from "../../services/gateway-auth-quota/src/domain/limit-windows.ts";
import { createLimiter } from "../../services/gateway-auth-quota/src/limits/index.ts";
import { defaultLimiterSettings } from "../../services/gateway-auth-quota/src/limits/settings.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { request, until } from "../support/http.ts";
import { removeFolders, temporaryFolder } from "../support/processes.ts";
import { isLong } from "../support/runs.ts";
import { sendPipelined } from "./pipelined-requests.ts";
import { madeWorld, worldQuestions } from "./worlds.ts";

const monthLimit = isLong ? 20_000 : 5_000;
/** A slow machine may be told fewer: those beyond the limit only need to be refused. */
const requests = Number(process.env.NETFACTS_LOAD_REQUESTS ?? (isLong ? 100_000 : 7_500));
const rate = { limit: 1_000_000, windowSeconds: 60 };
const gateways = 4;
const connections = 2;
const depth = 16;
/** Gateways are killed when so many requests have been admitted. */
const killsAt = [monthLimit / 4, monthLimit / 2];

let distributed: Distributed;
let store: Store;

beforeAll(async () => {
  const origin = openFolderStore(temporaryFolder());
  const { id } = await publishMade(origin, madeWorld(0));
  distributed = await startDistributed({
    ownMongodb: true,
    replicas: { "gateway-auth-quota": gateways, "ip-routing": 1, "asn-prefix": 0, "rdns-resolver": 0 },
    settings: { LOG_LEVEL: "warn" },
    snapshot: { store: origin, id },
  });
  store = await openMongoStore(distributed.mongoUrl, { appName: "load" });
});

afterAll(async () => {
  await store?.close();
  await distributed?.stop();
  removeFolders();
});

/** What is wrong with so many admitted requests; `lostMax` are units that may be written off. */
function admissionFaults(admitted: number, limit: number, lostMax: number): string[] {
  if (admitted > limit) return [`${admitted - limit} of ${limit} over-admitted`];
  if (admitted < limit - lostMax) return [`${limit - admitted} of ${limit} lost where at most ${lostMax} were leased`];
  return [];
}

test("a month at four gateways, two of them killed: admitted are at most as many, and at least those less the killed ones' blocks", async () => {
  await warmUp();
  const { secret } = await createKey(store, { label: "load", scopes: ["ip"], rate, month: { limit: monthLimit } });
  const answers = new Map<string, number>();
  const refusedAt: number[] = [];
  const kills = [...killsAt];
  const killing: Promise<void>[] = [];
  let left = requests;
  let admitted = 0;
  let unavailableTimes = 0;
  const take = () => left-- > 0;

  const startedAt = performance.now();
  const cut = await Promise.all(
    distributed.gateways.map(({ url }, gateway) =>
      sendPipelined({
        target: { url, path: `/api/v1${worldQuestions[0]?.path}`, headers: { authorization: `Bearer ${secret}` } },
        connections,
        depth,
        take,
        onAnswer(status, body) {
          const kind = status === 200 ? "200" : `${status} ${JSON.parse(body).code}`;
          answers.set(kind, (answers.get(kind) ?? 0) + 1);
          if (kind === "503 limits_unavailable") {
            const now = performance.now();
            if (now - (refusedAt[gateway] ?? Number.NEGATIVE_INFINITY) > defaultLimiterSettings.askAgainMs) unavailableTimes += 1;
            refusedAt[gateway] = now;
          }
          if (status !== 200) return;
          admitted += 1;
          if (admitted < (kills[0] ?? Number.POSITIVE_INFINITY)) return;
          kills.shift();
          killing.push(distributed.kill("gateway-auth-quota", killing.length));
        },
      }),
    ),
  );
  await Promise.all(killing);
  const seconds = (performance.now() - startedAt) / 1_000;

  // What a killed gateway had leased and not spent (docs/design/protocols.md#limits-by-leases), and spent on requests that were cut.
  const perSecond = rate.limit / rate.windowSeconds;
  const policy = { limit: monthLimit, windowSeconds: null, perSecond };
  const block = holdMax(policy, 0, defaultLimiterSettings, perSecond);
  const cutAll = cut.reduce((sum, one) => sum + one, 0);
  // A take whose outcome is not known is written off too, and shows as a time in which limits were unavailable.
  const lostMax = (killsAt.length + unavailableTimes) * block + cutAll;
  console.log(
    [
      `${requests} requests at ${gateways} gateways, two killed, in ${seconds.toFixed(1)} s (${Math.round(requests / seconds)}/s)`,
      `admitted ${admitted} of ${monthLimit}; written off ${monthLimit - admitted}, at most ${lostMax} (blocks of ${block})`,
      `cut ${cutAll}; answers ${JSON.stringify(Object.fromEntries(answers))}`,
    ].join("\n"),
  );
  expect(killing).toHaveLength(2);
  expect(admissionFaults(admitted, monthLimit, lostMax)).toEqual([]);
  expect([...answers.keys()].filter((kind) => !["200", "429 quota_exceeded", "503 limits_unavailable"].includes(kind))).toEqual([]);
  // The month was used up, else the bounds would say nothing.
  expect(answers.get("429 quota_exceeded") ?? 0).toBeGreaterThan(0);
  // What the killed ones reported as unspent counts for some seconds as if it could still be spent.
  await until(async () => (await monthLeft(secret)) === 0);
});

/** With a key of its own: the first takes of a process take longer than a request waits for them. */
async function warmUp(): Promise<void> {
  const { secret } = await createKey(store, { label: "warm-up", scopes: ["ip"], rate, month: { limit: monthLimit } });
  for (const { url } of distributed.gateways) {
    const deadline = performance.now() + 10_000;
    for (let good = 0; good < 20 && performance.now() < deadline; ) {
      const response = await fetch(`${url}/api/v1${worldQuestions[0]?.path}`, { headers: { authorization: `Bearer ${secret}` } });
      await response.arrayBuffer();
      good = response.ok ? good + 1 : 0;
    }
  }
}

/** What `/me` tells of the month at a gateway that lives; null while the store is late. */
async function monthLeft(secret: string): Promise<number | null> {
  const { status, json } = await request(`${distributed.gateways.at(-1)?.url}/api/v1/me`, { key: secret });
  if (status !== 200) return null;
  const { limits } = json as { limits: { name: string; remaining: number }[] };
  return limits.find(({ name }) => name === "month")?.remaining ?? Number.NaN;
}

/** Requests that two limiters admit, idle again and again so that they give back what is unspent. */
async function admittedBy(limits: LimitRepository, bucket: string, limit: number): Promise<number> {
  const key = { id: bucket, bucket, limits: { rate, month: { limit }, concurrency: null } };
  const limiters = [0, 1].map(() => createLimiter({ store: { limits }, settings: { idleReturnMs: 10, waitMs: 2_000 } }));
  let admitted = 0;
  try {
    // Until both refuse for good: one may still hold the last units.
    for (let refusals = 0; refusals < 20 && admitted <= limit; ) {
      for (const limiter of limiters)
        for (let request = 0; request < 30; request++) {
          const decision = await limiter.admit(key, { month: 1 });
          if (!decision.admitted) {
            refusals += 1;
            break;
          }
          limiter.settle(decision, true);
          admitted += 1;
        }
      await sleep(25);
    }
  } finally {
    await Promise.all(limiters.map((limiter) => limiter.stop()));
  }
  return admitted;
}

test("the same check sees units that were given back twice", async () => {
  const limit = 1_000;
  expect(admissionFaults(await admittedBy(store.limits, "honest", limit), limit, 0)).toEqual([]);
  const twice = await admittedBy(returningTwice(store.limits), "twice", limit);
  expect(admissionFaults(twice, limit, 0)).toEqual([expect.stringMatching("over-admitted")]);
  expect(admissionFaults(limit - 1, limit, 0)).toEqual([expect.stringMatching("lost")]);
});
