/** What callers notice while the cluster is changed and broken: every answer of a constant load is compared with the true one. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { table } from "../../scripts/markdown-table.ts";
import { request, until } from "../support/http.ts";
import { type Cluster, openCluster, restartCluster } from "./support/cluster.ts";
import { ConstantLoad, type EventResult, expectHarmless } from "./support/constant-load.ts";
import { LimitedCaller } from "./support/limited-caller.ts";
import { knownAnswers } from "./support/questions.ts";
import {
  charts,
  evaluation,
  helmRelease,
  imageValues,
  makeKey,
  makeNamespace,
  removeNamespaces,
  rolloutSeconds,
  serviceUrls,
  smallRequests,
  untilAnswered,
  untilRolledOut,
} from "./support/release.ts";
import { unboundImage } from "./support/server-images.ts";

const root = resolve(import.meta.dirname, "../..");
const namespace = "nf-load";
const perSecond = 30;
/** Of a key that asks six times as often. */
const limitOfKey = 20;

let cluster: Cluster;
let load: ConstantLoad;
let limited: LimitedCaller;
let operator: { url: string; key: string };
const results: EventResult[] = [];

/** Two copies of what answers, so that one may go. */
const values = {
  ...imageValues,
  ...smallRequests,
  defaults: { replicas: 2 },
  nats: { snapshotReplicas: 3 },
  gateway: { ...smallRequests.gateway, service: { type: "NodePort" } },
};

const kubectl = (...args: string[]) => cluster.kubectl("-n", namespace, ...args);
const deployment = (service: string) => `deployment/netfacts-${service}`;
const podsOf = (service: string) => cluster.get(namespace, "pods", "-l", `app.kubernetes.io/component=${service}`);

const rolledOut = (service: string) => untilRolledOut(cluster, { namespace, service });

function upgrade(over: object, flags?: readonly string[]): Promise<string> {
  return helmRelease(cluster, {
    namespace,
    release: "netfacts",
    chart: charts.netfacts,
    files: [evaluation],
    values: { ...values, ...over },
    command: "upgrade",
    ...(flags && { flags }),
  });
}

/** Runs an event under load and keeps its line of the table. */
async function during(event: string, action: () => Promise<unknown>): Promise<EventResult> {
  const result = await load.during(event, action);
  results.push(result);
  if (result.faults.length > 0) console.log(`${event}\n${result.faults.join("\n")}`);
  return result;
}

/** Requests may fail, but none is answered wrongly, and it ends by itself. */
const recovers = { wrong: 0, recovered: true };

beforeAll(async () => {
  cluster = await openCluster(process.env.KUBECONFIG ?? "");
  await makeNamespace(cluster, namespace);
  const backing = { ...imageValues, nats: { replicas: 3 } };
  await helmRelease(cluster, { namespace, release: "backing", chart: charts.backing, values: backing, flags: [] });
  await helmRelease(cluster, { namespace, release: "netfacts", chart: charts.netfacts, files: [evaluation], values });
  const gateway = deployment("gateway-auth-quota");
  const { secret: key } = await makeKey(cluster, namespace, gateway, "--rate", "1000000/60s", "--month", "10000000");
  const { secret: limitedKey } = await makeKey(cluster, namespace, gateway, "--rate", `${limitOfKey}/10s`);
  const { secret: adminKey } = await makeKey(cluster, namespace, gateway, "--scopes", "admin");
  const { node: url } = await serviceUrls(cluster, namespace, "netfacts");
  operator = { url: (await serviceUrls(cluster, namespace, "netfacts-operator")).cluster, key: adminKey };
  await untilAnswered(url, key, performance.now());
  load = new ConstantLoad({ url, key, questions: await knownAnswers(url, key), perSecond });
  limited = new LimitedCaller({ url: `${url}/api/v1/ip/193.0.6.139`, key: limitedKey, perSecond: 12, limit: limitOfKey, windowMs: 10_000 });
});

afterAll(async () => {
  await load?.stop();
  await limited?.stop();
  const rows = results.map(({ event, requests, failed, databaseLate, wrong, p99Ms, secondsToRecover }) =>
    [event, requests, failed, databaseLate, wrong, `${p99Ms} ms`, secondsToRecover].map(String),
  );
  console.log(table(["event", "requests", "failed", "of these: database late", "wrong", "p99", "seconds to recover"], rows));
  await removeNamespaces(cluster);
});

test("nothing happens, and every answer is true", async () => {
  expectHarmless(await during("none, for 15 s", () => new Promise((done) => setTimeout(done, 15_000))));
});

test.each(["gateway-auth-quota", "ip-routing", "asn-prefix", "rdns-resolver", "ingest"])(
  "a rolling upgrade of %s is not noticed",
  async (service) => {
    const result = await during(`rolling upgrade of ${service}`, async () => {
      await kubectl("rollout", "restart", deployment(service));
      await rolledOut(service);
    });
    expectHarmless(result);
  },
);

