/** What every store of uploaded observations must do. */

import { afterEach, describe, expect, test } from "@jest/globals";
import { containsPrefix, formatPrefix, makePrefix, type Prefix, parsePrefix } from "@netfacts/address";
import type { ObservationRepository, ObservationRow, StoredRow, UploadProgress, UploadRecord } from "../../src/index.ts";

export interface ObservationFactory {
  /** A handle on the one store of the running test; each call is a handle of its own. */
  open(): Promise<ObservationRepository>;
  dispose(): Promise<void>;
}

const newUpload = { id: "u1", format: "ndjson", source: "probes", keyId: "7Q9M3W8K" } as const;
const begun: UploadProgress = { offset: 0, checksum: 0, lines: 0, rows: 0, bad: 0, badLines: [], header: null, complete: false };

function prefix(text: string): Prefix {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(text);
  return reading.prefix;
}

function row(line: number, text: string, observedAt: number | null = 1_000 + line): ObservationRow {
  const members = { country: "NL", region: null, city: "Amsterdam", latitude: 52.37, longitude: 4.9, accuracyKm: 10.5, method: "probe" };
  return { line, prefix: prefix(text), ...members, observedAt };
}

async function collected(groups: AsyncIterable<StoredRow[]>): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  for await (const group of groups) rows.push(...group);
  return rows;
}

async function stored(store: ObservationRepository, id: string, rows: readonly ObservationRow[]): Promise<UploadRecord> {
  let upload: UploadRecord | null = await store.begin({ ...newUpload, id }, 5);
  for (let at = 0; at < rows.length; at += 500) {
    if (upload === null) throw new Error("was changed meanwhile");
    const batch = rows.slice(at, at + 500);
    const { offset, rows: before } = upload;
    const progress = { ...begun, offset: offset + 10 * batch.length, lines: batch.at(-1)?.line ?? 0, rows: before + batch.length };
    upload = await store.store(upload, batch, progress, 6);
  }
  if (upload === null) throw new Error("was changed meanwhile");
  return upload;
}

