/** Snapshots in JetStream: the contract, and what is true of a store with several publishers and a network in between. */

import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { natsRights } from "@netfacts/messaging/nats";
import type { NatsConnection } from "@netfacts/messaging/nats-client";
import { loadSnapshot, type Manifest, type SnapshotPointer } from "@netfacts/snapshot";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { forkTestProgram } from "../../../../test/support/programs.ts";
import { startRunningTime } from "../../../../test/support/running-time.ts";
import { describeSnapshotStore, numbered, publishNumber, until } from "../../../snapshot/test/store/contract.ts";
import { askChild, endChild } from "../../../snapshot/test/support/children.ts";
import { loadInBackground, loadInThread } from "../../../snapshot/test/support/load-in-thread.ts";
import { madeNames } from "../../../snapshot/test/support/made-sections.ts";
import { madeManifest, madeObjects, publishMade } from "../../../snapshot/test/support/made-snapshot.ts";
import { type JetStreamSourceOptions, jetStreamSource, openJetStreamStore, openStore } from "../../src/jetstream/index.ts";
import { type TestBucket, testBucket } from "./bucket.ts";

let server: NatsServer;
beforeAll(async () => {
  server = await startNatsServer({ jetstream: true, own: true });
});
afterAll(() => server?.stop());

/** How a worker's load fails, and after how long, without pauses of the machine; `error` is null when it does not. */
async function failedLoad(source: JetStreamSourceOptions): Promise<{ error: unknown; ms: number }> {
  const ran = startRunningTime();
  const load = loadInThread(jetStreamSource(source), "20260101T000000Z-00000000");
  const error = await load.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, ms: ran() };
}

describeSnapshotStore("snapshots in JetStream", async () => {
  const bucket = await testBucket(server);
  return {
    ...bucket,
    elsewhere: async () => {
      const child = forkTestProgram("libs/pod/test/jetstream/publisher-process.ts", [server.url, bucket.name]);
      return { publish: (number) => askChild(child, number), stop: () => endChild(child) };
    },
  };
});

