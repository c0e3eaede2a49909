/**
 * A real Prometheus over the services as processes, under light load: rules and panels are evaluated on what processes really measure.
 * At first no alert fires. Then things are broken, and their alerts fire. The durations of the rules are shortened, so that this takes seconds.
 */

import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { keysChangedSubject } from "@netfacts/contracts";
import { openStore } from "@netfacts/pod/jetstream";
import { sealManifest } from "@netfacts/snapshot";
import { connect as connectNats } from "../../libs/messaging/test/nats/plain-connection.ts";
import { alerts } from "../../observability/alerts/index.ts";
import { dashboards } from "../../observability/panels/dashboards.ts";
import { until } from "../support/http.ts";
import { natsUsersConfig } from "../support/nats-users.ts";
import type { FiringAlert } from "../support/prometheus.ts";
import { shortRules } from "./short-rules.ts";
import { overTls, queryOf, startWatchedSystem, type WatchedSystem } from "./watched-system.ts";

/** Two scrapes fit into the shortest window of a rule. Each costs every process some ms. */
const scrapeMs = 500;
const shortestMs = 1_500;
/** Rules that count requests need more of them than the others. */
const calm = { pauseMs: 700, newNames: 1 };
const busy = { pauseMs: 200, newNames: 1 };
/** So many failures within the short window of the alert. */
const busyNames = { pauseMs: 200, newNames: 8 };
const connectionsMax = 24;
/** Its connections are never ended in favour of others. */
const proxyAddress = "127.0.1.1";

let system: WatchedSystem;
const sockets: Socket[] = [];

beforeAll(async () => {
  system = await startWatchedSystem({
    rules: shortRules(shortestMs),
    scrapeMs,
    load: calm,
    gatewaySettings: { CONNECTIONS_MAX: `${connectionsMax}`, TRUSTED_PROXIES: proxyAddress, LIMITS_DEBT_MAX: "20" },
  });
}, 180_000);

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await system?.stop();
});

/** Alerts that nothing here makes fire, with the reason. `promtool` evaluates them on made series (rules.test.ts). */
const unfired = new Map([
  ["NetfactsMemoryNearLimit", "the limit is the machine's memory, which other tests need"],
  ["NetfactsHeapNearLimit", "a heap that full ends the process soon"],
  ["NetfactsFilesNearLimit", "the limit is read once at the start, and Node raises it to the highest that the machine allows"],
  ["NetfactsLogLinesDropped", "only megabytes of unread log lines are dropped; a test of the log writes them"],
]);
/** May fire when the machine is busy: scrapes are missed, or requests wait. */
const ofBusyMachine = new Set([
  "NetfactsProcessDown",
  "NetfactsServiceMissing",
  "NetfactsEventLoopDelayed",
  "NetfactsLatencyBudgetBurnsFast",
  "NetfactsLatencyBudgetBurnsSlowly",
  "NetfactsLimitDebt",
]);
/** Those whose cause has been there, each with what it brings along. */
const caused = new Set<string>();
const fired = new Set<string>();

/** Waits until all of these fire, and none whose cause has not been there. @returns what fires then. */
async function untilFiring(names: readonly string[], alsoCaused: readonly string[] = [], timeoutMs = 60_000): Promise<FiringAlert[]> {
  for (const name of [...names, ...alsoCaused]) caused.add(name);
  const missing = new Set(names);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const firing = await system.prometheus.firing();
    expectWords(firing);
    for (const { labels } of firing) {
      fired.add(labels.alertname ?? "");
      missing.delete(labels.alertname ?? "");
    }
    expect([...fired].filter((name) => !caused.has(name) && !ofBusyMachine.has(name))).toEqual([]);
    if (missing.size === 0) return firing;
    if (performance.now() > deadline) expect({ missing: [...missing] }).toEqual({ missing: [] });
    await sleep(300);
  }
}

/** Alerts show every label that they name. */
function expectWords(firing: readonly FiringAlert[]): void {
  for (const { annotations } of firing) {
    expect(annotations.summary).not.toMatch(/<no value>|<error| {2}| $| at ($| )/);
    expect(annotations.runbook_url).toMatch(/\/Netfacts\w+\.md$/);
  }
}

