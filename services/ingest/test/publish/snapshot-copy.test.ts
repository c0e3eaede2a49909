/** A store of snapshots that loses all or parts of what serves, while a source is unusable: it is put back, and no section is lost. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, jest, test } from "@jest/globals";
import { PodReporter } from "@netfacts/pod";
import { connectJetStreamStore, jetStreamSource } from "@netfacts/pod/jetstream";
import {
  LoaderThreads,
  type Manifest,
  openFolderStore,
  SnapshotFollower,
  type SnapshotStore,
  SnapshotUnavailableError,
} from "@netfacts/snapshot";
import { testBucket } from "../../../../libs/pod/test/jetstream/bucket.ts";
import { madeNames, madeProfiles } from "../../../../libs/snapshot/test/support/made-sections.ts";
import { madeManifest, madeObjects, publishMade } from "../../../../libs/snapshot/test/support/made-snapshot.ts";
import { until } from "../../../../test/support/http.ts";
import { startNatsServer } from "../../../../test/support/nats-server.ts";
import { SnapshotCopy } from "../../src/publish/snapshot-copy.ts";
import { delegatedFile, vrpFile } from "../support/made-files.ts";
import { startedRun, startService } from "../support/service.ts";

/** A busy machine takes long. An attempt that it makes fail is repeated a minute later. */
const healedMsMax = 150_000;

/** Sources of two sections, of which that of VRPs may fail. @returns the path of the list */
function twoSources(folder: string): string {
  writeFileSync(join(folder, "ripe"), delegatedFile());
  writeFileSync(join(folder, "vrps"), vrpFile());
  const path = join(folder, "sources.yaml");
  writeFileSync(
    path,
    `sources:
  - {name: ripe, section: allocations, format: delegated, location: ripe}
  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps, required: false}
`,
  );
  return path;
}

