/**
 * A new snapshot over a real nats-server: three pods load it and serve it together, and soon.
 *
 * @alone It asserts deadlines.
 */

import { expect, test } from "@jest/globals";
import { publishNumber, until } from "../../libs/snapshot/test/store/contract.ts";
import { activationDefaults } from "../../services/ingest/src/publish/activation-coordinator.ts";
import { deaf, ReloadWorld } from "./reload-world.ts";

/** A test in a world of its own, beside the others: they mostly wait. */
function inWorld(title: string, act: (world: ReloadWorld) => Promise<void>): void {
  test.concurrent(title, async () => {
    const world = await ReloadWorld.start();
    try {
      await act(world);
    } finally {
      await world.stop();
    }
  });
}

inWorld("three pods load a snapshot, and none serves it before all have it", async (world) => {
  // All pods are known before the releases that are timed.
  const ingest = await world.startIngest({ discoverMs: 200 });
  await ingest.release(1);
  const pods = await Promise.all(["a", "b", "c"].map((name) => world.startPod(name)));
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
});

inWorld("a pod that misses every message follows the pointer within five seconds", async (world) => {
  const ingest = await world.startIngest({ waitMs: 500 });
  await ingest.release(1);
  // They look at different times.
  const pods = [await world.startPod("a", { user: deaf }), await world.startPod("b", { user: deaf })];
  await ingest.release(2);
  const activatedAt = performance.now();
  const delays = pods.map(async (pod) => {
    await until(() => pod.name() === "NUMBER-2");
    return performance.now() - activatedAt;
  });
  // Five seconds until it looks, and the time that loading takes.
  expect(Math.min(...(await Promise.all(delays)))).toBeLessThanOrEqual(5_500);
});
