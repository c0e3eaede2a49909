/**
 * A real Prometheus over the services as processes, under light load: rules and panels are evaluated on what processes really measure.
 * At first no alert fires. Then things are broken, and their alerts fire. The durations of the rules are shortened, so that this takes seconds.
 */

import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ruleFile } from "../../observability/alerts/index.ts";
import { dashboards } from "../../observability/panels/dashboards.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { request, until } from "../support/http.ts";
import { endAll, netfactsJsonWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { type FiringAlert, type Prometheus, startPrometheus } from "../support/prometheus.ts";
import { smallSources } from "../support/small-sources.ts";
import { startUnbound, type Unbound } from "../support/unbound.ts";

/** Two scrapes fit into the shortest window of a rule. */
const scrapeMs = 300;
const shortestMs = 1_500;
/** A minute of a rule takes 0.35 s. */
const shorten = (seconds: number) => `${Math.max(shortestMs, Math.round((seconds * 350) / 60))}ms`;
const connectionsMax = 24;
/** Its connections are never ended in favour of others. */
const proxy = "127.0.1.1";

let all: Distributed;
let prometheus: Prometheus;
let key: string;
let adminKey: string;
let sources: string;
const resolvers: Unbound[] = [];
const sockets: Socket[] = [];
const load = { stopped: false, done: Promise.resolve() };

beforeAll(async () => {
  const home = temporaryFolder();
  sources = smallSources(join(home, "sources"), "NL");
  for (let count = 0; count < 2; count++) resolvers.push(await startUnbound({ authorities: {} }));
  all = await startDistributed({
    replicas: { "ip-routing": 2, ingest: 1 },
    settings: { RESOLVERS: resolvers.map(({ address }) => address).join(","), RDNS_TIMEOUT_MS: "300", USAGE_FLUSH_MS: "500" },
    settingsOf: (service): Record<string, string> => {
      if (service === "ingest") return { SOURCES: sources, INGEST_SCHEDULE: "false", INGEST_LEASE_TTL_MS: "2000" };
      return service === "gateway-auth-quota" ? { CONNECTIONS_MAX: `${connectionsMax}`, TRUSTED_PROXIES: proxy } : {};
    },
    snapshot: "by-ingest",
  });
  const create = async (...options: string[]) =>
    (await netfactsJsonWith<{ secret: string }>(all.env, home, "keys", "create", "--rate", "600/1s", ...options)).secret;
  [key, adminKey] = await Promise.all([create("--label", "load"), create("--label", "operator", "--scopes", "admin")]);
  prometheus = await startPrometheus({
    scrapeInterval: `${scrapeMs}ms`,
    rules: ruleFile(shorten),
    targets: all.processes.map(({ operationsUrl, service }) => ({
      address: operationsUrl.slice("http://".length),
      labels: { namespace: "n", job: service },
    })),
  });
  load.done = ask();
}, 120_000);

afterAll(async () => {
  load.stopped = true;
  await load.done;
  for (const socket of sockets) socket.destroy();
  await prometheus?.stop();
  await all?.stop();
  for (const resolver of resolvers) await resolver.stop();
  await endAll();
  removeFolders();
});

const batch = JSON.stringify({ questions: [{ kind: "ip", value: "193.0.6.139" }] });

/** A little of everything that callers and operators do, some of it wrong. */
async function ask(): Promise<void> {
  const [gateway] = all.gateways;
  const json = { "content-type": "application/json" };
  for (let turn = 0; !load.stopped; turn++) {
    const address = `193.0.6.${turn % 8}`;
    const asked = [
      ...["ip", "routing", "reverse-dns"].map((route) => request(`${gateway?.url}/api/v1/${route}/${address}`, { key })),
      request(`${gateway?.url}/api/v1/asn/3333`, { key }),
      request(`${gateway?.url}/api/v1/ip/nonsense`, { key }),
      request(`${gateway?.url}/api/v1/ip/${address}`, { key: `${key}x` }),
      request(`${gateway?.url}/api/v1/status`),
      request(`${gateway?.url}/api/v1/batch`, { key, method: "POST", body: batch, headers: json }),
      request(`${gateway?.operatorUrl}/admin/v1/ingest/runs`, { key: adminKey }),
    ];
    await Promise.allSettled(asked);
    await sleep(50);
  }
}

async function firing(): Promise<Set<string>> {
  return new Set((await prometheus.firing()).map(({ labels }) => labels.alertname ?? ""));
}

/** Waits until all of these fire. @returns what fires then. */
async function untilFiring(names: readonly string[], timeoutMs = 30_000): Promise<FiringAlert[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const alerts = await prometheus.firing();
    const missing = names.filter((name) => !alerts.some(({ labels }) => labels.alertname === name));
    if (missing.length === 0) return alerts;
    if (performance.now() > deadline) expect({ missing }).toEqual({ missing: [] });
    await sleep(200);
  }
}

/** A panel's query as Grafana sends it. */
function filled(expr: string): string {
  return expr.replaceAll("$__rate_interval", `${4 * scrapeMs}ms`).replaceAll(/\$(namespace|instance)/g, ".*");
}

