/** What a pod makes of hints about snapshots: the first is taken at once, and a flood of them costs few reads and reports. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { reloadSubjects } from "@netfacts/contracts";
import { createInProcessMessaging } from "@netfacts/messaging";
import { LoaderThreads, openFolderStore, SnapshotFollower } from "@netfacts/snapshot";
import { PodReporter } from "../src/index.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-reporter-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("hints without end cost one read and one report in 20 ms, and the last of them is taken", async () => {
  const store = openFolderStore(folder);
  let reads = 0;
  const look = async () => {
    reads += 1;
  };
  const follower = new SnapshotFollower(
    { ...store, watch: () => ({ look, stop: () => undefined }) },
    new LoaderThreads({ kind: "folder", path: folder }),
  );
  await follower.start();
  const messaging = createInProcessMessaging();
  let reports = 0;
  messaging.subscribe(reloadSubjects.loaded, () => {
    reports += 1;
  });
  const reporter = new PodReporter({ follower, broadcast: messaging, pod: "a", service: "ip-routing" });
  reporter.start();
  await pause(50);
  [reads, reports] = [0, 0];
  messaging.publish(reloadSubjects.published, { id: "one" });
  await pause(5);
  expect([reads, reports]).toEqual([1, 1]);
  const begun = performance.now();
  for (let sent = 0; sent < 2_000; sent++) {
    messaging.publish(sent % 2 === 0 ? reloadSubjects.published : reloadSubjects.activate, { id: "one" });
    if (sent % 100 === 99) await pause(1);
  }
  const spans = (performance.now() - begun) / 20;
  expect(reads).toBeLessThanOrEqual(spans + 3);
  expect(reports).toBeLessThanOrEqual(spans + 3);
  // One after the other: after a pause of the machine each ends before the next hints are handled.
  for (let rest = 0; rest < 4; rest++) await pause(50);
  reads = 0;
  for (let sent = 0; sent < 3; sent++) messaging.publish(reloadSubjects.activate, { id: "one" });
  for (const end = performance.now() + 10_000; reads < 2 && performance.now() < end; ) await pause(5);
  await pause(50);
  expect(reads).toBe(2);
  follower.stop();
  await reporter.stop();
  await messaging.close();
});
