/** What every snapshot store does. A function of a harness, so that each implementation runs the same suite. */

import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  encodeManifest,
  loadSnapshot,
  type Manifest,
  PublicationConflictError,
  SnapshotError,
  type SnapshotStore,
} from "../../src/index.ts";
import { madeNames, madeRoutes, route } from "../support/made-sections.ts";
import { type MadeSnapshot, madeManifest, madeObjects, publishMade } from "../support/made-snapshot.ts";

/** One place where snapshots are kept, empty at first. */
export interface StoreHarness {
  /** Opens the place; several openings see the same. */
  open(options?: { manifestsKept?: number }): Promise<SnapshotStore>;
  /** A publisher in another process. */
  elsewhere(): Promise<{ publish(number: number): Promise<{ id: string; atMs: number }>; stop(): Promise<void> }>;
  /** Changes one byte of a stored object. */
  damage(digest: string): Promise<void>;
  remove(digest: string): Promise<void>;
  /** Digests of all objects that are stored. */
  objects(): Promise<string[]>;
  close(): Promise<void>;
}

const routes = madeRoutes([route("192.0.2.0/24", [64500, 3])]);

/** Snapshots told apart by their names section; all share their routes. */
export const numbered = (number: number): MadeSnapshot => ({
  routes,
  names: madeNames({ 1: `NUMBER-${number}` }),
  asOf: new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString().replace(".000Z", "Z"),
});