/** Panels whose metric nothing here causes: no RTR cache, no fetched source, no certificate, no shrunk section, no forged message. */
const uncaused = new Set([
  "Sessions",
  "VRPs",
  "Changes",
  "Checks",
  "Downloads",
  "Failed readings",
  "Since the last success",
  "Failures in a row",
  "Credentials for NATS expire in",
  "Messages that cannot be read",
  "Messages dropped",
]);
const panels = dashboards.flatMap(({ name, rows }) =>
  rows.flatMap((row) => row.panels.map((panel) => ({ ...panel, name: `${name}: ${panel.title}` }))),
);
const seen = new Set<string>();

/** Notes the panels of which each query returns series. */
async function lookAtPanels(): Promise<void> {
  for (const { name, queries } of panels) {
    if (seen.has(name)) continue;
    const found = await Promise.all(queries.map(({ expr }) => prometheus.query(filled(expr))));
    if (found.every((samples) => samples.length > 0)) seen.add(name);
  }
}

/** Fire when scrapes are missed. */
const unscraped = new Set(["NetfactsProcessDown", "NetfactsServiceMissing"]);

test("a healthy system under load: no rule fails, no alert fires", async () => {
  // As long as rules hold that fire below; anew when the machine was too busy for a scrape.
  const quietMs = 6_000;
  let quietSince = performance.now();
  await until(
    async () => {
      await sleep(500);
      await lookAtPanels();
      const fired = [...(await firing())];
      if (fired.length > 0) quietSince = performance.now();
      expect(fired.filter((name) => !unscraped.has(name))).toEqual([]);
      return performance.now() - quietSince >= quietMs;
    },
    { timeoutMs: 120_000 },
  );
  expect(await prometheus.failedRules()).toEqual([]);
  const failed = () => prometheus.query("netfacts:failed_requests:ratio_rate5m");
  await until(async () => (await failed()).length > 0);
  expect((await failed()).map(({ value }) => value)).toEqual([0]);
});

test("one copy, one nameserver and the last process of a service are gone: an alert for each", async () => {
  await all.kill("ip-routing", 1);
  await all.kill("asn-prefix", 0);
  await resolvers[1]?.stop();
  expectWords(await untilFiring(["NetfactsProcessDown", "NetfactsServiceMissing", "NetfactsServiceUnanswered", "NetfactsResolverDown"]));
  await lookAtPanels();
});

test("the other nameserver is gone too: another alert", async () => {
  await resolvers[0]?.stop();
  expectWords(await untilFiring(["NetfactsResolversDown"]));
  expect((await firing()).has("NetfactsResolverDown")).toBe(false);
});

test("all places for connections are taken: an alert", async () => {
  const { hostname, port } = new URL(all.gateways[0]?.url ?? "");
  const open = setInterval(() => {
    if (sockets.length >= 2 * connectionsMax) return;
    const socket = connect({ host: hostname, port: Number(port), localAddress: proxy });
    socket.on("error", () => {});
    sockets.push(socket);
  }, 20);
  expectWords(await untilFiring(["NetfactsConnectionsRefused", "NetfactsPlacesNearlyUsed"]));
  clearInterval(open);
  await lookAtPanels();
  for (const socket of sockets.splice(0)) socket.destroy();
});

test("the database is gone: an alert for each thing that needs it", async () => {
  all.mongo.freeze();
  const expected = [
    "NetfactsStoreUnavailable",
    "NetfactsLimitStoreUnavailable",
    "NetfactsIngestLeadership",
    "NetfactsErrorBudgetBurnsFast",
  ];
  expectWords(await untilFiring(expected));
  await lookAtPanels();
  // Its alert waits for minutes of errors, of which a shortened rule sees too few.
  const [errors] = await prometheus.query("sum(increase(netfacts_ingest_lease_errors_total[1m]))");
  expect(errors?.value).toBeGreaterThan(0);
  all.mongo.thaw();
});

test("NATS is gone: every process says so", async () => {
  await all.nats.stop();
  const services = new Set<string | undefined>();
  await until(async () => {
    const alerts = await untilFiring(["NetfactsNatsDisconnected"]);
    expectWords(alerts);
    for (const { labels } of alerts) if (labels.alertname === "NetfactsNatsDisconnected") services.add(labels.service);
    // asn-prefix was killed.
    return ["gateway-auth-quota", "ip-routing", "rdns-resolver", "ingest"].every((service) => services.has(service));
  });
  expect(await prometheus.failedRules()).toEqual([]);
});

test("every query of every panel has returned series", () => {
  const unseen = panels.filter(({ name, title }) => !seen.has(name) && !uncaused.has(title)).map(({ name }) => name);
  expect(unseen).toEqual([]);
  expect(panels.map(({ title }) => title)).toEqual(expect.arrayContaining([...uncaused]));
});

/** Alerts show every label that they name. */
function expectWords(alerts: readonly FiringAlert[]): void {
  for (const { annotations } of alerts) {
    expect(annotations.summary).not.toMatch(/<no value>|<error| {2}| $| at ($| )/);
    expect(annotations.runbook_url).toMatch(/\/Netfacts\w+\.md$/);
  }
}
