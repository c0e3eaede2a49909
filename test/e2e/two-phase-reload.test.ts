/**
 * A new snapshot over a real nats-server: three pods load it, and serve it together; what a pod misses, refuses or finds away heals.
 *
 * @alone It asserts deadlines.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { Messaging } from "@netfacts/messaging";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { PodReporter } from "@netfacts/pod";
import { connectJetStreamStore, jetStreamSource } from "@netfacts/pod/jetstream";
import { type OpenedStore, SnapshotFollower, type SnapshotStore } from "@netfacts/snapshot";
import { testBucket } from "../../libs/pod/test/jetstream/bucket.ts";
import { numbered, publishNumber, until } from "../../libs/snapshot/test/store/contract.ts";
import { publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { ActivationCoordinator, activationDefaults } from "../../services/ingest/src/publish/activation-coordinator.ts";
import { type NatsServer, startNatsServer } from "../support/nats-server.ts";

/** A pod that hears no hint: neither ingest's messages nor what is written to the pointer. */
const deaf = "deaf";
const config = `authorization { users = [
  { user: pod, password: pod },
  { user: ${deaf}, password: pod, permissions: { subscribe: { deny: ["dataset.>", "$KV.>"] } } }
] }`;

let server: NatsServer;
let storeDir: string;
let undo: (() => Promise<void> | void)[];

beforeEach(async () => {
  storeDir = mkdtempSync(join(tmpdir(), "netfacts-reload-"));
  undo = [];
  server = await startNatsServer({ jetstream: true, storeDir, config });
});
afterEach(async () => {
  for (const step of undo.reverse()) await step();
  await server.stop();
  rmSync(storeDir, { recursive: true, force: true });
});

const connection = (name: string, user = "pod") => ({
  servers: server.url,
  name,
  access: { NATS_USER: user, NATS_PASSWORD: "pod" },
});

async function openStore(name: string, user?: string): Promise<SnapshotStore> {
  const opened: OpenedStore = await connectJetStreamStore({ connection: connection(name, user) });
  undo.push(() => opened.close());
  return opened.store;
}

async function openMessaging(name: string, user?: string): Promise<Messaging> {
  const messaging = await createNatsMessaging(connection(name, user));
  undo.push(() => messaging.close());
  return messaging;
}

interface Pod {
  readonly follower: SnapshotFollower;
  readonly refused: string[];
  /** What its answers would say. */
  name(): string | null;
}

/** @param objects  the bucket that its loader reads from, where that is another one. */
async function startPod(pod: string, { user, objects }: { user?: string; objects?: string } = {}): Promise<Pod> {
  const store = await openStore(pod, user);
  const refused: string[] = [];
  const source = jetStreamSource({ connection: connection(`${pod}-loader`, user), ...(objects && { bucket: objects }) });
  const follower = new SnapshotFollower(store, source, { refused: (id) => refused.push(id) });
  const reporter = new PodReporter({ follower, broadcast: await openMessaging(pod, user), pod, service: "ip-routing" });
  undo.push(
    () => follower.stop(),
    () => reporter.stop(),
  );
  await follower.start();
  reporter.start();
  return { follower, refused, name: () => follower.current()?.names?.lookupName(1) ?? null };
}

/** Ingest: publishes numbered snapshots and lets them be served. */
async function startIngest(settings: { waitMs?: number } = {}) {
  const store = await openStore("ingest");
  const coordinator = new ActivationCoordinator({ broadcast: await openMessaging("ingest"), store, settings });
  coordinator.start();
  undo.push(() => coordinator.stop());
  return {
    store,
    coordinator,
    release: async (number: number) => coordinator.activate((await publishNumber(store, number)).id),
  };
}