test.each(["gateway-auth-quota", "ip-routing"])("%s is scaled from 1 to 3 and back, unnoticed", async (service) => {
  await kubectl("scale", deployment(service), "--replicas=1");
  await rolledOut(service);
  const scaled = async (replicas: number) => {
    await kubectl("scale", deployment(service), `--replicas=${replicas}`);
    await rolledOut(service);
  };
  const result = await during(`scale ${service} 1 → 3 → 1`, async () => {
    await scaled(3);
    await scaled(1);
  });
  await scaled(2);
  expectHarmless(result);
});

test.each(["gateway-auth-quota", "ip-routing", "asn-prefix", "rdns-resolver"])("a deleted pod of %s is not missed", async (service) => {
  const result = await during(`a pod of ${service} is deleted`, async () => {
    const [pod] = await podsOf(service);
    await kubectl("delete", "pod", pod?.metadata.name, "--wait=true");
    await rolledOut(service);
  });
  expectHarmless(result);
});

test("a new snapshot is taken without a pause", async () => {
  const content = readFileSync(resolve(root, "samples/sources.yaml"), "utf8").replaceAll("location: data/", "location: /app/samples/data/");
  // Nothing that is asked about is allocated by LACNIC.
  const without = content.replace(/ {2}- name: lacnic\n(?: {4}.*\n)+/, "");
  expect(without).not.toBe(content);
  const sourcesOf = async () => {
    const { json } = await request(`${load.url}/api/v1/status`);
    return json.sections.allocations.sources.map(({ name }: { name: string }) => name);
  };
  expect(await sourcesOf()).toContain("lacnic");
  const result = await during("a new snapshot", async () => {
    await upgrade({ ingest: { ...smallRequests.ingest, sources: { content: without } } });
    const run = {
      key: operator.key,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"accept_shrink":["allocations"]}',
    };
    await until(async () => (await request(`${operator.url}/admin/v1/ingest/runs`, run).catch(() => null))?.status === 202);
    await until(async () => !(await sourcesOf()).includes("lacnic"), { timeoutMs: 120_000 });
  });
  expectHarmless(result);
});

/** Deletes these pods at once; resolves when others are ready in their place. */
async function restart(set: string, ...indexes: number[]): Promise<void> {
  const names = indexes.map((index) => `${set}-${index}`);
  const pods = async () => (await cluster.get(namespace, "pods")).filter(({ metadata }) => names.includes(metadata.name));
  const before = new Set((await pods()).map(({ metadata }) => metadata.uid));
  await kubectl("delete", "pod", ...names, "--wait=false");
  // Not by `--wait`: it once waited without end for pods that were there again, under the same names.
  const areNew = async () => {
    const after = await pods();
    return after.length === names.length && after.every(({ metadata }) => !before.has(metadata.uid));
  };
  await until(areNew, { timeoutMs: rolloutSeconds * 1_000 });
  await kubectl("rollout", "status", `statefulset/${set}`, `--timeout=${rolloutSeconds}s`);
}

test.each([
  ["one of three NATS servers is deleted", "backing-nats", [1]],
  ["all three NATS servers are deleted", "backing-nats", [0, 1, 2]],
  ["MongoDB is deleted", "backing-mongodb", [0]],
] as const)("%s, and nothing wrong is answered until it is back", async (event, set, indexes) => {
  expect(await during(event, () => restart(set, ...indexes))).toMatchObject(recovers);
});

test("the NATS servers are replaced one by one", async () => {
  const result = await during("rolling restart of three NATS servers", async () => {
    await kubectl("rollout", "restart", "statefulset/backing-nats");
    await kubectl("rollout", "status", "statefulset/backing-nats", `--timeout=${rolloutSeconds}s`);
  });
  expect(result).toMatchObject(recovers);
});

test("an image that does not start gets no request, and helm rollback ends the attempt", async () => {
  const broken = await during("an image that does not start, for 30 s", async () => {
    await upgrade({ image: unboundImage }, []);
    await new Promise((done) => setTimeout(done, 30_000));
  });
  expectHarmless(broken);
  const pods = await podsOf("gateway-auth-quota");
  expect(pods.filter(({ status }) => status.containerStatuses?.[0]?.ready).length).toBe(2);
  const back = await during("helm rollback", () =>
    cluster.helm("-n", namespace, "rollback", "netfacts", "--wait", `--timeout=${rolloutSeconds}s`),
  );
  expectHarmless(back);
});

test("a node that is stopped and started again serves again without help", async () => {
  const result = await during("the node with all pods is stopped and started", () => restartCluster(cluster));
  expect(result).toMatchObject(recovers);
});

test("a key never got more than its limit", () => {
  console.log(
    `a key for ${limitOfKey} requests in 10 s got ${limited.answered} of ${limited.allowed}, at most ${limited.mostAtOnce} in 10 s`,
  );
  expect(limited.answered).toBeGreaterThan(limited.allowed / 2);
  expect(limited.answered).toBeLessThanOrEqual(limited.allowed);
  expect(limited.mostAtOnce).toBeLessThanOrEqual(2 * limitOfKey);
});