const queries = dashboards.flatMap(({ name, rows }) =>
  rows.flatMap(({ panels }) => panels.flatMap(({ title, queries }) => queries.map(({ expr }) => ({ of: `${name}: ${title}`, expr })))),
);
const answered = new Set<string>();

/** Notes the queries of panels that return series. */
async function lookAtPanels(wanted = queries): Promise<void> {
  const open = wanted.filter(({ expr }) => !answered.has(expr));
  for (const { expr } of open) if ((await system.prometheus.query(queryOf(expr, scrapeMs))).length > 0) answered.add(expr);
}

async function untilSeries(wanted: typeof queries): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    await lookAtPanels(wanted);
    const missing = wanted.filter(({ expr }) => !answered.has(expr));
    if (missing.length === 0) return;
    if (performance.now() > deadline) expect(missing).toEqual([]);
    await sleep(300);
  }
}

test("a healthy system under load: no rule fails, no alert fires", async () => {
  const { prometheus } = system;
  // As long as rules hold that fire below; anew when the machine was too busy for a scrape.
  const quietMs = 6_000;
  let quietSince = performance.now();
  await until(
    async () => {
      await sleep(500);
      const names = (await prometheus.firing()).map(({ labels }) => labels.alertname ?? "");
      if (names.length > 0) quietSince = performance.now();
      expect(names.filter((name) => !ofBusyMachine.has(name))).toEqual([]);
      return performance.now() - quietSince >= quietMs;
    },
    { timeoutMs: 120_000 },
  );
  await lookAtPanels();
  expect(await prometheus.failedRules()).toEqual([]);
  const failed = () => prometheus.query("netfacts:failed_requests:ratio_rate5m");
  await until(async () => (await failed()).length > 0);
  expect((await failed()).map(({ value }) => value)).toEqual([0]);
});

test("a source, an RTR cache, a certificate, a shrunk section and a rogue client: an alert for each", async () => {
  const { world, all } = system;
  world.nameVersion(2);
  world.changeVrps(38);
  const malformed = await publishMalformed(all.natsUrl, world.authority.certificate);
  world.letCertificateExpire();
  world.writeBlocks(100);
  const changes = queries.filter(({ of }) => /: (Changes|Downloads|Checks|Messages that cannot be read)$/.test(of));
  await untilSeries(changes);
  world.serveNames(false);
  await world.cache.down();
  await untilFiring([
    "NetfactsMessagesMalformed",
    "NetfactsSourceFailing",
    "NetfactsRtrWithoutCache",
    "NetfactsSectionRefused",
    "NetfactsCredentialExpiresSoon",
    "NetfactsCredentialExpiresNow",
  ]);
  await malformed.stop();
  await lookAtPanels();
});

/** Waits until the registry's data of so many days ago are in service. */
async function untilImported(daysAgo: number): Promise<void> {
  const age = 'max(time() - netfacts_section_as_of_seconds{section="allocations"}) / 86400';
  await until(async () => ((await system.prometheus.query(age))[0]?.value ?? 0) > daysAgo);
}

test("a registry's file is too old, then one that cannot be read, then the list: alerts", async () => {
  const { world } = system;
  // A file that is older than the last one by more than stale_after would be refused.
  world.writeBlocks(200, 6);
  await untilImported(6);
  world.writeBlocks(200, 12);
  await untilFiring(["NetfactsSectionStale"]);
  let version = 0;
  world.breakBlocks(version++);
  const broken = setInterval(() => world.breakBlocks(version++), 2_000);
  await untilFiring(["NetfactsIngestFailing"], ["NetfactsSourceUnusable"]);
  clearInterval(broken);
  await untilFiring(["NetfactsSourceUnusable"]);
  world.breakList(true);
  await untilFiring(["NetfactsSourceListInvalid"]);
  world.breakList(false);
  await lookAtPanels();
  world.writeBlocks(200);
});

