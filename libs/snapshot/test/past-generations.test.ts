/** Generations of the past: which one a time means, what is held of them, and who waits for whom. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import {
  loadSnapshot,
  openFolderStore,
  type PastAnswer,
  PastGenerations,
  type PastOptions,
  type Publication,
  pastDefaults,
  SnapshotError,
  type SnapshotStore,
  SnapshotUnavailableError,
} from "../src/index.ts";
import { madeLocations, madeNames, madeRoutes, route } from "./support/made-sections.ts";
import { inFolder, publishMade } from "./support/made-snapshot.ts";

const firstDay = Date.UTC(2026, 0, 1);
const dayMs = 86_400_000;
const waitMs = 20_000;

/** Snapshots of so many days, each published at noon; the name of AS 1 is that of its day. */
async function withDays(days: number, use: (store: SnapshotStore, folder: string, ids: string[]) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    let nowMs = 0;
    const store = openFolderStore(folder, { retention: { last: 1 }, clock: { now: () => nowMs } });
    const ids: string[] = [];
    for (let day = 0; day < days; day++) {
      nowMs = firstDay + (day + 0.5) * dayMs;
      const made = { routes: madeRoutes([route("192.0.2.0/24", [64500, 3])]), names: madeNames({ 1: `DAY-${day}` }) };
      ids.push((await publishMade(store, { ...made, locations: madeLocations({ "192.0.2.0/24": "NL" }) })).id);
    }
    await use(store, folder, ids);
  });
}

const opened = (store: SnapshotStore, folder: string, options: Partial<PastOptions> = {}) => {
  const loads: string[] = [];
  const failed: string[] = [];
  const events = { loaded: (id: string) => void loads.push(id), failed: (id: string) => void failed.push(id) };
  const past = new PastGenerations(store, { kind: "folder", path: folder }, { held: () => [] }, events, { ...pastDefaults, ...options });
  const at = (day: number, turn = 1, msMax = waitMs) =>
    past.at({ at: Math.floor((firstDay + day * dayMs) / 1_000), snapshotId: null, turn }, msMax);
  return { past, at, loads, failed };
};

const nameIn = (answer: PastAnswer): string | null | undefined =>
  "generation" in answer ? answer.generation.names?.lookupName(1) : undefined;

describe("a time of the past", () => {
  test("means the last publication that is not after it; before the first there is none", async () => {
    await withDays(3, async (store, folder, ids) => {
      const { at } = opened(store, folder);
      expect(nameIn(await at(0.5))).toBe("DAY-0");
      expect(nameIn(await at(1.499))).toBe("DAY-0");
      expect(await at(1.5)).toMatchObject({ publication: { id: ids[1], at: "2026-01-02T12:00:00Z" } });
      expect(nameIn(await at(400))).toBe("DAY-2");
      expect(await at(0.499)).toEqual({ refusal: "out_of_range", earliest: "2026-01-01T12:00:00Z", latest: "2026-01-03T12:00:00Z" });
    });
  });

  test("has no locations, whatever was published then", async () => {
    await withDays(2, async (store, folder) => {
      const { at } = opened(store, folder);
      for (const day of [1, 2]) {
        const answer = await at(day);
        expect("generation" in answer && [answer.generation.locations, answer.generation.manifest.sections.locations]).toEqual([
          null,
          undefined,
        ]);
      }
    });
  });

  test("can be named by its snapshot, if that was there by then", async () => {
    await withDays(2, async (store, folder, ids) => {
      const { past } = opened(store, folder);
      const ask = (day: number, snapshotId: string) => past.at({ at: (firstDay + day * dayMs) / 1_000, snapshotId, turn: 1 }, waitMs);
      expect(nameIn(await ask(2, ids[0] as string))).toBe("DAY-0");
      expect(await ask(1, ids[1] as string)).toEqual({ refusal: "gone" });
      expect(await ask(2, "20260101T000000Z-00000000")).toEqual({ refusal: "gone" });
    });
  });

  test("without any publication is not the same as one before the first", async () => {
    await inFolder(async (folder) => {
      expect(await opened(openFolderStore(folder), folder).at(1)).toEqual({ refusal: "empty" });
    });
  });
});

