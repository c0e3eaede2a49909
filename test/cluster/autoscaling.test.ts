/** A HorizontalPodAutoscaler of the chart, with real metrics: more copies of the gateway under load, fewer after it, and no request fails. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { until } from "../support/http.ts";
import { type Cluster, openCluster } from "./support/cluster.ts";
import { ConstantLoad, type EventResult, expectHarmless } from "./support/constant-load.ts";
import { ensureMetricsServer } from "./support/metrics-server.ts";
import { knownAnswers } from "./support/questions.ts";
import { installForEvaluation, makeNamespace, removeNamespaces } from "./support/release.ts";

const namespace = "nf-scaling";
const service = "gateway-auth-quota";
const copies = { min: 1, max: 3 };
/**
 * The least that shows failed requests, and what two copies are needed for. Of the 200m that a copy requests, a second one is made
 * above 132m, which the heavy load exceeds; of two, one is removed below 60m each, and with the light load they use 15m to 50m.
 */
const [lightPerSecond, heavyPerSecond] = [5, 250];
/** Some rounds of metrics and of the autoscaler, which looks every 15 s, on a machine that may be busy. */
const decisionMsMax = 240_000;

let cluster: Cluster;
let light: ConstantLoad;
let heavy: ConstantLoad | undefined;
let startHeavy: () => ConstantLoad;

beforeAll(async () => {
  cluster = await openCluster(process.env.KUBECONFIG ?? "");
  await ensureMetricsServer(cluster);
  await makeNamespace(cluster, namespace);
  const { key, urls } = await installForEvaluation(cluster, {
    namespace,
    values: {
      gateway: {
        resources: { requests: { cpu: "200m", memory: "128Mi" } },
        service: { type: "NodePort" },
        autoscaling: {
          enabled: true,
          minReplicas: copies.min,
          maxReplicas: copies.max,
          // In place of five minutes.
          behavior: { scaleDown: { stabilizationWindowSeconds: 15 } },
        },
      },
    },
  });
  const url = urls.node;
  const questions = await knownAnswers(url, key);
  light = new ConstantLoad({ url, key, questions, perSecond: lightPerSecond });
  startHeavy = () => new ConstantLoad({ url, key, questions, perSecond: heavyPerSecond });
});

afterAll(async () => {
  await light?.stop();
  await heavy?.stop();
  await removeNamespaces(cluster);
});

const podsOf = () => cluster.get(namespace, "pods", "-l", `app.kubernetes.io/component=${service}`);
async function readyCopies(): Promise<number> {
  return (await podsOf()).filter(({ status }) => status.containerStatuses?.[0]?.ready).length;
}
async function autoscaler(): Promise<string> {
  const { status } = JSON.parse(await cluster.kubectl("-n", namespace, "get", "hpa", `netfacts-${service}`, "-o", "json"));
  const use = status.currentMetrics?.[0]?.resource?.current.averageUtilization;
  return `${status.currentReplicas} copies, ${use ?? "unknown"} % of the request`;
}

function report({ event, requests, failed, databaseLate, wrong, p99Ms, faults }: EventResult, seconds: number, seen: string): void {
  console.log(
    [
      `${event}: ${requests} requests, ${failed} failed (database late: ${databaseLate}), ${wrong} wrong, p99 ${p99Ms} ms; after ${Math.round(seconds)} s: ${seen}`,
      ...faults,
    ].join("\n"),
  );
}

test("without load there is one copy, and the autoscaler knows its use", async () => {
  await until(async () => !(await autoscaler()).includes("unknown"), { timeoutMs: decisionMsMax });
  // A start may cost enough for a second one.
  await until(async () => (await podsOf()).length === copies.min, { timeoutMs: decisionMsMax });
});

test("under load there are more, and no request fails", async () => {
  heavy = startHeavy();
  let took = 0;
  const result = await heavy.during(`load of ${heavyPerSecond} requests a second`, async () => {
    took = await until(async () => (await readyCopies()) > copies.min, { timeoutMs: decisionMsMax });
  });
  report(result, took / 1_000, await autoscaler());
  expectHarmless(result);
});

test("after the load there is one again, and no request fails", async () => {
  expect((await podsOf()).length).toBeGreaterThan(copies.min);
  let took = 0;
  const result = await light.during(`load of ${lightPerSecond} requests a second`, async () => {
    await heavy?.stop();
    took = await until(async () => (await podsOf()).length === copies.min, { timeoutMs: decisionMsMax });
  });
  report(result, took / 1_000, await autoscaler());
  expectHarmless(result);
});