test("a pod misses a snapshot, and a snapshot is damaged: alerts", async () => {
  const { proxy } = system;
  await proxy.cut();
  await publish(system, "another");
  await untilFiring(["NetfactsSnapshotsDiffer", "NetfactsNatsDisconnected"]);
  await proxy.restore();
  await publish(system, "damaged");
  await untilFiring(["NetfactsSnapshotRejected"]);
  await lookAtPanels();
});

test("NATS is slow: alerts on the latency", async () => {
  const { nats } = system.all;
  let isOn = true;
  const slow = (async () => {
    while (isOn) {
      nats.freeze();
      await sleep(400);
      nats.thaw();
      await sleep(200);
    }
  })();
  await untilFiring(
    ["NetfactsLatencyBudgetBurnsFast", "NetfactsLatencyBudgetBurnsSlowly"],
    // On a busy machine an answer that waits for two such pauses comes after its deadline.
    ["NetfactsServiceUnanswered", "NetfactsErrorBudgetBurnsFast", "NetfactsErrorBudgetBurnsSlowly"],
  ).finally(() => {
    isOn = false;
  });
  await slow;
});

test("a process is held again and again: an alert on its event loop", async () => {
  const [resolver] = system.all.services["rdns-resolver"];
  let isOn = true;
  const held = (async () => {
    while (isOn) {
      // Longer than the alert allows, and shorter than a scrape may take.
      resolver?.signal("SIGSTOP");
      await sleep(320);
      resolver?.signal("SIGCONT");
      await sleep(130);
    }
  })();
  // What is asked of it meanwhile may be too late.
  await untilFiring(["NetfactsEventLoopDelayed"], ["NetfactsErrorBudgetBurnsFast", "NetfactsErrorBudgetBurnsSlowly"]).finally(() => {
    isOn = false;
  });
  await held;
});

test("one copy restarts again and again and is gone, as are one nameserver and the last process of a service: an alert for each", async () => {
  const { all, world, prometheus } = system;
  const copy = all.services["ip-routing"][1];
  let isOn = true;
  const restarts = (async () => {
    while (isOn) {
      for (let starts = 0; starts < 3; starts++) {
        await all.kill("ip-routing", 1);
        copy?.launch();
        await copy?.untilReady("/healthz");
        await sleep(2 * scrapeMs);
      }
      // Now it stays, as the alert waits. On a slow machine it looks back over fewer starts: then three more.
      await until(() => !isOn, { timeoutMs: 20_000 }).catch(() => undefined);
    }
  })();
  await untilFiring(
    ["NetfactsRestarting"],
    // A copy that starts has no snapshot at first.
    ["NetfactsProcessDown", "NetfactsErrorBudgetBurnsFast", "NetfactsErrorBudgetBurnsSlowly", "NetfactsPodWithoutSnapshot"],
    120_000,
  ).finally(() => {
    isOn = false;
  });
  await restarts;
  await all.kill("ip-routing", 1);
  await all.kill("asn-prefix", 0);
  Object.assign(system.load, busy);
  // The one that is asked: the other one takes over.
  const [asked] = await prometheus.query("netfacts_rdns_nameserver_up == 1");
  await world.nameservers.find(({ address }) => address === asked?.metric.server)?.stop();
  await untilFiring(["NetfactsProcessDown", "NetfactsServiceMissing", "NetfactsServiceUnanswered", "NetfactsResolverDown"]);
  await lookAtPanels();
});

test("the other nameserver is gone too: another alert", async () => {
  const { world, prometheus } = system;
  for (const nameserver of world.nameservers) await nameserver.stop();
  Object.assign(system.load, busyNames);
  await untilFiring(["NetfactsResolversDown", "NetfactsReverseDnsFailing"]);
  Object.assign(system.load, calm);
  expect((await prometheus.firing()).map(({ labels }) => labels.alertname)).not.toContain("NetfactsResolverDown");
});

test("all places for connections are taken: an alert", async () => {
  const { hostname, port } = new URL(system.all.gateways[0]?.url ?? "");
  const open = setInterval(() => {
    if (sockets.length >= 2 * connectionsMax) return;
    const socket = connect({ host: hostname, port: Number(port), localAddress: proxyAddress });
    socket.on("error", () => {});
    sockets.push(socket);
  }, 20);
  await untilFiring(["NetfactsConnectionsRefused", "NetfactsPlacesNearlyUsed"]);
  clearInterval(open);
  await lookAtPanels();
  for (const socket of sockets.splice(0)) socket.destroy();
});