test("three pods load a snapshot, and none serves it before all have it", async () => {
  const ingest = await startIngest();
  await ingest.release(1);
  const pods = await Promise.all(["a", "b", "c"].map((name) => startPod(name)));
  expect(pods.map((pod) => pod.name())).toEqual(["NUMBER-1", "NUMBER-1", "NUMBER-1"]);
  await until(() => ingest.coordinator.pods().length === 3);

  const { id } = await publishNumber(ingest.store, 2);
  await until(() => pods.every(({ follower }) => follower.at(id) !== "not_yet"));
  expect(pods.map((pod) => pod.name())).toEqual(["NUMBER-1", "NUMBER-1", "NUMBER-1"]);

  const delays: number[] = [];
  for (let number = 3; number < 8; number++) {
    const outcome = await ingest.release(number);
    const activatedAt = performance.now();
    expect(outcome).toMatchObject({ activated: true, loaded: ["a", "b", "c"], refused: [], loading: [] });
    expect(outcome.waitedMs).toBeLessThan(activationDefaults.waitMs);
    await until(() => pods.every((pod) => pod.name() === `NUMBER-${number}`));
    delays.push(performance.now() - activatedAt);
  }
  delays.sort((a, b) => a - b);
  expect(delays[2]).toBeLessThanOrEqual(1_000);
  expect(delays[4]).toBeLessThanOrEqual(10_000);
}, 60_000);

test("with one pod that refuses a damaged object the others go on after the bound, and it stays where it was", async () => {
  const waitMs = 8_000;
  const ingest = await startIngest({ waitMs });
  // The third pod reads objects from a bucket of its own.
  const bucket = await testBucket(server, { name: "mirror", user: "pod", pass: "pod" });
  undo.push(() => bucket.close());
  const mirror = await bucket.open();
  const first = await publishNumber(mirror, 1);
  await ingest.release(1);
  const [a, b] = [await startPod("a"), await startPod("b")];
  const c = await startPod("c", { objects: "mirror" });
  expect(c.name()).toBe("NUMBER-1");
  await until(() => ingest.coordinator.pods().length === 3);

  const second = await publishNumber(mirror, 2);
  await bucket.damage(second.sections.as_names?.object as string);
  const outcome = await ingest.release(2);
  expect(outcome).toMatchObject({ activated: true, loaded: ["a", "b"], refused: [{ pod: "c", reason: expect.stringMatching("damaged") }] });
  expect(outcome.waitedMs).toBeGreaterThanOrEqual(waitMs);
  await until(() => a.name() === "NUMBER-2" && b.name() === "NUMBER-2");
  expect(c.name()).toBe("NUMBER-1");
  expect(c.refused).toEqual([second.id]);
  expect(c.follower.current()?.id).toBe(first.id);
  expect(c.follower.current()?.manifest.sections.as_names?.stale_after_seconds).toBe(-1);
}, 60_000);

test("a pod that misses every message follows the pointer within five seconds", async () => {
  const ingest = await startIngest({ waitMs: 500 });
  await ingest.release(1);
  const pod = await startPod("a", { user: deaf });
  const delays: number[] = [];
  for (const number of [2, 3]) {
    await ingest.release(number);
    const activatedAt = performance.now();
    await until(() => pod.name() === `NUMBER-${number}`);
    delays.push(performance.now() - activatedAt);
  }
  // Five seconds until it looks, and the time that loading takes.
  expect(Math.min(...delays)).toBeLessThanOrEqual(5_500);
}, 60_000);

test("after the server was away pods and ingest go on by themselves", async () => {
  const ingest = await startIngest({ waitMs: 2_000 });
  await ingest.release(1);
  const pods = [await startPod("a"), await startPod("b", { user: deaf })];
  await server.kill();
  expect(pods.map((pod) => pod.name())).toEqual(["NUMBER-1", "NUMBER-1"]);
  server = await startNatsServer({ jetstream: true, storeDir, config, port: server.port });
  // What was interrupted is begun anew, as a run of ingest is.
  const release = async (): Promise<unknown> => ingest.release(2).catch(async () => release());
  await release();
  await until(() => pods.every((pod) => pod.name() === "NUMBER-2"));
}, 60_000);

test("a leader that ended between its two steps leaves pods on the old snapshot, and the next leader ends what it began", async () => {
  const first = await startIngest({ waitMs: 500 });
  await first.release(1);
  const pod = await startPod("a");
  const { id } = await publishMade(first.store, numbered(2));
  await until(() => pod.follower.at(id) !== "not_yet");
  expect(pod.name()).toBe("NUMBER-1");
  const second = await startIngest();
  expect(await second.coordinator.resume()).toMatchObject({ id, activated: true, loaded: ["a"] });
  await until(() => pod.name() === "NUMBER-2");
}, 60_000);
