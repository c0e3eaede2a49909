/** A rolling restart of a gateway behind a load balancer that takes 5 s to notice that it is not ready: no request fails. */

import { Agent, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createKey, readScopes } from "@netfacts/keys";
import { openFolderStore } from "@netfacts/snapshot";
import { openMongoStore } from "@netfacts/storage/mongo";
import { publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { madeWorld, WorldOracle, worldQuestions } from "../load/worlds.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { until } from "../support/http.ts";
import { type LoadBalancer, startLoadBalancer } from "../support/load-balancer.ts";
import { removeFolders, temporaryFolder } from "../support/processes.ts";

const check = { intervalMs: 1_000, failuresMax: 5 };
/** As docs/operations/services.md advises: interval × failures, one interval for the check under way, and two for a busy machine. */
const drainSeconds = (check.intervalMs * (check.failuresMax + 3)) / 1_000;
/** A store that others keep busy, and a busy machine, make no request fail: only the stop could. */
const gatewaySettings = { DRAIN_SECONDS: `${drainSeconds}`, LIMITS_DEBT_MAX: "100000", SHED_LOOP_DELAY_MS: "0" };
const requestsPerSecond = 50;
/** Of callers that a stopped gateway keeps waiting; far above what a busy machine needs. */
const answerMsMax = 20_000;

let distributed: Distributed;
let balancer: LoadBalancer;
let key: string;
beforeAll(async () => {
  const origin = openFolderStore(temporaryFolder());
  const { id } = await publishMade(origin, madeWorld(0));
  distributed = await startDistributed({
    replicas: { "gateway-auth-quota": 2, "rdns-resolver": 0 },
    settings: { LOG_LEVEL: "warn" },
    settingsOf: (service): Record<string, string> => (service === "gateway-auth-quota" ? gatewaySettings : {}),
    snapshot: { store: origin, id },
    own: false,
  });
  const store = await openMongoStore(distributed.mongoUrl, { appName: "drain" });
  const spec = { label: "drain", scopes: readScopes };
  key = (await createKey(store, { ...spec, rate: { limit: 1_000_000, windowSeconds: 60 } })).secret;
  await store.close();
  const backends = distributed.gateways.map(({ url, operationsUrl }) => ({ url, readyUrl: `${operationsUrl}/readyz` }));
  balancer = await startLoadBalancer({ backends, ...check });
});
afterAll(async () => {
  await balancer?.stop();
  // Nobody asks any more: a drain would only take its time.
  for (const index of distributed?.gateways.keys() ?? []) await distributed.kill("gateway-auth-quota", index);
  await distributed?.stop();
  removeFolders();
});

/** Asks at a constant rate until it is stopped, and compares each answer. */
function startLoad(): { readonly failed: string[]; readonly right: number; stop(): Promise<void> } {
  const oracle = new WorldOracle([0]);
  const agent = new Agent({ keepAlive: true });
  const failed: string[] = [];
  const flying = new Set<Promise<void>>();
  let right = 0;
  let asked = 0;
  const ask = async (): Promise<void> => {
    const question = worldQuestions[asked++ % worldQuestions.length];
    if (question === undefined) throw new Error("no questions");
    const fault = await new Promise<string | null>((done) => {
      const sent = httpRequest(`${balancer.url}/api/v1${question.path}`, {
        agent,
        headers: { authorization: `Bearer ${key}` },
        signal: AbortSignal.timeout(answerMsMax),
      });
      sent.once("error", (error) => done(error.message));
      sent.once("response", async (answer) => {
        const body = await text(answer).catch((error: Error) => error.message);
        const wrong = () => oracle.fault({ question, body, snapshotId: null, pinned: null });
        done(answer.statusCode === 200 ? wrong() : `${answer.statusCode} ${body.slice(0, 200)}`);
      });
      sent.end();
    });
    if (fault === null) right += 1;
    else failed.push(fault);
  };
  const timer = setInterval(() => {
    const one = ask().finally(() => flying.delete(one));
    flying.add(one);
  }, 1_000 / requestsPerSecond);
  return {
    failed,
    get right() {
      return right;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(flying);
      agent.destroy();
    },
  };
}

test("a gateway that is stopped and started again behind a slow balancer costs no request", async () => {
  const load = startLoad();
  await until(() => load.right > 100 && balancer.sentTo(0) > 0 && balancer.sentTo(1) > 0);
  const signalledAt = performance.now();
  const stopped = distributed.kill("gateway-auth-quota", 0, "SIGTERM");
  const sentBefore = balancer.sentTo(0);
  const noticedMs = await until(() => !balancer.uses(0), { timeoutMs: 30_000 });
  const sentMeanwhile = balancer.sentTo(0) - sentBefore;
  await stopped;
  const stoppedMs = performance.now() - signalledAt;
  expect(distributed.gateways[0]?.ended).toEqual({ code: 0, signal: null });
  await distributed.restart("gateway-auth-quota", 0);
  const sent = balancer.sentTo(0);
  await until(() => balancer.sentTo(0) > sent + 20, { timeoutMs: 30_000 });
  await sleep(500);
  await load.stop();
  console.log(
    `${load.right} answers right, ${load.failed.length} failed; the balancer noticed after ${Math.round(noticedMs)} ms and had sent ` +
      `${sentMeanwhile} requests to the gateway, which ended after ${Math.round(stoppedMs)} ms`,
  );
  expect(load.failed).toEqual([]);
  // Otherwise nothing was shown: it would have failed had it stopped at once.
  expect(sentMeanwhile).toBeGreaterThan(0);
});
