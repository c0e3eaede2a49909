/** `netfacts snapshot` on the store that running services share: what is kept there, what changed, and the way back that all pods take at once. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parseAddress } from "@netfacts/address";
import { readSources, runIngest } from "@netfacts/ingest/app";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { PodReporter } from "@netfacts/pod";
import { connectJetStreamStore, jetStreamSource } from "@netfacts/pod/jetstream";
import { LoaderThreads, type OpenedStore, PublicationConflictError, SnapshotFollower } from "@netfacts/snapshot";
import { freePort } from "../../../test/support/free-ports.ts";
import { until } from "../../../test/support/http.ts";
import { type NatsServer, startNatsServer } from "../../../test/support/nats-server.ts";
import { smallSources } from "../../../test/support/small-sources.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { refuse } from "../src/snapshot-option.ts";
import { type Ran, run as runHere, runProgram } from "./support/run.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-shared-"));
const bucket = "shared-test";
const address = parseAddress("193.0.0.1");
let nats: NatsServer;
let ingest: OpenedStore;
const ids: string[] = [];
const undo: (() => Promise<unknown> | unknown)[] = [];

beforeAll(async () => {
  process.env.SNAPSHOT_BUCKET = bucket;
  nats = await startNatsServer({ jetstream: true, storeDir: join(folder, "nats") });
  ingest = await connectJetStreamStore({ bucket, connection: { servers: nats.url, name: "ingest" } });
  for (const country of ["NL", "DE"]) {
    const config = await readSources(smallSources(join(folder, country), country));
    const { snapshot } = await runIngest({ config, store: ingest.store });
    await ingest.store.activate(snapshot as string);
    ids.push(snapshot as string);
  }
});
afterAll(async () => {
  delete process.env.SNAPSHOT_BUCKET;
  for (const step of undo.reverse()) await step();
  await ingest?.close();
  await nats?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** With the environment that services have, as a program. */
const runAsProgram = (...args: string[]): Promise<Ran> =>
  runProgram({ NATS_URL: nats.url, SNAPSHOT_BUCKET: bucket }, "snapshot", ...args, "--json");

/** In this process, which starts sooner. */
const run = (...args: string[]): Promise<Ran> => runHere(folder, "snapshot", ...args, "--nats", nats.url, "--json");

async function startPod(pod: string): Promise<{ country(): string | null | undefined }> {
  const connection = { servers: nats.url, name: pod };
  const opened = await connectJetStreamStore({ bucket, connection });
  const broadcast = await createNatsMessaging(connection);
  const follower = new SnapshotFollower(opened.store, new LoaderThreads(jetStreamSource({ bucket, connection })));
  const reporter = new PodReporter({ follower, broadcast, pod, service: "ip-routing" });
  undo.push(
    () => opened.close(),
    () => broadcast.close(),
    () => reporter.stop(),
    () => follower.stop(),
  );
  await follower.start();
  reporter.start();
  return {
    country() {
      const allocations = follower.current()?.allocations;
      const [record] = address === null ? [] : (allocations?.recordsAt(address) ?? []);
      return record === undefined ? undefined : allocations?.entry(record).country;
    },
  };
}

test("what is kept is listed, shown, verified and compared as in a folder", async () => {
  const listed = await runAsProgram("list");
  expect({ code: listed.code, err: listed.err }).toEqual({ code: exitCodes.ok, err: "" });
  expect(JSON.parse(listed.out)).toEqual({
    snapshots: [
      { id: ids[0], current: false, served: false },
      { id: ids[1], current: true, served: true },
    ],
  });
  expect(JSON.parse((await run("info")).out).id).toBe(ids[1]);
  expect(JSON.parse((await run("verify", "--snapshot", ids[0] as string)).out)).toEqual({ id: ids[0], whole: true });
  expect(JSON.parse((await run("diff")).out)).toMatchObject({ from: ids[0], to: ids[1], sections: { allocations: { changed: 1 } } });
});

test("a data folder that is named goes before the environment", async () => {
  process.env.NATS_URL = nats.url;
  const local = await runHere(folder, "snapshot", "show").finally(() => delete process.env.NATS_URL);
  expect({ code: local.code, err: local.err }).toEqual({ code: exitCodes.notFound, err: expect.stringContaining("has no snapshot") });
});

test("a rollback is loaded by every pod before any serves it, and answers change", async () => {
  const pods = await Promise.all(["pod-a", "pod-b"].map(startPod));
  expect(pods.map((pod) => pod.country())).toEqual(["DE", "DE"]);
  const rolledBack = runAsProgram("rollback");
  const changed = until(() => pods.every((pod) => pod.country() === "NL"), { timeoutMs: 240_000 });
  const ended = await rolledBack;
  expect({ code: ended.code, err: ended.err }).toEqual({
    code: exitCodes.ok,
    err: "netfacts: the rollback is not in the audit log: MONGODB_URI is not set\n",
  });
  const { pods: told, ...outcome } = JSON.parse(ended.out);
  expect(outcome).toEqual({ id: ids[0], replaced: ids[1] });
  // On a slow machine one may be behind when the bound has passed.
  expect({ refused: told.refused, known: [...told.loaded, ...told.loading].sort() }).toEqual({ refused: [], known: ["pod-a", "pod-b"] });
  await changed;
  expect(await ingest.store.pointer()).toEqual({ published: ids[0], active: ids[0] });
  expect(await ingest.store.takenBack()).toMatchObject([{ section: "allocations", name: "ripencc" }]);
});

test("what is current already stays, what is not kept is not found, and who comes second has changed nothing", async () => {
  const current = await ingest.store.currentId();
  expect((await run("rollback", current as string)).code).toBe(exitCodes.refused);
  expect((await run("rollback", "20200101T000000Z-00000000")).code).toBe(exitCodes.notFound);
  expect(() => refuse(new PublicationConflictError(ids[0] as string, ids[1] as string))).toThrow(
    expect.objectContaining({ exitCode: exitCodes.refused, message: expect.stringContaining("another publisher was first") }),
  );
});

test("without a server, and with a URL that is none, it says so", async () => {
  const url = `nats://user:secret@127.0.0.1:${await freePort()}`;
  const away = await runHere(folder, "snapshot", "list", "--nats", url);
  expect({ code: away.code, err: away.err }).toEqual({
    code: exitCodes.unavailable,
    err: expect.stringContaining("refuses the connection: nats-server does not listen there (NATS_URL)"),
  });
  expect(away.err).not.toContain("secret");
  expect((await runHere(folder, "snapshot", "list", "--nats", "::")).code).toBe(exitCodes.usage);
  process.env.SNAPSHOT_BUCKET = "empty";
  const other = await run("list").finally(() => {
    process.env.SNAPSHOT_BUCKET = bucket;
  });
  expect({ code: other.code, err: other.err }).toEqual({
    code: exitCodes.notFound,
    err: expect.stringContaining("bucket empty: contains no snapshot"),
  });
});