describe("snapshots in JetStream beside the contract", () => {
  let bucket: TestBucket;
  beforeEach(async () => {
    bucket = await testBucket(server);
  });
  afterEach(() => bucket.close());

  test("are read and written by other clients of the Object Store too", async () => {
    const store = await bucket.open();
    const theirs = await bucket.nc.jetstream().views.os(bucket.name);
    const bytes = randomBytes(300_000);
    const digest = await store.putObject(bytes);
    expect(Buffer.compare(Buffer.from((await theirs.getBlob(digest)) as Uint8Array), bytes)).toBe(0);
    await theirs.delete(digest);
    await theirs.putBlob({ name: digest }, bytes);
    expect(Buffer.compare(Buffer.from(await store.getObject(digest, bytes.length)), bytes)).toBe(0);
  });

  test("are read in the background at a bounded rate", async () => {
    const store = await bucket.open();
    const bytes = randomBytes(16 * 2 ** 20);
    const digest = await store.putObject(bytes);
    const background = await openStore({ ...bucket.source, backgroundBytesPerSecond: 24 * 2 ** 20 }, { background: true });
    try {
      const started = performance.now();
      expect(Buffer.compare(await background.store.getObject(digest, bytes.length), bytes)).toBe(0);
      // At 24 MiB a second, less what the server sends at once.
      expect(performance.now() - started).toBeGreaterThan(400);
    } finally {
      await background.close();
    }
  });

  test("are loaded in the background at a bounded rate", async () => {
    const names = Object.fromEntries(Array.from({ length: 768 }, (_, asn) => [asn + 1, `${asn} `.padEnd(16_384, "x")]));
    const { id } = await publishMade(await bucket.open(), { names: madeNames(names) });
    const source = jetStreamSource({ ...bucket.source, backgroundBytesPerSecond: 8 * 2 ** 20 });
    const started = performance.now();
    await loadInBackground(source, id);
    // 12 MiB, less what the server sends at once. Without the bound it takes half a second.
    expect(performance.now() - started).toBeGreaterThan(1_200);
  });

  test("are kept in buckets whose making a strict server would not refuse", async () => {
    // Servers before 2.11 have no such setting.
    const strict = await startNatsServer({ jetstream: true, config: "jetstream { strict: true }" }).catch((error: Error) => {
      if (!error.message.includes('unknown field "strict"')) throw error;
      return startNatsServer({ jetstream: true, own: true });
    });
    const own = await testBucket(strict);
    try {
      const { id } = await publishNumber(await own.open(), 1);
      expect(await (await own.open()).currentId()).toBe(id);
      expect(strict.log()).not.toMatch("Invalid JetStream request");
    } finally {
      await own.close();
      await strict.stop();
    }
  });

  test("an object that has lost chunks is damaged", async () => {
    const store = await bucket.open();
    const bytes = randomBytes(300_000);
    const digest = await store.putObject(bytes);
    const [subject] = await bucket.chunkSubjects();
    const jsm = await bucket.nc.jetstreamManager();
    await jsm.streams.purge(`OBJ_${bucket.name}`, { filter: subject as string, keep: 2 });
    await expect(store.getObject(digest, bytes.length)).rejects.toThrow(/has 2 of 3 chunks: damaged/);
    await jsm.streams.purge(`OBJ_${bucket.name}`, { filter: subject as string });
    await expect(store.getObject(digest, bytes.length)).rejects.toThrow(/has 0 of 3 chunks: damaged/);
  });

  test("chunks that a writer left without their description go with the next publication", async () => {
    const store = await bucket.open();
    await publishNumber(store, 1);
    await bucket.nc.jetstream().publish(`$O.${bucket.name}.C.LEFTOVER`, Buffer.alloc(10));
    await publishNumber(store, 2);
    expect(await bucket.chunkSubjects()).not.toContain(`$O.${bucket.name}.C.LEFTOVER`);
  });

  test("a pointer of an older version has its snapshots published at the time of their data, and the next publication goes on from there", async () => {
    const store = await bucket.open();
    const [first, second] = [await publishNumber(store, 1), await publishNumber(store, 2)];
    const record = { published: second.id, active: null, history: [first.id, second.id] };
    await bucket.nc.jetstream().publish(`$KV.${bucket.name}.current`, JSON.stringify(record));
    expect(await store.publications()).toEqual([
      { id: first.id, at: "2026-01-01T00:00:01Z" },
      { id: second.id, at: "2026-01-01T00:00:02Z" },
    ]);
    const third = await publishNumber(store, 3);
    expect((await store.publications()).map(({ id }) => id)).toEqual([first.id, second.id, third.id]);
  });

  test.each(["garbage{{{", "{}", ""])(
    "a pointer that is %j is none, and the next publication keeps what the manifests tell",
    async (text) => {
      const store = await bucket.open();
      const [first, second] = [await publishNumber(store, 1), await publishNumber(store, 2)];
      await store.activate(second.id);
      const jsm = await bucket.nc.jetstreamManager();
      const stored = await jsm.streams.getMessage(`KV_${bucket.name}`, { last_by_subj: `$KV.${bucket.name}.manifest.${second.id}` });
      await bucket.point(text);
      expect([await store.pointer(), await store.currentId()]).toEqual([null, null]);
      // Nobody shall take it for an empty store.
      for (const list of [store.list(), store.publications()]) await expect(list).rejects.toThrow(/pointer .* is missing or damaged/);
      await bucket.damageManifest(first.id);
      for (const object of Object.values(madeObjects(numbered(3)))) await store.putObject(object);
      await store.publish(madeManifest(numbered(3)), { replaces: null });
      expect(await store.list()).toEqual([second.id, madeManifest(numbered(3)).id]);
      // As the server has it: no file dates a publication.
      const [again] = await store.publications();
      expect(again).toEqual({ id: second.id, at: stored?.time.toISOString().replace(/\.\d+Z$/, "Z") });
      await expect(loadSnapshot(store, second)).resolves.toBeDefined();
    },
  );

  test("a pointer that is missing, as when the server lost its last block, costs no snapshot that is kept", async () => {
    const store = await bucket.open();
    const [first, second] = [await publishNumber(store, 1), await publishNumber(store, 2)];
    await (await bucket.nc.jetstreamManager()).streams.purge(`KV_${bucket.name}`, { filter: `$KV.${bucket.name}.current` });
    expect(await store.pointer()).toBeNull();
    for (const list of [store.list(), store.publications()])
      await expect(list).rejects.toThrow("is missing or damaged; ingest restores it");
    await publishMade(store, numbered(2), { replaces: null });
    expect(await store.list()).toEqual([first.id, second.id]);
    await expect(loadSnapshot(store, first)).resolves.toBeDefined();
  });

  test("after a damaged pointer, a snapshot that was kept for its day only is not kept whole", async () => {
    const store = await bucket.open();
    const [first, second] = [await publishNumber(store, 1), await publishNumber(store, 2)];
    await bucket.remove(first.sections.as_names?.object as string);
    await bucket.point("garbage");
    const third = await publishNumber(store, 3);
    expect(await store.list()).toEqual([second.id, third.id]);
  });

  test.each(["{garbage", ""])("an object whose description is %j is stored anew", async (text) => {
    const store = await bucket.open();
    const bytes = randomBytes(1_000);
    const digest = await store.putObject(bytes);
    await bucket.describe(digest, text);
    await expect(store.getObject(digest, bytes.length)).rejects.toMatchObject({
      name: "SnapshotError",
      message: `bucket ${bucket.name}, object ${digest}: the snapshot's object is missing, or its description is damaged`,
    });
    expect(await store.putObject(bytes)).toBe(digest);
    expect(Buffer.compare(Buffer.from(await store.getObject(digest, bytes.length)), bytes)).toBe(0);
  });

  test("a server whose storage is full says so, in its own words", async () => {
    const storeDir = mkdtempSync(join(tmpdir(), "netfacts-jetstream-"));
    const own = await startNatsServer({ jetstream: true, storeDir, config: "jetstream { max_file_store: 1MB }" });
    const place = await testBucket(own);
    try {
      await expect((await place.open()).putObject(randomBytes(2_000_000))).rejects.toMatchObject({
        name: "SnapshotUnavailableError",
        message: expect.stringMatching(/^object \w+: JetStream: insufficient resources: its storage is full; allow it more/),
      });
    } finally {
      await place.close();
      await own.stop();
      rmSync(storeDir, { recursive: true, force: true });
    }
  });

  test("what is published is not active before it is told to be, and stays kept while it is", async () => {
    const store = await bucket.open();
    const first = await publishNumber(store, 1);
    expect(await store.pointer()).toEqual({ published: first.id, active: null });
    await store.activate(first.id);
    const later = [];
    for (const number of [2, 3, 4, 5]) later.push((await publishNumber(store, number)).id);
    expect(await store.pointer()).toEqual({ published: later[3], active: first.id });
    expect(await store.list()).toEqual([first.id, ...later.slice(1)]);
    await expect(loadSnapshot(store, first)).resolves.toBeDefined();
    await expect(store.activate(later[0] as string)).rejects.toThrow(`${later[3]} was published last`);
  });

  test("a watcher is told when what is published becomes active", async () => {
    const store = await bucket.open();
    const seen: SnapshotPointer[] = [];
    const watch = store.watch((pointer) => seen.push(pointer));
    const { id } = await publishNumber(store, 1);
    await until(() => seen.length === 1);
    await store.activate(id);
    await until(() => seen.length === 2);
    watch.stop();
    expect(seen).toEqual([
      { published: id, active: null },
      { published: id, active: id },
    ]);
  });

  test("a reading that is answered late does not bring back what the pointer named before", async () => {
    const publisher = await bucket.open();
    const release = async (number: number) => {
      const { id } = await publishNumber(publisher, number);
      await publisher.activate(id);
      return id;
    };
    const before = await release(1);
    const newer = await release(2);
    const jsm = await bucket.nc.jetstreamManager();
    const getMessage = jsm.streams.getMessage.bind(jsm.streams);
    let held: Promise<unknown> | null = null;
    let isNextHeld = false;
    jsm.streams.getMessage = async (stream, query) => {
      const answer = await getMessage(stream, query);
      if (!isNextHeld || !JSON.stringify(query).includes(".current")) return answer;
      isNextHeld = false;
      held = setTimeout(1_500);
      await held;
      return answer;
    };
    const connection: NatsConnection = Object.create(bucket.nc, { jetstreamManager: { value: async () => jsm } });
    const store = await openJetStreamStore(connection, { bucket: bucket.name });
    const told: (string | null)[] = [];
    const watch = store.watch(({ active }) => told.push(active));
    try {
      await until(() => told.at(-1) === newer);
      isNextHeld = true;
      const hinted = watch.look();
      await until(() => held !== null);
      await release(1);
      await hinted;
      await watch.look();
      // Later than any reading at a hint.
      await setTimeout(1_000);
      expect(told.at(-1)).toBe(before);
      expect(told.lastIndexOf(newer)).toBeLessThan(told.indexOf(before));
    } finally {
      watch.stop();
    }
  });

  test("of two publishers at the same time one wins, and the other is told by whom it lost", async () => {
    const [one, other] = [await bucket.open(), await openJetStreamStore(bucket.nc, { bucket: bucket.name })];
    await publishNumber(one, 1);
    const manifests = [madeManifest(numbered(2)), madeManifest(numbered(3))] as const;
    // Both store first, so that neither's clean-up meets the other's objects before they are published.
    for (const number of [2, 3]) for (const object of Object.values(madeObjects(numbered(number)))) await one.putObject(object);
    const outcomes = await Promise.allSettled([one.publish(manifests[0]), other.publish(manifests[1])]);
    const lost = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(lost).toHaveLength(1);
    const winner = manifests[outcomes[0].status === "fulfilled" ? 0 : 1];
    expect(lost[0]?.reason).toMatchObject({ name: "PublicationConflictError" });
    expect(await one.currentId()).toBe(winner.id);
    await expect(loadSnapshot(other, winner)).resolves.toBeDefined();
  });

  test("a publisher that began before another one published does not overwrite it", async () => {
    const store = await bucket.open();
    const first = await publishNumber(store, 1);
    const second = await publishNumber(store, 2);
    for (const object of Object.values(madeObjects(numbered(3)))) await store.putObject(object);
    const late = store.publish(madeManifest(numbered(3)), { replaces: first.id });
    await expect(late).rejects.toThrow(`another publisher was first, and ${second.id} is current`);
    expect(await store.currentId()).toBe(second.id);
  });

  test.each([
    ["what another publishes meanwhile", 5],
    ["what another publishes again meanwhile", 1],
  ])("a publisher that is frozen after it published removes nothing of %s", async (_what, number) => {
    const other = await bucket.open();
    for (const before of [1, 2, 3]) await publishNumber(other, before);
    let meanwhile: Manifest | null = null;
    const js = bucket.nc.jetstream();
    const frozen = new Proxy(js, {
      get: (target, name: keyof typeof js) =>
        name !== "publish"
          ? target[name]
          : async (...given: Parameters<typeof js.publish>) => {
              const moved = await js.publish(...given);
              if (given[0].endsWith(".current")) meanwhile = await publishNumber(other, number);
              return moved;
            },
    });
    const nc = new Proxy(bucket.nc, {
      get(target, name: keyof NatsConnection) {
        const member = target[name];
        return name === "jetstream" ? () => frozen : typeof member === "function" ? member.bind(target) : member;
      },
    });
    const published = await publishNumber(await openJetStreamStore(nc, { bucket: bucket.name }), 4);
    const { id } = meanwhile as unknown as Manifest;
    expect(await other.currentId()).toBe(id);
    await expect(loadSnapshot(other, await other.getManifest(id))).resolves.toBeDefined();
    expect(await other.list()).toEqual([expect.any(String), published.id, id]);
  });

  test("a worker loads over a connection of its own, and leaves none behind", async () => {
    const store = await bucket.open();
    const manifest = await publishNumber(store, 1);
    const loaded = await loadInThread(jetStreamSource(bucket.source), manifest.id);
    expect(Object.keys(loaded.sections)).toEqual(["routes", "as_names"]);
    await expect(loadInThread(jetStreamSource(bucket.source), "20260101T000000Z-00000000")).rejects.toThrow(/no snapshot/);
    await bucket.damage(manifest.sections.as_names?.object as string);
    const refused = loadInThread(jetStreamSource(bucket.source), manifest.id);
    await expect(refused).rejects.toMatchObject({ message: expect.stringMatching(/section as_names: .*damaged/), manifest });
  });

  test("an object is read to its end although the server is killed in the middle and comes back", async () => {
    const storeDir = mkdtempSync(join(tmpdir(), "netfacts-jetstream-"));
    let own = await startNatsServer({ jetstream: true, storeDir });
    const place = await testBucket(own);
    try {
      const store = await place.open();
      const bytes = randomBytes(96_000_000);
      const digest = await store.putObject(bytes);
      let done = false;
      const before = place.nc.stats().inBytes;
      const reading = store.getObject(digest, bytes.length).finally(() => {
        done = true;
      });
      reading.catch(() => undefined);
      // The description has been read, and the first chunks.
      while (!done && place.nc.stats().inBytes - before < 2_000_000) await setTimeout(1);
      await own.kill();
      expect(done).toBe(false);
      own = await startNatsServer({ jetstream: true, storeDir, port: own.port });
      expect(Buffer.compare(await reading, bytes)).toBe(0);
    } finally {
      await place.close();
      await own.stop();
      rmSync(storeDir, { recursive: true, force: true });
    }
  });

  test("a chunk that the server's disk has spoilt is reported as damage within seconds, and the object is stored anew", async () => {
    const storeDir = mkdtempSync(join(tmpdir(), "netfacts-jetstream-"));
    let own = await startNatsServer({ jetstream: true, storeDir });
    const place = await testBucket(own);
    try {
      const store = await place.open();
      const bytes = randomBytes(400_000);
      const digest = await store.putObject(bytes);
      const mark = await store.objectsMark();
      await own.stop();
      const block = join(storeDir, "jetstream/$G/streams", `OBJ_${place.name}`, "msgs/1.blk");
      const content = readFileSync(block);
      content[200_000] = (content[200_000] as number) ^ 1;
      writeFileSync(block, content);
      own = await startNatsServer({ jetstream: true, storeDir, port: own.port });
      let after = mark;
      while (after === mark) after = await store.objectsMark().catch(() => mark);
      await expect(store.getObject(digest, bytes.length)).rejects.toThrow(/ended at byte \d+ of 400000: damaged/);
      // What the server says of the stream is unchanged; only its restart gives a hint.
      expect(after.split(" ").slice(1)).toEqual(mark.split(" ").slice(1));
      await store.putObject(bytes);
      expect(Buffer.compare(await store.getObject(digest, bytes.length), bytes)).toBe(0);
    } finally {
      await place.close();
      await own.stop();
      rmSync(storeDir, { recursive: true, force: true });
    }
  });

  test("a reader and a publisher need no more rights than the documents list", async () => {
    const name = "rights";
    const rights = natsRights(name);
    const user = (who: string, as: "ip-routing" | "ingest") => {
      // Of these, what is about snapshots.
      const about = (subjects: readonly string[]) => subjects.filter((subject) => subject.startsWith("$"));
      const subscribe = ["_INBOX.>", ...about(rights[as].subscribe)];
      return `{ user: ${who}, password: x, permissions: ${JSON.stringify({ publish: about(rights[as].publish), subscribe })} }`;
    };
    const config = `authorization { users = [ ${user("reader", "ip-routing")}, ${user("publisher", "ingest")} ] }`;
    const own = await startNatsServer({ jetstream: true, config });
    const publisher = await testBucket(own, { name, user: "publisher", pass: "x" });
    const reader = await testBucket(own, { name, user: "reader", pass: "x" });
    try {
      const store = await publisher.open();
      const seen: SnapshotPointer[] = [];
      const watch = (await reader.open()).watch((pointer) => seen.push(pointer));
      for (const number of [1, 2, 3, 4]) await store.activate((await publishNumber(store, number)).id);
      expect(await store.list()).toHaveLength(3);
      const { id } = madeManifest(numbered(4));
      await until(() => seen.at(-1)?.active === id);
      watch.stop();
      await expect(loadInThread(jetStreamSource(reader.source), id)).resolves.toBeDefined();
      await expect((await reader.open()).putObject(Buffer.of(1))).rejects.toThrow(/permissions violation/i);
    } finally {
      await publisher.nc.close();
      await reader.nc.close();
      await own.stop();
    }
  });

  describe("without a server", () => {
    /** Begun before the other test, which waits too: it takes ten seconds. */
    let nowhere: ReturnType<typeof failedLoad>;
    beforeAll(() => {
      nowhere = failedLoad({ connection: { servers: "nats://127.0.0.1:9", name: "loader" }, bucket: "none" });
    });

    test("a server that is away is told as that, and what it holds is not called damaged", async () => {
      const own = await startNatsServer({ jetstream: true, own: true });
      const place = await testBucket(own);
      const store = await place.open();
      const { id, sections } = await publishNumber(store, 1);
      await own.kill();
      const away = { name: "SnapshotUnavailableError" };
      await Promise.all([
        expect(store.pointer()).rejects.toMatchObject(away),
        expect(store.getManifest(id)).rejects.toMatchObject(away),
        expect(store.getObject(sections.routes?.object as string, sections.routes?.bytes as number)).rejects.toMatchObject(away),
      ]);
      await place.nc.close();
      await own.stop();
    });

    test("a worker that finds no server says so and ends", async () => {
      expect(await nowhere).toMatchObject({ error: { name: "SnapshotUnavailableError" } });
      expect((await nowhere).ms).toBeLessThan(15_000);
    });
  });
});
