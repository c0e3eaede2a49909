/** What every snapshot store does. A function of a harness, so that each implementation runs the same suite. */

import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  encodeManifest,
  type FolderStoreOptions,
  loadSnapshot,
  type Manifest,
  PublicationConflictError,
  pastManifest,
  type Retention,
  SnapshotError,
  type SnapshotStore,
  sealManifest,
} from "../../src/index.ts";
import { madeLocations, madeNames, madeRoutes, route } from "../support/made-sections.ts";
import { type MadeSnapshot, madeManifest, madeObjects, publishMade } from "../support/made-snapshot.ts";

/** One place where snapshots are kept, empty at first. */
export interface StoreHarness {
  /** Opens the place; several openings see the same. */
  open(options?: FolderStoreOptions): Promise<SnapshotStore>;
  /** A publisher in another process. */
  elsewhere(): Promise<{ publish(number: number): Promise<{ id: string; atMs: number }>; stop(): Promise<void> }>;
  /** Changes one byte of a stored object. */
  damage(digest: string): Promise<void>;
  remove(digest: string): Promise<void>;
  /** Makes a manifest unreadable. */
  damageManifest(id: string): Promise<void>;
  /** Makes a manifest one of a later format. */
  makeNewer(id: string): Promise<void>;
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

    test("the mark of one object stays while others change, and differs once it was damaged, stored anew or lost", async () => {
      const digest = await store.putObject(Buffer.from("content"));
      const other = await store.putObject(Buffer.from("other"));
      const marks = [await store.objectMark(digest)];
      const look = async () => {
        const mark = await store.objectMark(digest);
        expect(marks).not.toContain(mark);
        marks.push(mark);
      };
      await store.putObject(Buffer.from("third"));
      await harness.remove(other);
      expect(await store.objectMark(digest)).toBe(marks[0]);
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
        const few = await harness.open({ retention: { last: manifestsKept } });
        for (const number of [1, 2, 3]) await publishNumber(few, number);
        expect(await few.list()).toHaveLength(kept);
        expect(await few.currentId()).toBe((await few.list()).at(-1));
      }
    });

    describe("of earlier days", () => {
      const firstDay = Date.UTC(2026, 0, 1);
      let nowMs = 0;
      /** Publishes by the clock of the test, given as days since the first. */
      const publishAt = async (place: SnapshotStore, days: number, made: MadeSnapshot): Promise<string> => {
        nowMs = firstDay + days * 86_400_000;
        return (await publishMade(place, made)).id;
      };
      const opened = (retention: Partial<Retention> | null) => harness.open({ retention, clock: { now: () => nowMs } });
      const idOf = (number: number) => madeManifest(numbered(number)).id;
      const ids = async (place: SnapshotStore) => (await place.publications()).map(({ id }) => id);

      test("keeps the newest of each of the last days, and of these no manifest or object more", async () => {
        const place = await opened({ last: 2, days: 3 });
        const days = [0.1, 0.5, 1.9, 2, 3.1, 3.2, 3.3];
        for (const [index, day] of days.entries()) await publishAt(place, day, numbered(index + 1));
        expect(await place.publications()).toEqual([
          { id: idOf(3), at: "2026-01-02T21:36:00Z" },
          { id: idOf(4), at: "2026-01-03T00:00:00Z" },
          { id: idOf(6), at: "2026-01-04T04:48:00Z" },
          { id: idOf(7), at: "2026-01-04T07:12:00Z" },
        ]);
        expect(await place.list()).toEqual([idOf(6), idOf(7)]);
        const kept = await Promise.all([3, 4, 6, 7].map((number) => place.getManifest(idOf(number))));
        const named = new Set(kept.flatMap(({ sections }) => Object.values(sections).map(({ object }) => object)));
        expect((await harness.objects()).sort()).toEqual([...named].sort());
        await expect(place.getManifest(idOf(2))).rejects.toThrow(/no snapshot/);
      });

      test("are those of the publisher's clock: data of the future evict nothing, nor does a clock that was wrong once", async () => {
        const place = await opened({ last: 1, days: 4 });
        for (const day of [0, 1]) await publishAt(place, day, numbered(day));
        const future = await publishAt(place, 2, { ...numbered(2), asOf: "2099-01-01T00:00:00Z" });
        expect(await ids(place)).toEqual([idOf(0), idOf(1), future]);
        await publishAt(place, 30_000, numbered(3));
        await publishAt(place, 4, numbered(4));
        expect(await ids(place)).toEqual([idOf(1), future, idOf(3), idOf(4)]);
      });

      test("are as many as fit into their bytes, the oldest going first", async () => {
        const bytes = madeManifest(numbered(1)).sections.as_names?.bytes as number;
        const place = await opened({ last: 1, days: 30, bytesMax: 2 * bytes });
        for (const day of [1, 2, 3, 4, 5]) await publishAt(place, day, numbered(day));
        // All share their routes, which the last one needs anyway.
        expect(await ids(place)).toEqual([idOf(3), idOf(4), idOf(5)]);
      });

      test("lack locations and what only ingest reads, which are gone from the store", async () => {
        const place = await opened({ last: 1, days: 30 });
        const located = { ...numbered(1), locations: madeLocations({ "192.0.2.0/24": "NL" }) };
        const ofIngest = await place.putObject(Buffer.from("only ingest reads it"));
        const objects = madeObjects(located);
        for (const object of Object.values(objects)) await place.putObject(object);
        const { id: _, format, format_version, ...content } = madeManifest(located);
        const manifest = sealManifest({ ...content, ingest_objects: { state: { object: ofIngest, bytes: 20 } } });
        nowMs = firstDay;
        await place.publish(manifest);
        expect(await harness.objects()).toContain(digestOf(objects.locations as Buffer));
        await publishAt(place, 1, numbered(2));
        expect(await ids(place)).toEqual([manifest.id, idOf(2)]);
        const left = await harness.objects();
        expect(left).not.toContain(digestOf(objects.locations as Buffer));
        expect(left).not.toContain(ofIngest);
        expect(Object.keys((await loadSnapshot(place, pastManifest(await place.getManifest(manifest.id)))).sections)).toEqual([
          "routes",
          "as_names",
        ]);
      });

      test("a snapshot that was gone back to was published twice, one that is published while it is current once", async () => {
        const place = await opened({ last: 3, days: 30 });
        for (const [day, number] of [
          [1, 1],
          [2, 2],
          [3, 1],
          [4, 1],
        ] as const)
          await publishAt(place, day, numbered(number));
        expect((await place.publications()).map(({ id, at }) => [id, at.slice(0, 10)])).toEqual([
          [idOf(1), "2026-01-02"],
          [idOf(2), "2026-01-03"],
          [idOf(1), "2026-01-04"],
        ]);
        expect(await place.list()).toEqual([idOf(2), idOf(1)]);
      });

      test("each time is kept at which a snapshot that can be gone back to was published, also on one day", async () => {
        const place = await opened({ last: 2, days: 2 });
        for (const [day, number] of [
          [1, 1],
          [2, 2],
          [2.1, 3],
          [2.2, 2],
          [2.3, 3],
        ] as const)
          await publishAt(place, day, numbered(number));
        expect((await place.publications()).map(({ id, at }) => [id, at.slice(5, 13)])).toEqual([
          [idOf(1), "01-02T00"],
          [idOf(2), "01-03T00"],
          [idOf(3), "01-03T02"],
          [idOf(2), "01-03T04"],
          [idOf(3), "01-03T07"],
        ]);
      });

      test("stay where somebody publishes who does not know what to keep", async () => {
        const place = await opened({ last: 2, days: 30 });
        for (const day of [1, 2, 3, 4]) await publishAt(place, day, numbered(day));
        const before = await ids(place);
        await publishAt(await opened(null), 5, numbered(3));
        expect(await ids(place)).toEqual([...before, idOf(3)]);
        expect(await place.list()).toEqual([idOf(4), idOf(3)]);
      });

      test("a damaged manifest of one takes that day only", async () => {
        const place = await opened({ last: 1, days: 30 });
        for (const day of [1, 2, 3]) await publishAt(place, day, numbered(day));
        await harness.damageManifest(idOf(1));
        await publishAt(place, 4, numbered(4));
        expect(await ids(place)).toEqual([idOf(2), idOf(3), idOf(4)]);
      });

      test("a snapshot of a newer program is told, and kept as others are, with all of its objects", async () => {
        const place = await opened({ last: 2, days: 2 });
        const first = await publishAt(place, 1, numbered(1));
        const objects = await harness.objects();
        await harness.makeNewer(first);
        await expect(place.getManifest(first)).rejects.toThrow(/format version 2; .* start the newer version of Netfacts that wrote it/);
        const isKept = async () => {
          const kept = new Set(await harness.objects());
          return objects.every((object) => kept.has(object));
        };
        await publishAt(place, 2, numbered(2));
        expect([await place.list(), await isKept()]).toEqual([[first, idOf(2)], true]);
        for (const number of [3, 4]) await publishAt(place, 2, numbered(number));
        expect([await place.list(), await isKept()]).toEqual([[idOf(3), idOf(4)], true]);
        await publishAt(place, 3, numbered(5));
        expect([await place.list(), await isKept()]).toEqual([[idOf(4), idOf(5)], false]);
      });
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

    test("keeps what operators took back, here and where it is opened again, until a publisher says otherwise", async () => {
      const taken = [{ section: "as_names", name: "own\n", format: "name-list", sha256: "ab".repeat(32) }] as const;
      expect(await store.takenBack()).toEqual([]);
      const first = await publishNumber(store, 1);
      await publishMade(store, numbered(2), { takenBack: taken });
      await publishNumber(store, 3);
      await store.activate(madeManifest(numbered(3)).id);
      expect(await (await harness.open()).takenBack()).toEqual(taken);
      await expect(store.publish(first, { replaces: first.id, takenBack: [] })).rejects.toThrow(PublicationConflictError);
      expect(await store.takenBack()).toEqual(taken);
      await publishMade(store, numbered(4), { takenBack: [] });
      expect(await store.takenBack()).toEqual([]);
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
    test("a publisher that is not alone leaves objects that no manifest names, and those that only it named go", async () => {
      const unnamed = await store.putObject(Buffer.from("of a run in progress"));
      const publish = (number: number) => publishMade(store, numbered(number), { isAlone: false });
      const manifests: Manifest[] = [];
      for (const number of [1, 2, 3, 4, 5]) manifests.push(await publish(number));
      expect(await store.list()).toEqual(manifests.slice(2).map(({ id }) => id));
      const named = manifests.slice(2).flatMap(({ sections }) => Object.values(sections).map(({ object }) => object));
      expect((await harness.objects()).sort()).toEqual([...new Set([...named, unnamed])].sort());
      await publishNumber(store, 6);
      expect(await harness.objects()).not.toContain(unnamed);
    });

    test("what was stored and never published is discarded, and what is kept stays", async () => {
      await store.putObject(Buffer.from("of a first run that failed"));
      await store.discardUnpublished();
      expect(await harness.objects()).toEqual([]);
      for (const number of [1, 2, 3]) await publishNumber(store, number);
      const [kept, before] = [await store.list(), await harness.objects()];
      const unpublished = madeManifest(numbered(4));
      for (const object of Object.values(madeObjects(numbered(4)))) await store.putObject(object);
      expect(await harness.objects()).not.toEqual(before);
      await store.discardUnpublished();
      expect((await harness.objects()).sort()).toEqual(before.sort());
      expect(await store.list()).toEqual(kept);
      await expect(store.publish(unpublished)).rejects.toThrow("was not stored");
      for (const id of kept) await expect(loadSnapshot(store, await store.getManifest(id))).resolves.toBeDefined();
    });

    test("nothing is discarded while a manifest that is kept cannot be read", async () => {
      const first = await publishNumber(store, 1);
      const unnamed = await store.putObject(Buffer.from("of a run that failed"));
      await harness.damageManifest(first.id);
      await expect(store.discardUnpublished()).rejects.toThrow(SnapshotError);
      expect(await harness.objects()).toContain(unnamed);
    });

    test("a watcher is told what is there, and each change", async () => {
      const first = await publishNumber(store, 1);
      const seen: string[] = [];
      const watch = store.watch(({ published }) => seen.push(published));
      await until(() => seen.length > 0);
      const second = await publishNumber(store, 2);
      await until(() => seen.length > 1);
      const third = await publishNumber(store, 3);
      await until(() => seen.length > 2);
      watch.stop();
      await publishNumber(store, 4);
      await new Promise((resolve) => setTimeout(resolve, 700));
      expect(seen).toEqual([first.id, second.id, third.id]);
    });

    test("a change made by another process is seen within a second", async () => {
      const seen = new Map<string, number>();
      const publisher = await harness.elsewhere();
      const watch = store.watch(({ published }) => seen.set(published, Date.now()));
      const delays: number[] = [];
      try {
        for (let number = 1; number <= 10; number++) {
          const { id, atMs } = await publisher.publish(number);
          await until(() => seen.has(id));
          delays.push(Math.max(0, (seen.get(id) as number) - atMs));
        }
      } finally {
        watch.stop();
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
