/** A new snapshot over a real nats-server: what a pod misses, refuses or finds away heals. Deadlines: `reload-deadlines.test.ts`. */

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { testBucket } from "../../libs/pod/test/jetstream/bucket.ts";
import { numbered, publishNumber, until } from "../../libs/snapshot/test/store/contract.ts";
import { publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { deaf, ReloadWorld } from "./reload-world.ts";

let world: ReloadWorld;
beforeEach(async () => {
  world = await ReloadWorld.start();
});
afterEach(() => world.stop());

test("with one pod that refuses a damaged object the others go on after the bound, and it stays where it was", async () => {
  const waitMs = 8_000;
  const ingest = await world.startIngest({ waitMs });
  // The third pod reads objects from a bucket of its own.
  const bucket = await testBucket(world.server, { name: "mirror", user: "pod", pass: "pod" });
  world.onStop(() => bucket.close());
  const mirror = await bucket.open();
  const first = await publishNumber(mirror, 1);
  await ingest.release(1);
  const [a, b] = [await world.startPod("a"), await world.startPod("b")];
  const c = await world.startPod("c", { objects: "mirror" });
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
});

test("after the server was away pods and ingest go on by themselves", async () => {
  const ingest = await world.startIngest({ waitMs: 2_000 });
  await ingest.release(1);
  const pods = [await world.startPod("a"), await world.startPod("b", { user: deaf })];
  await world.server.kill();
  expect(pods.map((pod) => pod.name())).toEqual(["NUMBER-1", "NUMBER-1"]);
  await world.restartServer();
  // What was interrupted is begun anew, as a run of ingest is.
  const release = async (): Promise<unknown> => ingest.release(2).catch(async () => release());
  await release();
  await until(() => pods.every((pod) => pod.name() === "NUMBER-2"));
});

test("a leader that ended between its two steps leaves pods on the old snapshot, and the next leader ends what it began", async () => {
  const first = await world.startIngest({ waitMs: 500 });
  await first.release(1);
  const pod = await world.startPod("a");
  const { id } = await publishMade(first.store, numbered(2));
  await until(() => pod.follower.at(id) !== "not_yet");
  expect(pod.name()).toBe("NUMBER-1");
  const second = await world.startIngest();
  expect(await second.coordinator.resume()).toMatchObject({ id, activated: true, loaded: ["a"] });
  await until(() => pod.name() === "NUMBER-2");
});