describe("what is held of the past", () => {
  test("is loaded once for all who ask meanwhile, and at most so many at a time", async () => {
    await withDays(4, async (store, folder) => {
      const { past, at, loads } = opened(store, folder, { snapshotsMax: 2 });
      const names = await Promise.all([1, 1, 2, 1, 2, 3].map(async (day, turn) => nameIn(await at(day, turn))));
      expect(names).toEqual(["DAY-0", "DAY-0", "DAY-1", "DAY-0", "DAY-1", "DAY-2"]);
      expect(loads).toHaveLength(3);
      expect(past.kept).toHaveLength(2);
    });
  });

  test("is as little as its bytes allow, but one", async () => {
    await withDays(3, async (store, folder) => {
      const { past, at } = opened(store, folder, { snapshotsMax: 9, bytesMax: 1 });
      for (const day of [1, 2]) await at(day);
      expect(past.kept).toHaveLength(1);
      expect(past.bytes).toBeGreaterThan(0);
    });
  });

  test("stays for a caller while another one walks through all days", async () => {
    await withDays(8, async (store, folder, ids) => {
      const { past, at, loads } = opened(store, folder, { snapshotsMax: 2 });
      await at(1, 77);
      for (const day of [2, 3, 4, 5, 6, 7]) {
        await at(day, 5);
        expect(past.kept).toContain(ids[0]);
      }
      expect(nameIn(await at(1, 77))).toBe("DAY-0");
      expect(loads.filter((id) => id === ids[0])).toHaveLength(1);
    });
  });

  test("is loaded for each caller in turn, and nobody waits for more than a few", async () => {
    await withDays(8, async (store, folder, ids) => {
      const { at, loads } = opened(store, folder, { snapshotsMax: 8 });
      const greedy = [1, 2, 3, 4, 5, 6].map((day) => at(day, 5));
      const polite = at(7, 77);
      const answers = await Promise.all(greedy);
      expect(nameIn(await polite)).toBe("DAY-6");
      // The first was begun before the polite one asked.
      expect(loads.indexOf(ids[6] as string)).toBeLessThanOrEqual(2);
      expect(answers.filter((answer) => "refusal" in answer && answer.refusal === "overloaded")).toHaveLength(2);
    });
  });

  test("is loaded further when the time of a question is over, for the next one", async () => {
    await withDays(2, async (store, folder) => {
      const { at, loads } = opened(store, folder);
      expect(await at(1, 1, 0)).toEqual({ refusal: "loading" });
      expect(nameIn(await at(1))).toBe("DAY-0");
      expect(loads).toHaveLength(1);
    });
  });

  test("is not what is in memory anyway", async () => {
    await withDays(2, async (store, folder, ids) => {
      const loaded = await loadSnapshot(store, await store.getManifest(ids[1] as string));
      const past = new PastGenerations(store, { kind: "folder", path: folder }, { held: () => [loaded] });
      const answer = await past.at({ at: (firstDay + 3 * dayMs) / 1_000, snapshotId: null, turn: 1 }, waitMs);
      expect(nameIn(answer)).toBe("DAY-1");
      expect("generation" in answer && answer.generation.locations).toBeNull();
      expect([past.kept, past.bytes]).toEqual([[], 0]);
    });
  });
});