/** Small numbers from a seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function describeObservations(name: string, factory: ObservationFactory): void {
  describe(`${name}: observations`, () => {
    afterEach(() => factory.dispose());

    test("keeps an upload as it was begun, and returns it to whoever begins it again", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      const upload = await one.begin(newUpload, 5);
      expect(upload).toEqual({ ...newUpload, ...begun, number: 1, createdAt: 5, updatedAt: 5 });
      expect(await two.begin({ ...newUpload, source: "other" }, 9)).toEqual(upload);
      expect((await two.begin({ ...newUpload, id: "u2" }, 9)).number).toBe(2);
      expect((await one.uploads(10)).map(({ id }) => id)).toEqual(["u2", "u1"]);
      expect((await one.uploads(10, 2)).map(({ id }) => id)).toEqual(["u1"]);
      expect(await one.uploads(0)).toEqual([]);
      expect(await one.uploadCount()).toBe(2);
      expect(await one.find("u3")).toBeNull();
    });

    test("gives back rows and progress as they were stored, seen through another handle", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      const upload = await one.begin(newUpload, 5);
      const full = row(3, "192.0.2.0/24");
      const empty: ObservationRow = {
        ...row(4, "2001:db8::/32"),
        ...{ country: null, region: null, city: null, latitude: null, longitude: null, accuracyKm: null, observedAt: null, method: null },
      };
      const progress: UploadProgress = {
        ...{ offset: 2 ** 33, checksum: 0xffff_ffff, lines: 4, rows: 2, bad: 1, complete: true },
        badLines: [{ line: 2, reason: "is not JSON" }],
        header: "ip,observed_at",
      };
      const after = await one.store(upload, [full, empty], progress, 8);
      expect(after).toEqual({ ...upload, ...progress, updatedAt: 8 });
      expect(await two.find("u1")).toEqual(after);
      expect(await collected(two.all())).toEqual([
        { ...full, upload: 1 },
        { ...empty, upload: 1 },
      ]);
      expect(await two.rowCount()).toBe(2);
      expect(await two.newest()).toBe(1_003);
      expect([await two.hasRows(1), await two.hasRows(2)]).toEqual([true, false]);
    });

    test("stores each line once, and nothing from what another request has gone past", async () => {
      const store = await factory.open();
      const upload = await store.begin(newUpload, 5);
      const rows = [row(1, "192.0.2.1/32"), row(2, "192.0.2.2/32")];
      const after = await store.store(upload, rows, { ...begun, offset: 20, lines: 2, rows: 2 }, 6);
      expect(await store.store(upload, rows, { ...begun, offset: 20, lines: 2, rows: 2 }, 6)).toBeNull();
      expect(await store.find("u1")).toEqual(after);
      // Its progress was lost, as by the end of a process between the two.
      const repeated = await store.store(
        after as UploadRecord,
        [row(2, "192.0.2.2/32"), row(3, "192.0.2.3/32")],
        { ...begun, offset: 30, lines: 3, rows: 3 },
        7,
      );
      expect(repeated).toMatchObject({ offset: 30, rows: 3 });
      expect((await collected(store.all())).map(({ line }) => line)).toEqual([1, 2, 3]);
      expect(await store.rowCount()).toBe(3);
    });

    test("stores nothing of an upload that was removed meanwhile, and never gives its number to another", async () => {
      const store = await factory.open();
      const upload = await store.begin(newUpload, 5);
      await store.forget(upload.number);
      expect(await store.store(upload, [row(1, "192.0.2.1/32")], { ...begun, offset: 10, lines: 1, rows: 1 }, 6)).toBeNull();
      expect(await collected(store.all())).toEqual([]);
      expect((await store.begin(newUpload, 7)).number).toBe(2);
    });

    test("keeps the record of an upload that was continued after it was read", async () => {
      const store = await factory.open();
      const upload = await store.begin(newUpload, 5);
      const after = (await store.store(upload, [row(1, "192.0.2.1/32")], { ...begun, offset: 10, lines: 1, rows: 1 }, 6)) as UploadRecord;
      expect(await store.forget(upload.number, upload)).toBe(false);
      expect(await store.find("u1")).toEqual(after);
      expect(await store.forget(upload.number, after)).toBe(true);
      expect(await store.find("u1")).toBeNull();
      expect(await store.forget(upload.number, after)).toBe(true);
    });

    test("changes its revision with every row that is stored or removed, and with nothing else", async () => {
      const store = await factory.open();
      const first = await store.revision();
      const upload = await store.begin(newUpload, 5);
      expect(await store.revision()).toBe(first);
      const after = await store.store(upload, [row(1, "192.0.2.1/32")], { ...begun, offset: 10, lines: 1, rows: 1 }, 6);
      const second = await store.revision();
      expect(second).not.toBe(first);
      await store.store(after as UploadRecord, [], { ...begun, offset: 10, lines: 1, rows: 1, complete: true }, 7);
      expect(await store.revision()).toBe(second);
      expect(await store.remove({ fromUpload: 2, toUpload: 9 }, 10)).toBe(0);
      expect(await store.revision()).toBe(second);
      expect(await store.remove({ fromUpload: 1, toUpload: 1 }, 10)).toBe(1);
      expect(await store.revision()).not.toBe(second);
      expect(await store.hasRows(1)).toBe(false);
    });

    test("removes rows of one upload, those observed before a time, and the oldest, at most so many at a time", async () => {
      const store = await factory.open();
      await stored(store, "u1", [row(1, "192.0.2.1/32", 50), row(2, "192.0.2.2/32", 40), row(3, "192.0.2.3/32", null)]);
      await stored(store, "u2", [row(1, "192.0.2.4/32", 30), row(2, "192.0.2.5/32", 20), row(3, "192.0.2.6/32", 60)]);
      const times = async () => (await collected(store.all())).map(({ observedAt }) => observedAt);
      expect(await store.remove({ oldest: true }, 1)).toBe(1);
      expect(await times()).toEqual([50, 40, null, 30, 60]);
      expect(await store.remove({ observedBefore: 50 }, 10)).toBe(2);
      expect(await times()).toEqual([50, null, 60]);
      expect(await store.remove({ fromUpload: 1, toUpload: 1 }, 1)).toBe(1);
      expect(await store.remove({ fromUpload: 1, toUpload: 1 }, 10)).toBe(1);
      expect(await times()).toEqual([60]);
      expect(await store.rowCount()).toBe(1);
    });

    test("finds and removes what speaks of a prefix as a comparison of all rows does", async () => {
      const store = await factory.open();
      const random = numbers(20_261_124);
      const madePrefix = (): Prefix => {
        // Few bits differ, so that many contain each other.
        if (random(2) === 0) return makePrefix(4, (0xc633_6400 | random(512)) >>> 0, 0, 0, 0, 18 + random(15));
        return makePrefix(6, 0x2001_0db8, (random(2) << 31) >>> 0, random(4), random(4), 30 + random(99));
      };
      const prefixes = Array.from({ length: 300 }, madePrefix);
      const rows = prefixes.map((made, at) => ({ ...row(at + 1, "192.0.2.1/32"), prefix: made }));
      await stored(store, "u1", rows);
      for (let round = 0; round < 40; round++) {
        const asked = round < 30 ? (prefixes[random(prefixes.length)] as Prefix) : madePrefix();
        const expected = rows.filter(({ prefix: other }) => containsPrefix(other, asked) || containsPrefix(asked, other));
        const found = await collected(store.about(asked));
        expect([formatPrefix(asked), found.map(({ line }) => line).sort((a, b) => a - b)]).toEqual([
          formatPrefix(asked),
          expected.map(({ line }) => line),
        ]);
      }
      const gone = prefix("198.51.100.0/23");
      const inside = rows.filter(({ prefix: other }) => containsPrefix(gone, other));
      expect(inside.length).toBeGreaterThan(10);
      expect(await store.remove({ within: gone }, 1_000)).toBe(inside.length);
      const rest = rows.filter((one) => !inside.includes(one));
      expect((await collected(store.all())).map(({ line }) => line)).toEqual(rest.map(({ line }) => line));
    });

    test("gives all rows of more than one group, each once", async () => {
      const store = await factory.open();
      const rows = Array.from({ length: 4_500 }, (_, at) => row(at + 1, at % 2 === 0 ? "192.0.2.1/32" : "192.0.2.0/24"));
      await stored(store, "u1", rows);
      expect((await collected(store.all())).map(({ line }) => line)).toEqual(rows.map(({ line }) => line));
      const about = (await collected(store.about(prefix("192.0.2.0/24")))).map(({ line }) => line);
      expect(about.sort((a, b) => a - b)).toEqual(rows.map(({ line }) => line));
    });
  });
}
