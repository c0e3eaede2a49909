/** When a published snapshot is let be served: once all pods have it, or after the bound; and what a missed message costs. */

import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { PodReport } from "@netfacts/contracts";
import type { Broadcast } from "@netfacts/pod";
import type { SnapshotPointer } from "@netfacts/snapshot";
import { ActivationCoordinator, type ActivationDeps } from "../../src/publish/activation-coordinator.ts";

const id = "20260101T000002Z-00000002";
const before = "20260101T000001Z-00000001";
let pointer: SnapshotPointer;
let published: string[];
let listeners: Map<string, Set<(payload: unknown) => void>>;
let coordinators: ActivationCoordinator[];
/** Calls of the store that fail, from the next one on. */
let failures: number;

const broadcast: Broadcast = {
  publish(subject, payload) {
    published.push(`${subject} ${(payload as { id: string }).id ?? ""}`.trim());
    for (const listener of listeners.get(subject) ?? []) queueMicrotask(() => listener(payload));
  },
  subscribe(subject, listener) {
    const heard = listeners.get(subject) ?? new Set();
    listeners.set(subject, heard.add(listener));
    return { stop: async () => void heard.delete(listener) };
  },
};

beforeEach(() => {
  pointer = { published: id, active: before };
  published = [];
  listeners = new Map();
  coordinators = [];
  failures = 0;
});
afterEach(() => Promise.all(coordinators.map((coordinator) => coordinator.stop())));

function coordinator(settings: ActivationDeps["settings"] = {}): ActivationCoordinator {
  const made = new ActivationCoordinator({
    broadcast,
    store: {
      pointer: async () => pointer,
      activate: async (active) => {
        if (failures-- > 0) throw new Error("the store does not answer");
        pointer = { ...pointer, active };
      },
    },
    settings: { waitMs: 400, discoverMs: 50, ...settings },
  });
  coordinators.push(made);
  made.start();
  return made;
}

const report = (pod: string, outcome: PodReport["outcome"], snapshot = id): void =>
  broadcast.publish("pods.loaded", {
    pod,
    service: "ip-routing",
    serving: before,
    snapshot,
    outcome,
    reason: outcome === "refused" ? "damaged" : null,
  });

test("made-up names of pods fill no memory, and those that were known before stay known", async () => {
  const leader = coordinator({ podSilentMs: 60_000 });
  report("a", "loaded");
  for (let made = 0; made < 2_000; made++) report(`made-${made}`, "loaded");
  report("a", "refused");
  await new Promise((resolve) => setImmediate(resolve));
  expect(leader.pods()).toHaveLength(512);
  expect(leader.pods().find(({ pod }) => pod === "a")).toMatchObject({ outcome: "refused" });
});

test("activates as soon as every known pod has loaded it, pointer first and message after", async () => {
  const leader = coordinator({ waitMs: 10_000 });
  report("a", "loaded", before);
  report("b", "loaded", before);
  const activating = leader.activate(id);
  report("a", "loaded");
  setTimeout(() => report("b", "loaded"), 150);
  const outcome = await activating;
  expect(outcome).toMatchObject({ activated: true, loaded: ["a", "b"], refused: [], loading: [] });
  expect(outcome.waitedMs).toBeGreaterThanOrEqual(149);
  expect(outcome.waitedMs).toBeLessThan(10_000);
  expect(pointer).toEqual({ published: id, active: id });
  expect(published.filter((line) => line.startsWith("dataset."))).toEqual([`dataset.published ${id}`, `dataset.activate ${id}`]);
});

test("goes on after the bound without a pod that refuses and one that is not done", async () => {
  const leader = coordinator();
  for (const pod of ["a", "b", "c"]) report(pod, "loaded", before);
  const activating = leader.activate(id);
  report("a", "loaded");
  report("b", "refused");
  const outcome = await activating;
  expect(outcome).toMatchObject({ activated: true, loaded: ["a"], refused: [{ pod: "b", reason: "damaged" }], loading: ["c"] });
  expect(outcome.waitedMs).toBeGreaterThanOrEqual(399);
  expect(pointer.active).toBe(id);
});

test("holds back what every pod refuses, and activates it when one has loaded it after all", async () => {
  const leader = coordinator();
  report("a", "refused");
  expect(await leader.activate(id)).toMatchObject({ activated: false, refused: [{ pod: "a" }] });
  expect(pointer.active).toBe(before);
  report("a", "loaded");
  while (pointer.active !== id) await new Promise((resolve) => setTimeout(resolve, 10));
});

test("pods of which none is known any more, as after NATS was away, are given time to show themselves", async () => {
  const leader = coordinator();
  report("a", "loaded", before);
  await new Promise((resolve) => setTimeout(resolve, 10));
  const now = performance.now.bind(performance);
  const later = jest.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
  try {
    const activating = leader.activate(id);
    setTimeout(() => report("a", "loaded", before), 10);
    setTimeout(() => report("a", "loaded"), 150);
    const outcome = await activating;
    expect(outcome).toMatchObject({ activated: true, loaded: ["a"], loading: [] });
    expect(outcome.waitedMs).toBeGreaterThanOrEqual(139);
  } finally {
    later.mockRestore();
  }
});

test("a pod that was silent for too long is not waited for", async () => {
  const leader = coordinator({ podSilentMs: 30_000 });
  report("gone", "loaded", before);
  await new Promise((resolve) => setTimeout(resolve, 10));
  const now = performance.now.bind(performance);
  const later = jest.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
  try {
    const activating = leader.activate(id);
    report("a", "loaded");
    expect(await activating).toMatchObject({ activated: true, loaded: ["a"], loading: [] });
  } finally {
    later.mockRestore();
  }
});

test("a new leader ends what another began, and has nothing to do when it is done", async () => {
  const leader = coordinator();
  expect(await leader.resume()).toMatchObject({ id, activated: true });
  expect(pointer.active).toBe(id);
  expect(await leader.resume()).toBeNull();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("what could not be activated, as the store was away, is activated once it is back", async () => {
  const leader = coordinator({ lookMs: 50 });
  report("a", "loaded");
  failures = 2;
  await expect(leader.activate(id)).rejects.toThrow("does not answer");
  expect(pointer.active).toBe(before);
  while (pointer.active !== id) await pause(10);
  const activations = () => published.filter((line) => line === `dataset.activate ${id}`).length;
  while (activations() === 0) await pause(10);
  await pause(150);
  expect(activations()).toBe(1);
});

test("what is under way or held back is not begun with again, and one that stopped begins nothing", async () => {
  const leader = coordinator({ lookMs: 20 });
  report("a", "refused");
  expect(await leader.activate(id)).toMatchObject({ activated: false });
  await pause(150);
  expect(published.filter((line) => line === `dataset.published ${id}`)).toHaveLength(1);
  await leader.stop();
  pointer = { published: before, active: id };
  await pause(100);
  expect(published.filter((line) => line.startsWith("dataset.published"))).toHaveLength(1);
});

test("what is no report is not heard", async () => {
  const leader = coordinator();
  for (const payload of [
    null,
    7,
    {},
    { pod: "", service: "x" },
    { pod: "a", service: "x", serving: null, snapshot: null, outcome: "won", reason: null },
  ])
    broadcast.publish("pods.loaded", payload ?? { id: "" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(leader.pods()).toEqual([]);
});