describe("a snapshot of the past that cannot be loaded", () => {
  test("is reported, not tried again at once, and harms no other", async () => {
    await withDays(3, async (store, folder, ids) => {
      const { sections } = await store.getManifest(ids[0] as string);
      const path = join(folder, "objects", sections.as_names?.object as string);
      const bytes = await readFile(path);
      bytes[40] = (bytes[40] as number) ^ 1;
      await writeFile(path, bytes);
      const { at, failed } = opened(store, folder);
      for (const _ of [1, 2]) expect(await at(1)).toEqual({ refusal: "unreadable" });
      expect(failed).toEqual([ids[0]]);
      expect(nameIn(await at(2))).toBe("DAY-1");
    });
  });

  test("because it was withdrawn meanwhile is not damaged: another one counts, or none does", async () => {
    await withDays(3, async (store, folder, ids) => {
      const { at, past } = opened(store, folder, { listMs: 60_000 });
      expect(await past.publications()).toHaveLength(3);
      // Only the newest is kept from now on.
      const pruning = openFolderStore(folder, { retention: { last: 1, days: 1 }, clock: { now: () => firstDay + 9 * dayMs } });
      await publishMade(pruning, { names: madeNames({ 1: "NEW" }) });
      expect(await store.publications()).toHaveLength(1);
      expect(await at(1)).toEqual({ refusal: "out_of_range", earliest: "2026-01-10T00:00:00Z", latest: "2026-01-10T00:00:00Z" });
      const named = { at: (firstDay + 30 * dayMs) / 1_000, snapshotId: ids[1] as string, turn: 1 };
      expect(await past.at(named, waitMs)).toEqual({ refusal: "gone" });
    });
  });

  test("because it was withdrawn after somebody read the list is not damaged for them either", async () => {
    await withDays(2, async (store, folder) => {
      const { past } = opened(store, folder, { listMs: 60_000 });
      const [first] = (await past.publications()) ?? [];
      await publishMade(openFolderStore(folder, { retention: { last: 1, days: 1 } }), { names: madeNames({ 1: "NEW" }) });
      expect(await past.of(first as Publication, 1, waitMs)).toEqual({ refusal: "gone" });
      expect(await past.publications()).toHaveLength(1);
    });
  });

  test("because it was withdrawn is not missed by whoever has it already", async () => {
    await withDays(2, async (store, folder) => {
      const { at } = opened(store, folder, { listMs: 60_000 });
      expect(nameIn(await at(1))).toBe("DAY-0");
      const pruning = openFolderStore(folder, { retention: { last: 1, days: 1 }, clock: { now: () => firstDay + 9 * dayMs } });
      await publishMade(pruning, { names: madeNames({ 1: "NEW" }) });
      expect(nameIn(await at(1))).toBe("DAY-0");
    });
  });

  test("while the list is damaged is refused until something is known, which goes on being used", async () => {
    await withDays(1, async (store, folder) => {
      let isDamaged = true;
      const publications: SnapshotStore["publications"] = async () => {
        if (isDamaged) throw new SnapshotError("the pointer is missing or damaged");
        return store.publications();
      };
      const { at } = opened({ ...store, publications }, folder, { listMs: 0 });
      expect(await at(1)).toEqual({ refusal: "unavailable" });
      isDamaged = false;
      expect(nameIn(await at(1))).toBe("DAY-0");
      isDamaged = true;
      expect(nameIn(await at(1))).toBe("DAY-0");
    });
  });

  test("for want of an answer of the store is another matter; what is known goes on being used", async () => {
    await withDays(2, async (store, folder) => {
      let isAway = true;
      const away = async () => {
        if (isAway) throw new SnapshotUnavailableError("the store does not answer");
      };
      const flaky: SnapshotStore = {
        ...store,
        publications: () => away().then(() => store.publications()),
        getManifest: (id) => away().then(() => store.getManifest(id)),
      };
      const { at } = opened(flaky, folder, { listMs: 0, retryMs: 60_000 });
      expect(await at(1)).toEqual({ refusal: "unavailable" });
      isAway = false;
      expect(nameIn(await at(1))).toBe("DAY-0");
      isAway = true;
      expect(nameIn(await at(1))).toBe("DAY-0");
      expect(await at(2)).toEqual({ refusal: "unavailable" });
      isAway = false;
      expect(nameIn(await at(2))).toBe("DAY-1");
    });
  });
});