test("JetStream that was wiped while a source is missing gets the same snapshot back, and the next run keeps its sections", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const storeDir = join(folder, "nats");
  let nats = await startNatsServer({ jetstream: true, storeDir });
  const { port } = nats;
  const sources = twoSources(folder);
  const source = { bucket: "copied", connection: { servers: nats.url, name: "test" } };
  const { store, close } = await connectJetStreamStore(source);
  const service = await startService({
    folder: join(folder, "home"),
    sources,
    deps: (deps) => ({ ...deps, snapshots: store, snapshotSource: jetStreamSource(source) }),
  });
  try {
    const active = () =>
      store.pointer().then(
        (pointer) => pointer?.active ?? null,
        () => null,
      );
    await until(async () => (await active()) !== null, { timeoutMs: 30_000 });
    const before = await store.getManifest((await active()) as string);
    expect(Object.keys(before.sections)).toEqual(["vrps", "allocations"]);
    const copy = openFolderStore(join(folder, "home", "ingest", "serving"));
    await until(async () => (await copy.currentId()) === before.id, { timeoutMs: healedMsMax });

    rmSync(join(folder, "vrps"));
    await nats.kill();
    rmSync(storeDir, { recursive: true });
    nats = await startNatsServer({ jetstream: true, storeDir, port });
    const restarted = performance.now();
    await until(async () => (await active()) !== null, { timeoutMs: 30_000 });
    expect(performance.now() - restarted).toBeLessThan(10_000);
    expect(await store.getManifest((await active()) as string)).toEqual(before);

    const run = await service.ended(await startedRun(service));
    expect(run.state).toBe("succeeded");
    const after = await store.getManifest((await active()) as string);
    expect(after.sections.vrps?.object).toBe(before.sections.vrps?.object);
  } finally {
    await service.stop();
    await close();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

interface Loss {
  readonly name: string;
  lose(bucket: Awaited<ReturnType<typeof testBucket>>, manifest: Manifest): Promise<unknown>;
}
const sectionOf = ({ sections }: Manifest) => sections.allocations?.object ?? "";
const losses: readonly Loss[] = [
  {
    name: "the bucket of objects",
    lose: async ({ nc, name }) => (await nc.jetstreamManager()).streams.delete(`OBJ_${name}`),
  },
  { name: "one object", lose: (bucket, manifest) => bucket.remove(sectionOf(manifest)) },
  { name: "the description of an object", lose: (bucket, manifest) => bucket.describe(sectionOf(manifest), "{garbage") },
  { name: "the pointer", lose: (bucket) => bucket.point("garbage{{{") },
  { name: "one byte of an object", lose: (bucket, manifest) => bucket.damage(sectionOf(manifest)) },
  {
    name: "the manifest",
    lose: async ({ nc, name }, { id }) =>
      (await nc.jetstreamManager()).streams.purge(`KV_${name}`, { filter: `$KV.${name}.manifest.${id}` }),
  },
];

test("a store that loses parts of what serves gets them back, whole and with the same id, and pods that start meanwhile load it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const server = await startNatsServer({ jetstream: true, own: true });
  const bucket = await testBucket(server);
  const source = jetStreamSource(bucket.source);
  const store = await bucket.open();
  writeFileSync(join(folder, "ripe"), delegatedFile());
  writeFileSync(join(folder, "sources.yaml"), "sources:\n  - {name: ripe, section: allocations, format: delegated, location: ripe}\n");
  const pods: { follower: SnapshotFollower; reporter: PodReporter }[] = [];
  let startPod = async (): Promise<SnapshotFollower> => {
    throw new Error("the service has no broadcast yet");
  };
  const service = await startService({
    folder: join(folder, "home"),
    sources: join(folder, "sources.yaml"),
    deps(deps) {
      startPod = async () => {
        const follower = new SnapshotFollower(await bucket.open(), new LoaderThreads(source), {}, { retryUnavailableMs: 100 });
        const reporter = new PodReporter({ follower, broadcast: deps.broadcast, pod: `pod-${pods.length}`, service: "ip-routing" });
        pods.push({ follower, reporter });
        await follower.start();
        reporter.start();
        return follower;
      };
      return { ...deps, snapshots: store, snapshotSource: source };
    },
  });
  try {
    const active = async () => (await store.pointer())?.active ?? null;
    await until(async () => (await active()) !== null, { timeoutMs: 30_000 });
    const before = await store.getManifest((await active()) as string);
    const serving = await startPod();
    const copy = openFolderStore(join(folder, "home", "ingest", "serving"));
    await until(async () => (await copy.currentId()) === before.id, { timeoutMs: healedMsMax });

    for (const { name, lose } of losses) {
      await lose(bucket, before);
      const started = await startPod();
      await until(() => started.current()?.id === before.id, { timeoutMs: healedMsMax }).catch(() => {
        throw new Error(`lost ${name}: a pod that started afterwards serves ${started.current()?.id ?? "nothing"}`);
      });
      await until(async () => isWhole(store, before), { timeoutMs: healedMsMax });
      expect([name, await active(), serving.current()?.id]).toEqual([name, before.id, before.id]);
    }

    // The copy itself lost an object: nothing can be put back, it is said, and the next run mends the store.
    const { object } = before.sections.allocations ?? { object: "" };
    for (const file of readdirSync(join(folder, "home", "ingest", "serving", "objects")))
      rmSync(join(folder, "home", "ingest", "serving", "objects", file));
    await bucket.remove(object);
    await until(
      () => service.log.some(({ level, message }) => level === "warn" && message.includes("own copy of the snapshot in service failed")),
      {
        timeoutMs: 10_000,
      },
    );
    expect((await service.ended(await startedRun(service))).state).toBe("succeeded");
    expect(await isWhole(store, await store.getManifest((await active()) as string))).toBe(true);
  } finally {
    for (const { follower, reporter } of pods) {
      follower.stop();
      await reporter.stop();
    }
    await service.stop();
    await bucket.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** The copy of a store in `folder/serving`, with nothing else of ingest. */
function copyOf(store: SnapshotStore, folder: string): SnapshotCopy {
  return new SnapshotCopy({
    folder: join(folder, "serving"),
    store,
    activate: async () => undefined,
    repaired: () => undefined,
    log: { info: () => undefined, warn: () => undefined },
    lookMs: 1,
  });
}

test("what operators took back is copied and restored with the snapshot", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const path = join(folder, "store");
  const store = openFolderStore(path);
  const takenBack = [{ section: "as_names", name: "own", format: "name-list", sha256: "1" }] as const;
  const manifest = await publishMade(store, { names: madeNames({ 1: "one" }) });
  const { id } = manifest;
  const copy = copyOf(store, folder);
  try {
    copy.start();
    const serving = openFolderStore(join(folder, "serving"));
    await until(async () => (await serving.currentId()) === id);
    // As when an operator goes back to what was never replaced.
    await store.publish(manifest, { takenBack });
    await until(async () => (await serving.takenBack()).length === 1);
    rmSync(path, { recursive: true });
    await until(async () => (await store.currentId()) === id);
    expect(await store.takenBack()).toEqual(takenBack);
  } finally {
    await copy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ["the manifest", (path: string, id: string) => rmSync(join(path, "manifests", `${id}.json`))],
  [
    "the pointer and the manifest",
    (path: string) => readdirSync(path).map((name) => name !== "objects" && rmSync(join(path, name), { recursive: true })),
  ],
])("%s: a restoration during an import leaves what the import has stored so far", async (_what, lose) => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const path = join(folder, "store");
  const store = openFolderStore(path);
  const { id } = await publishMade(store, { names: madeNames({ 1: "one" }) });
  const copy = copyOf(store, folder);
  try {
    copy.start();
    const serving = openFolderStore(join(folder, "serving"));
    await until(async () => (await serving.currentId()) === id);
    const object = await store.putObject(Buffer.from("of an import"));
    lose(path, id);
    await until(() =>
      store.getManifest(id).then(
        () => true,
        () => false,
      ),
    );
    await copy.stop();
    await expect(store.getObject(object, "of an import".length)).resolves.toHaveLength("of an import".length);
  } finally {
    await copy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ["are not read again within a day", {}, 0],
  ["are read again later", { readAgainMs: 0 }, 1],
])("at the next publication, objects that the copy has %s", async (_what, settings, times) => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const store = openFolderStore(join(folder, "store"));
  const objects = new Map<string, Promise<Uint8Array<SharedArrayBuffer>>>();
  const copy = new SnapshotCopy({
    folder: join(folder, "serving"),
    store: {
      ...store,
      getObject(digest, bytes) {
        const object = objects.get(digest) ?? store.getObject(digest, bytes);
        objects.set(digest, object);
        return object;
      },
    },
    activate: async () => undefined,
    repaired: () => undefined,
    log: { info: () => undefined, warn: () => undefined },
    lookMs: 1,
    ...settings,
  });
  const any = await open(folder);
  const read = jest.spyOn(Object.getPrototypeOf(any) as FileHandle, "read");
  try {
    copy.start();
    const serving = openFolderStore(join(folder, "serving"));
    const names = madeNames({ 1: "one" });
    const { id, sections } = await publishMade(store, { names });
    await until(async () => (await serving.currentId()) === id);
    // From here on the store is read from memory, except what is new.
    const next = { names, profiles: madeProfiles({ 1: {} }) };
    await store.putObject(madeObjects(next).profiles as Buffer);
    read.mockClear();
    const manifest = madeManifest(next);
    await store.publish(manifest);
    await until(async () => (await serving.currentId()) === manifest.id);
    const sizes = read.mock.calls.map(([bytes]) => (bytes as unknown as Uint8Array).length);
    expect(sizes.filter((size) => size === sections.as_names?.bytes)).toHaveLength(times);
  } finally {
    read.mockRestore();
    await any.close();
    await copy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("after a publication no object of the store is read twice; one that decays without a sign is restored when a pod refuses it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const store = openFolderStore(join(folder, "store"));
  const read: string[] = [];
  const repaired: string[] = [];
  let looks = 0;
  const copy = new SnapshotCopy({
    folder: join(folder, "serving"),
    store: {
      ...store,
      objectsMark() {
        looks++;
        return store.objectsMark();
      },
      getObject(digest, bytes) {
        read.push(digest);
        return store.getObject(digest, bytes);
      },
    },
    activate: async () => undefined,
    repaired: (id) => repaired.push(id),
    log: { info: () => undefined, warn: () => undefined },
    lookMs: 1,
  });
  const serving = openFolderStore(join(folder, "serving"));
  const settled = async (id: string) => {
    await until(async () => (await serving.currentId()) === id);
    looks = 0;
    await until(() => looks > 3);
  };
  try {
    const names = madeNames({ 1: "one" });
    const { id, sections } = await publishMade(store, { names });
    const { object, bytes } = sections.as_names as NonNullable<typeof sections.as_names>;
    const path = join(folder, "store", "objects", object);
    utimesSync(path, 1_000, 1_000);
    copy.start();
    await settled(id);
    const next = await publishMade(store, { names, profiles: madeProfiles({ 1: {} }) });
    await settled(next.id);
    expect(read).toEqual([object, next.sections.profiles?.object]);

    const content = readFileSync(path);
    content[content.length - 1] = (content.at(-1) as number) ^ 1;
    writeFileSync(path, content);
    utimesSync(path, 1_000, 1_000);
    copy.doubt(next.id);
    await until(() => repaired.length > 0);
    expect(repaired).toEqual([next.id]);
    await store.getObject(object, bytes);
  } finally {
    await copy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("objects of the store are read again at the first publication after a day", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const store = openFolderStore(join(folder, "store"));
  const read: string[] = [];
  const copy = new SnapshotCopy({
    folder: join(folder, "serving"),
    store: {
      ...store,
      getObject(digest, bytes) {
        read.push(digest);
        return store.getObject(digest, bytes);
      },
    },
    activate: async () => undefined,
    repaired: () => undefined,
    log: { info: () => undefined, warn: () => undefined },
    lookMs: 1,
    readAgainMs: 0,
  });
  try {
    copy.start();
    const names = madeNames({ 1: "one" });
    const { sections } = await publishMade(store, { names });
    await until(() => read.length >= 2);
    await publishMade(store, { names, profiles: madeProfiles({ 1: {} }) });
    await until(() => read.filter((digest) => digest === sections.as_names?.object).length >= 3);
  } finally {
    await copy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a store that takes nothing back is logged once, and again with the next failure", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  await publishMade(openFolderStore(folder), { names: madeNames({ 1: "one" }) });
  let why = "its storage is full";
  let tries = 0;
  const putObject = async () => {
    tries++;
    throw new SnapshotUnavailableError(why);
  };
  const logged: string[] = [];
  const copy = new SnapshotCopy({
    folder,
    store: { ...openFolderStore(join(folder, "empty")), putObject },
    activate: async () => undefined,
    repaired: () => undefined,
    log: { info: () => undefined, warn: (fields, message) => logged.push(`${message}: ${(fields as { err: Error }).err.message}`) },
    lookMs: 1,
  });
  try {
    copy.start();
    await until(async () => tries > 5);
    why = "its user lacks a right";
    tries = 0;
    await until(async () => tries > 5);
  } finally {
    await copy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const told = "the snapshot store lost data, and they cannot be restored from ingest's own copy yet; retrying in seconds";
  expect(logged).toEqual([`${told}: its storage is full`, `${told}: its user lacks a right`]);
});

test("a copy that its folder does not take leaves nothing there, and is not read again at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const serving = join(folder, "serving");
  const store = openFolderStore(join(folder, "store"));
  const { id } = await publishMade(store, { names: madeNames({ 1: "one" }) });
  mkdirSync(serving);
  writeFileSync(join(serving, "manifests"), "a file, not a folder");
  let [looks, reads] = [0, 0];
  const logged: string[] = [];
  const copyOf = () =>
    new SnapshotCopy({
      folder: serving,
      store: {
        ...store,
        pointer: () => {
          looks++;
          return store.pointer();
        },
        getObject: (...given) => {
          reads++;
          return store.getObject(...given);
        },
      },
      activate: async () => undefined,
      repaired: () => undefined,
      log: { info: () => undefined, warn: (_fields, message) => logged.push(message) },
      lookMs: 1,
      retryMs: 2 ** 31,
    });
  const [first, second] = [copyOf(), copyOf()];
  try {
    first.start();
    await until(async () => logged.length > 0);
    looks = 0;
    await until(async () => looks > 5);
    expect(reads).toBe(1);
    expect(logged).toEqual(["ingest's own copy of the snapshot in service failed; retrying within a minute"]);
    expect(readdirSync(join(serving, "objects"))).toEqual([]);
    await first.stop();
    rmSync(join(serving, "manifests"));
    second.start();
    await until(async () => (await openFolderStore(serving).currentId()) === id);
  } finally {
    await Promise.all([first.stop(), second.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a stop waits for the object being copied, and copies no other", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const sources = twoSources(folder);
  const read: string[] = [];
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const service = await startService({
    folder: join(folder, "home"),
    sources,
    deps: (deps) => ({
      ...deps,
      snapshots: new Proxy(deps.snapshots, {
        get(store, name) {
          const member = Reflect.get(store, name);
          if (name !== "getObject") return typeof member === "function" ? member.bind(store) : member;
          return async (object: string, bytes: number) => {
            read.push(object);
            await held;
            return store.getObject(object, bytes);
          };
        },
      }),
    }),
  });
  let stopped: Promise<void> | undefined;
  try {
    await until(async () => read.length > 0, { timeoutMs: healedMsMax });
    let isStopped = false;
    stopped = service.stop().then(() => {
      isStopped = true;
    });
    // Everything else of a stop takes less.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(isStopped).toBe(false);
    goOn();
    await stopped;
    expect(read).toHaveLength(1);
    const objects = join(folder, "home", "ingest", "serving", "objects");
    expect(readdirSync(objects)).toEqual(read);
  } finally {
    goOn();
    await (stopped ?? service.stop());
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a copy over which an earlier leader writes, because it was frozen, is made again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const store = openFolderStore(join(folder, "store"));
  const { id: earlier } = await publishMade(store, { names: madeNames({ 1: "one" }) });
  const { id, sections } = await publishMade(store, { names: madeNames({ 1: "two" }) });
  const copy = copyOf(store, folder);
  try {
    copy.start();
    const serving = openFolderStore(join(folder, "serving"));
    await until(async () => (await serving.currentId()) === id);
    // The last step of its publication.
    writeFileSync(join(folder, "serving", "current"), `${earlier}\n`);
    const { object = "", bytes = 0 } = sections.as_names ?? {};
    const isCopied = async () =>
      (await serving.currentId()) === id &&
      (await serving.getObject(object, bytes).then(
        () => true,
        () => false,
      ));
    await until(isCopied);
    // As its removal of what it did not publish, some time later.
    rmSync(join(folder, "serving", "objects", object));
    await until(isCopied);
  } finally {
    await copy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a leader that loses its term during the last object of a copy does not publish the copy", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copy-"));
  const store = openFolderStore(join(folder, "store"));
  await publishMade(store, { names: madeNames({ 1: "one" }) });
  let stopped: Promise<void> | null = null;
  const copy = copyOf(
    {
      ...store,
      getObject(digest, bytes) {
        stopped ??= copy.stop();
        return store.getObject(digest, bytes);
      },
    },
    folder,
  );
  try {
    copy.start();
    await until(async () => stopped !== null);
    await stopped;
    expect(await openFolderStore(join(folder, "serving")).currentId()).toBeNull();
  } finally {
    await copy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Each object can be read to its end, and has its digest. */
async function isWhole(store: Awaited<ReturnType<Awaited<ReturnType<typeof testBucket>>["open"]>>, manifest: Manifest): Promise<boolean> {
  try {
    expect(await store.getManifest(manifest.id)).toEqual(manifest);
    for (const { object, bytes } of [...Object.values(manifest.sections), ...Object.values(manifest.ingest_objects)])
      await store.getObject(object, bytes);
    return true;
  } catch {
    return false;
  }
}