test("the database is gone: an alert for each thing that needs it", async () => {
  const { mongo } = system.all;
  mongo.freeze();
  await untilFiring([
    "NetfactsStoreUnavailable",
    "NetfactsLimitStoreUnavailable",
    "NetfactsLimitDebt",
    "NetfactsIngestLeadership",
    "NetfactsIngestLeaseErrors",
    "NetfactsErrorBudgetBurnsFast",
    "NetfactsErrorBudgetBurnsSlowly",
  ]);
  await lookAtPanels();
  mongo.thaw();
});

test("NATS refuses a subject, then is gone: every process reports it, and one that starts has no snapshot", async () => {
  const { all, prometheus, natsConfig } = system;
  const users = natsUsersConfig().replaceAll("nf.f1.rdns-resolver", "nf.f1.nobody");
  await all.nats.reload(`${users}\n${natsConfig}`);
  await untilFiring(["NetfactsNatsRightMissing"]);
  await all.nats.stop();
  all.services["ip-routing"][1]?.launch();
  const services = new Set<string | undefined>();
  await until(
    async () => {
      const firing = await untilFiring(["NetfactsNatsDisconnected"], ["NetfactsNoGatewayReady"]);
      for (const { labels } of firing) if (labels.alertname === "NetfactsNatsDisconnected") services.add(labels.service);
      // asn-prefix was killed.
      return ["gateway-auth-quota", "ip-routing", "rdns-resolver", "ingest"].every((service) => services.has(service));
    },
    { timeoutMs: 60_000 },
  );
  await untilFiring(["NetfactsPodWithoutSnapshot", "NetfactsNoGatewayReady"]);
  expect(await prometheus.failedRules()).toEqual([]);
});

test("every query of every panel has returned series", () => {
  expect(queries.filter(({ expr }) => !answered.has(expr)).map(({ of }) => of)).toEqual([]);
});

test("every alert has fired, but for those that have a reason", () => {
  const names = alerts().map(({ name }) => name);
  expect(names.filter((name) => !fired.has(name) && !unfired.has(name))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining([...unfired.keys()]));
});

/** A rogue client: frames and broadcasts that cannot be read, until it is stopped. */
async function publishMalformed(natsUrl: string, caFile: string): Promise<{ stop(): Promise<void> }> {
  const { username: user, password: pass, host } = new URL(natsUrl);
  const nats = await connectNats({ servers: host, user, pass, tls: { caFile } });
  const timer = setInterval(() => {
    for (const subject of ["nf.f1.ip-routing.single", keysChangedSubject])
      nats.publish(subject, Buffer.from("garbage"), { reply: "_INBOX.rogue" });
  }, 100);
  return {
    async stop() {
      clearInterval(timer);
      await nats.close();
    },
  };
}

/** Behind the back of ingest: the snapshot in service with another id, or with an object that no pod can load. */
async function publish({ all, trust }: WatchedSystem, what: "another" | "damaged"): Promise<void> {
  const connection = { servers: overTls(all.natsUrl), name: "rogue", access: trust };
  const { store, close } = await openStore({ bucket: "netfacts-snapshots", connection });
  try {
    const id = await store.currentId();
    if (id === null) throw new Error("there is no snapshot");
    const manifest = await store.getManifest(id);
    const garbage = Buffer.from("garbage");
    const [name, section] = Object.entries(manifest.sections)[0] ?? [];
    if (name === undefined || section === undefined) throw new Error(`snapshot ${id} has no section`);
    const sections =
      what === "another"
        ? manifest.sections
        : { ...manifest.sections, [name]: { ...section, object: await store.putObject(garbage), bytes: garbage.length } };
    const next = sealManifest({ sample_data: what === "another", sections, ingest_objects: manifest.ingest_objects });
    await store.publish(next);
    await store.activate(next.id);
  } finally {
    await close();
  }
}
