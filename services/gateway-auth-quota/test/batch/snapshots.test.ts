/** Which snapshot answers a batch: pods here have snapshots as a test says, in frames as real ones get them. */

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { BatchResult } from "@netfacts/contracts";
import { createInProcessMessaging, createResponder, type Entry, type Messaging } from "@netfacts/messaging";
import { exampleReply } from "../support/gateway.ts";
import {
  addresses,
  asLines,
  type BatchHarness,
  codesOf,
  documentOf,
  linesOf,
  ndjson,
  openLines,
  restOf,
  startBatchGateway,
} from "./support.ts";

let messaging: Messaging;
let gateway: BatchHarness;
/** Frames that were asked, by the snapshot that they named. */
let asked: (string | null)[];
beforeEach(async () => {
  asked = [];
  messaging = createInProcessMessaging();
  gateway = await startBatchGateway({ messaging, services: ["asn-prefix", "rdns-resolver"], config: { LOOKUP_BUDGET_MS: 5_000 } });
});
afterEach(() => gateway.stop());

type Have = (pinned: string | null) => string | "not_yet" | "gone";

/** A pod of `ip-routing`; `have` tells the snapshot that answers a frame. */
async function startPod(have: Have): Promise<void> {
  const enter = (pinned: string | null): Entry<string> => {
    asked.push(pinned);
    const snapshot = have(pinned);
    if (snapshot === "not_yet") return { refusal: "not_yet" };
    return snapshot === "gone" ? { refusal: "cursor_expired" } : { context: snapshot };
  };
  const ops = new Map([
    ["ip", (_item: unknown, snapshotId: string) => ({ ...exampleReply("ip"), body: Buffer.from(JSON.stringify(snapshotId)), snapshotId })],
  ]);
  await messaging.serve("ip-routing", createResponder({ enter, ops, onFailure: () => {} }));
}

/** The snapshots of the records, each once. */
const snapshotsOf = (results: readonly BatchResult[]) => [...new Set(results.map(({ record }) => record as unknown as string))];
const documentText = (count: number) => JSON.stringify({ questions: addresses(count) });

test("the first reply decides for all, also where pods serve different ones", async () => {
  let turn = 0;
  // Of two replicas one has changed already; each has both.
  for (const own of ["new", "old"]) await startPod((pinned) => pinned ?? (turn++ % 2 === 0 ? own : own === "new" ? "old" : "new"));
  for (let batch = 0; batch < 4; batch++) {
    const { results, failed_count, meta } = documentOf(await gateway.post(documentText(1_000)));
    expect(failed_count).toBe(0);
    expect(snapshotsOf(results)).toEqual(meta.snapshots);
    expect(meta.snapshots).toHaveLength(1);
  }
});

test("what the first frame was answered of another snapshot is asked again", async () => {
  let first = true;
  // Both halves of one frame's worth of questions, at different pods.
  const have =
    (own: string): Have =>
    (pinned) => {
      if (pinned !== null) return pinned;
      first = false;
      return own;
    };
  await startPod(have("old"));
  await startPod(have("new"));
  // Two batches at the same time share the first frames, so that each has questions in two of them.
  const answers = await Promise.all([gateway.post(documentText(200)), gateway.post(documentText(200)), gateway.post(documentText(200))]);
  expect(first).toBe(false);
  for (const answer of answers) expect(snapshotsOf(documentOf(answer).results)).toHaveLength(1);
});

test("a pod that does not have it yet is waited for", async () => {
  let waits = 8;
  await startPod((pinned) => (pinned === null ? "new" : waits-- > 0 ? "not_yet" : pinned));
  const { results, failed_count } = documentOf(await gateway.post(documentText(1_000)));
  expect([failed_count, snapshotsOf(results)]).toEqual([0, ["new"]]);
  expect(waits).toBeLessThan(0);
});

test("a stream goes on with the next snapshot when its own is gone, and says so", async () => {
  let current = "first";
  await startPod((pinned) => (pinned === null || pinned === current ? current : "gone"));
  const stream = openLines(gateway.url, { authorization: `Bearer ${await gateway.batchKey()}` });
  stream.send(asLines(addresses(300)));
  const results: BatchResult[] = [];
  while (results.length < 300) results.push(JSON.parse((await stream.next()) ?? "") as BatchResult);
  current = "second";
  stream.send(asLines(addresses(1_000)));
  stream.end();
  const rest = await restOf(stream);
  expect(snapshotsOf(results)).toEqual(["first"]);
  expect(snapshotsOf(rest.results)).toEqual(["second"]);
  expect(rest.summary).toMatchObject({
    count: 1_300,
    failed_count: 0,
    meta: { snapshots: ["first", "second"], warnings: [{ code: "snapshot_changed" }] },
  });
});

test("a document is not mixed: what its snapshot can no longer answer are problems, which cost nothing", async () => {
  let frames = 0;
  await startPod((pinned) => (pinned === null ? "first" : frames++ === 0 ? pinned : "gone"));
  const answer = await gateway.post(documentText(1_000));
  const { results } = documentOf(answer);
  const codes = codesOf(results);
  expect(new Set(codes)).toEqual(new Set(["ok", "cursor_expired"]));
  expect(snapshotsOf(results.filter(({ record }) => record !== undefined))).toEqual(["first"]);
});

test("while no pod is there, nothing hangs", async () => {
  const { results, summary } = linesOf(await gateway.post(asLines(addresses(600)), ndjson));
  expect(new Set(codesOf(results))).toEqual(new Set(["data_not_ready"]));
  expect(summary).toMatchObject({ count: 600, meta: { snapshots: [] } });
});