export const publishNumber = (store: SnapshotStore, number: number): Promise<Manifest> => publishMade(store, numbered(number));

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export function describeSnapshotStore(name: string, make: () => Promise<StoreHarness>): void {
  describe(name, () => {
    let harness: StoreHarness;
    let store: SnapshotStore;
    beforeEach(async () => {
      harness = await make();
      store = await harness.open();
    });
    afterEach(() => harness.close());

    test("holds nothing at first", async () => {
      expect(await store.currentId()).toBeNull();
      expect(await store.list()).toEqual([]);
      await expect(store.getManifest("20260101T000000Z-00000000")).rejects.toThrow(SnapshotError);
      await expect(store.getObject("0".repeat(64), 1)).rejects.toThrow(SnapshotError);
    });

    test("gives an object back by its digest, in shared memory", async () => {
      for (const bytes of [Buffer.from("content"), Buffer.alloc(0), Buffer.alloc(3_000_000, 7)]) {
        const digest = await store.putObject(bytes);
        expect(digest).toBe(digestOf(bytes));
        const read = await store.getObject(digest, bytes.length);
        expect(read.buffer).toBeInstanceOf(SharedArrayBuffer);
        expect(Buffer.compare(Buffer.from(read), bytes)).toBe(0);
      }
    });

    test("takes an object in pieces of any size, as what they are together", async () => {
      const bytes = Buffer.from(Uint8Array.from({ length: 700_000 }, (_, at) => (at * 2_654_435_761) >>> 13));
      for (const sizes of [[700_000], [0, 1, 63, 131_072, 0, 131_073, 437_791], [131_071, 568_929]]) {
        let at = 0;
        const pieces = sizes.map((size) => {
          at += size;
          return bytes.subarray(at - size, at);
        });
        expect(at).toBe(bytes.length);
        expect(await store.putObject(pieces)).toBe(digestOf(bytes));
        expect(Buffer.compare(Buffer.from(await store.getObject(digestOf(bytes), bytes.length)), bytes)).toBe(0);
        await harness.damage(digestOf(bytes));
      }
    });

    test("stores an object that is there once", async () => {
      await store.putObject(Buffer.from("twice"));
      await store.putObject(Buffer.from("twice"));
      expect(await harness.objects()).toEqual([digestOf(Buffer.from("twice"))]);
    });

    test("refuses an object of another size than was said", async () => {
      const digest = await store.putObject(Buffer.from("content"));
      await expect(store.getObject(digest, 6)).rejects.toThrow(SnapshotError);
      await expect(store.getObject(digest, 0xffff_ffff)).rejects.toThrow(SnapshotError);
    });

    test("refuses a damaged object, and stores it anew when it is put again", async () => {
      const bytes = Buffer.from("content");
      const digest = await store.putObject(bytes);
      await harness.damage(digest);
      await expect(store.getObject(digest, bytes.length)).rejects.toThrow(/damaged/);
      expect(await store.putObject(bytes)).toBe(digest);
      expect(Buffer.from(await store.getObject(digest, bytes.length)).toString()).toBe("content");
    });

    test("the mark of the objects stays as long as they do, and differs once one was stored, damaged or lost", async () => {
      const marks = [await store.objectsMark()];
      const look = async () => {
        const mark = await store.objectsMark();
        expect(await store.objectsMark()).toBe(mark);
        expect(mark).not.toBe(marks.at(-1));
        marks.push(mark);
      };
      const digest = await store.putObject(Buffer.from("content"));
      await look();
      await store.putObject(Buffer.from("content"));
      expect(await store.objectsMark()).toBe(marks.at(-1));
      await harness.damage(digest);
      await look();
      await store.putObject(Buffer.from("content"));
      await look();
      await harness.remove(digest);
      await look();
    });

    test("publishes a snapshot that loads, here and where it is opened again", async () => {
      const manifest = await publishNumber(store, 1);
      for (const reader of [store, await harness.open()]) {
        expect(await reader.currentId()).toBe(manifest.id);
        expect(await reader.getManifest(manifest.id)).toEqual(manifest);
        expect(await reader.list()).toEqual([manifest.id]);
        expect(Object.keys((await loadSnapshot(reader, manifest)).sections)).toEqual(["routes", "as_names"]);
      }
    });

    test("does not publish a manifest whose objects it lacks", async () => {
      const before = await publishNumber(store, 1);
      const manifest = madeManifest(numbered(2));
      await expect(store.publish(manifest)).rejects.toThrow(`${manifest.sections.as_names?.object} of ${manifest.id} was not stored`);
      expect(await store.currentId()).toBe(before.id);
      expect(await store.list()).toEqual([before.id]);
    });

    test("keeps the last three manifests, in the order of their publication, and the objects that they name", async () => {
      const published: Manifest[] = [];
      for (const number of [4, 3, 2, 1]) published.push(await publishNumber(store, number));
      const kept = published.slice(1);
      expect(await store.list()).toEqual(kept.map(({ id }) => id));
      expect(await store.currentId()).toBe(kept.at(-1)?.id);
      await expect(store.getManifest(published[0]?.id as string)).rejects.toThrow(/no snapshot/);
      const named = new Set(kept.flatMap(({ sections }) => Object.values(sections).map(({ object }) => object)));
      expect((await harness.objects()).sort()).toEqual([...named].sort());
    });

    test("keeps as many manifests as it is told, at least one", async () => {
      for (const [manifestsKept, kept] of [
        [2, 2],
        [0, 1],
      ] as const) {
        const few = await harness.open({ manifestsKept });
        for (const number of [1, 2, 3]) await publishNumber(few, number);
        expect(await few.list()).toHaveLength(kept);
        expect(await few.currentId()).toBe((await few.list()).at(-1));
      }
    });

    test("publishing what is current changes nothing", async () => {
      for (const number of [1, 2, 2, 2]) await publishNumber(store, number);
      expect(await store.list()).toEqual([madeManifest(numbered(1)).id, madeManifest(numbered(2)).id]);
    });

    test("publishing an earlier snapshot again makes it current, as a rollback does", async () => {
      for (const number of [1, 2, 1]) await publishNumber(store, number);
      expect(await store.list()).toEqual([madeManifest(numbered(2)).id, madeManifest(numbered(1)).id]);
      expect(await store.currentId()).toBe(madeManifest(numbered(1)).id);
    });

    test("lets what was published last be served, and nothing else", async () => {
      expect(await store.pointer()).toBeNull();
      const [first, second] = [await publishNumber(store, 1), await publishNumber(store, 2)];
      await expect(store.activate(first.id)).rejects.toThrow(SnapshotError);
      for (let times = 0; times < 2; times++) {
        await store.activate(second.id);
        expect(await store.pointer()).toEqual({ published: second.id, active: second.id });
      }
    });

    test("a publisher that names what it began from is refused when something else is current by now", async () => {
      const first = madeManifest(numbered(1));
      for (const object of Object.values(madeObjects(numbered(1)))) await store.putObject(object);
      await store.publish(first, { replaces: null });
      await expect(store.publish(first, { replaces: null })).rejects.toThrow(PublicationConflictError);
      await store.publish(first, { replaces: first.id });
      const second = await publishNumber(store, 2);
      await expect(store.publish(first, { replaces: first.id })).rejects.toThrow(`${second.id} is current`);
      expect(await store.currentId()).toBe(second.id);
    });

    test("removes objects that were stored and never published", async () => {
      const stray = await store.putObject(Buffer.from("stray"));
      await publishNumber(store, 1);
      expect(await harness.objects()).not.toContain(stray);
    });

    // What changes between a caller's own reading and the watcher's first one would else be told to nobody.
    test("a watcher is told what is there, and each change", async () => {
      const first = await publishNumber(store, 1);
      const seen: string[] = [];
      const stop = store.watch(({ published }) => seen.push(published));
      await until(() => seen.length > 0);
      const second = await publishNumber(store, 2);
      await until(() => seen.length > 1);
      const third = await publishNumber(store, 3);
      await until(() => seen.length > 2);
      stop();
      await publishNumber(store, 4);
      await new Promise((resolve) => setTimeout(resolve, 700));
      expect(seen).toEqual([first.id, second.id, third.id]);
    });

    test("a change made by another process is seen within a second", async () => {
      const seen = new Map<string, number>();
      const publisher = await harness.elsewhere();
      const stop = store.watch(({ published }) => seen.set(published, Date.now()));
      const delays: number[] = [];
      try {
        for (let number = 1; number <= 10; number++) {
          const { id, atMs } = await publisher.publish(number);
          await until(() => seen.has(id));
          delays.push(Math.max(0, (seen.get(id) as number) - atMs));
        }
      } finally {
        stop();
        await publisher.stop();
      }
      delays.sort((a, b) => a - b);
      expect(delays[5]).toBeLessThanOrEqual(1_000);
      expect(delays.at(-1)).toBeLessThanOrEqual(10_000);
    }, 60_000);

    test("a damaged or missing object is refused with the section's name, and the other snapshots still load", async () => {
      const first = await publishNumber(store, 1);
      const second = await publishNumber(store, 2);
      await harness.damage(second.sections.as_names?.object as string);
      await expect(loadSnapshot(store, second)).rejects.toThrow(/section as_names: .*damaged/);
      await harness.remove(second.sections.as_names?.object as string);
      await expect(loadSnapshot(store, second)).rejects.toThrow(new RegExp(`snapshot ${second.id}, section as_names: .*missing`));
      await expect(loadSnapshot(store, first)).resolves.toBeDefined();
    });

    test("the same content has the same manifest, byte for byte", async () => {
      const first = await publishNumber(store, 1);
      await publishNumber(store, 2);
      expect(encodeManifest(await publishNumber(store, 1)).equals(encodeManifest(first))).toBe(true);
    });
  });
}

/** Waits until something holds; the test's own time limit ends a wait in vain. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}
