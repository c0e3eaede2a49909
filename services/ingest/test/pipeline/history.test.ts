/**
 * When routes and ASes were first and last seen, through runs one after the other, against a history kept in maps.
 *
 * @large It tries series of whole runs.
 */

import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, jest, test } from "@jest/globals";
import { AnswerNotes, asnRecord } from "@netfacts/records";
import {
  Generation,
  loadSnapshot,
  type Manifest,
  openFolderStore,
  openPack,
  SnapshotUnavailableError,
  sealManifest,
  writePack,
} from "@netfacts/snapshot";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { IngestError, type RunReport, runIngest } from "../../src/app.ts";
import { atWork, namesFile, type Workplace } from "../support/made-files.ts";
import {
  carriedOn,
  hour,
  keptHours,
  midnight,
  nothing,
  type Slow,
  slowImport,
  type Table,
  table,
  tableFile,
  toldBy,
} from "./slow-history.ts";

// A series is some twenty runs, each with a dozen writes that the disk must have before they count.
jest.setTimeout(300_000);

const sources = (optional: string) => `
full_feed_min: {ipv4: 1, ipv6: 1}
history_kept: ${keptHours}h
sources:
  - {name: linx, section: routes, format: mrt, location: linx, shrink_max: 1}
${optional}
  - {name: names, section: as_names, format: name-list, location: names, shrink_max: 1}
`;
const withSecond = sources("  - {name: rrc00, section: routes, format: mrt, location: rrc00, required: false, shrink_max: 1}");
const alone = sources("");
const namesAlone = "sources: [{name: names, section: as_names, format: name-list, location: names, shrink_max: 1}]";

/** Every run over a store of its own, as another process would open it. */
async function runOver(place: Workplace, yaml: string): Promise<RunReport> {
  return runIngest({ config: await place.sources(yaml), store: openFolderStore(join(place.folder, "snapshots")) });
}

async function manifestOf({ store }: Workplace): Promise<Manifest> {
  return store.getManifest((await store.currentId()) as string);
}

const objectFile = ({ folder }: Workplace, manifest: Manifest) =>
  join(folder, "snapshots", "objects", manifest.ingest_objects.history?.object ?? "none");

type Step =
  | { readonly kind: "import"; readonly linx: Table; readonly rrc00: Table | "broken" | null }
  | { readonly kind: "again" | "names" | "rollback" | "damage" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("import"), linx: table, rrc00: fc.oneof(table, fc.constantFrom("broken", null)) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("again", "names", "rollback", "damage") }) },
) as fc.Arbitrary<Step>;

test("any series of tables, failures, rollbacks and damage tells what the slow history tells", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (steps) => {
      await atWork(async (place) => {
        /** What each snapshot tells, and which objects were damaged since they were written. */
        const states = new Map<string, { slow: Slow; announced: readonly Table[] }>();
        const damaged = new Set<string>();
        let last: { yaml: string; tables: readonly Table[] } | null = null;
        let names = 10;
        for (const one of steps) {
          const id = await place.store.currentId();
          const before = id === null ? null : (states.get(id) ?? null);
          if (one.kind === "import" || one.kind === "again") {
            if (one.kind === "import") {
              const second = one.rrc00 === null || one.rrc00 === "broken" ? [] : [one.rrc00];
              last = { yaml: one.rrc00 === null ? alone : withSecond, tables: [one.linx, ...second] };
              await place.write("linx", tableFile(one.linx));
              await place.write("rrc00", second[0] === undefined ? "no table" : tableFile(second[0]));
            }
            if (last === null) continue;
            const object = id === null ? undefined : (await manifestOf(place)).ingest_objects.history?.object;
            const isLost = object !== undefined && damaged.has(object);
            const report = await runOver(place, last.yaml);
            const notes = report.sections.find(({ name }) => name === "routes")?.notes ?? [];
            expect(notes.some((note) => note.includes("starts again"))).toBe(isLost);
            const manifest = await manifestOf(place);
            damaged.delete(manifest.ingest_objects.history?.object ?? "");
            states.set(manifest.id, {
              slow: slowImport(isLost ? nothing : (before?.slow ?? nothing), last.tables),
              announced: last.tables,
            });
            // The same tables into what they made: nothing may differ.
            if (one.kind === "again" || one === steps.at(-1)) expect((await runOver(place, last.yaml)).unchanged).toBe(true);
          } else if (before === null || id === null) continue;
          else if (one.kind === "names") {
            await place.write("names", namesFile(++names));
            expect((await runOver(place, namesAlone)).unchanged).toBe(false);
            states.set((await manifestOf(place)).id, before);
          } else if (one.kind === "rollback") {
            const [earlier] = await place.store.list();
            await place.store.publish(await place.store.getManifest(earlier as string));
          } else {
            const manifest = await manifestOf(place);
            const bytes = await readFile(objectFile(place, manifest));
            bytes[bytes.length >> 1] = ~(bytes[bytes.length >> 1] as number);
            await writeFile(objectFile(place, manifest), bytes);
            damaged.add(manifest.ingest_objects.history?.object as string);
          }
          const manifest = await manifestOf(place);
          const { slow, announced } = states.get(manifest.id) as { slow: Slow; announced: readonly Table[] };
          const told = await toldBy(place, manifest);
          const now = new Set(
            announced.flatMap(({ routes }) => Object.entries(routes).flatMap(([p, list]) => list.map((as) => `${p} ${as}`))),
          );
          expect(told.origins).toEqual(new Map([...slow.origins].filter(([key]) => now.has(key))));
          expect(told.ases).toEqual(slow.ases);
          expect(manifest.sections.routes?.counts.withdrawn_origins).toBe([...slow.origins.keys()].filter((key) => !now.has(key)).length);
          if (!damaged.has(manifest.ingest_objects.history?.object as string)) expect(await carriedOn(place, manifest)).toEqual(slow);
        }
      });
    }),
    { seed: seed(20_261_121), numRuns: runs(16) },
  );
});

const at = (hours: number, routes: Table["routes"]): Buffer => tableFile({ hour: hours, routes });
const iso = (hours: number) => new Date((midnight + hours * hour) * 1_000).toISOString().replace(".000", "");

describe("a history", () => {
  test("is the same from the same tables and the same snapshot before, byte for byte, wherever it is made", async () => {
    const made = await Promise.all(
      [0, 1].map(() =>
        atWork(async (place) => {
          const ids: string[] = [];
          for (const [hours, routes] of [
            [0, { "11.0.0.0/24": [1, 2] }],
            [2, { "11.0.0.0/24": [1], "2a00::/16": [3] }],
            [1, { "11.0.1.0/24": [2] }],
          ] as const) {
            await place.write("linx", at(hours, routes));
            await runOver(place, alone);
            ids.push((await manifestOf(place)).id);
          }
          return ids;
        }),
      ),
    );
    expect(made[0]).toEqual(made[1]);
    expect(new Set(made[0]).size).toBe(3);
  });

  test("goes on where the snapshot before had none, and that one answers as before", async () => {
    await atWork(async (place) => {
      await place.write("linx", at(0, { "11.0.0.0/24": [1] }));
      await runOver(place, alone);
      const { ingest_objects, ...before } = await manifestOf(place);
      expect(Object.keys(ingest_objects).sort()).toEqual(["history", "paths/linx"]);
      const { history: _, ...others } = ingest_objects;
      await place.store.publish(sealManifest({ sample_data: false, sections: before.sections, ingest_objects: others }));
      await place.write("linx", at(1, { "11.0.0.0/24": [1] }));
      const { sections } = await runOver(place, alone);
      expect(sections.find(({ name }) => name === "routes")?.notes).toBeUndefined();
      const time = midnight + hour;
      expect((await toldBy(place, await manifestOf(place))).origins).toEqual(new Map([["11.0.0.0/24 1", [time, time]]]));
    });
  });

  test("of the sample dataset is not carried on by the operator's own tables, also while another section of the sample is kept", async () => {
    await atWork(async (place) => {
      await place.write("linx", at(0, { "11.0.0.0/24": [1] }));
      await runOver(place, `sample_data: true${alone}`);
      expect((await toldBy(place, await manifestOf(place))).ases).toEqual(new Map([[1, [midnight, midnight]]]));
      const own = alone.replace(/^.*name: names.*$/m, "");
      for (const hours of [1, 2]) {
        await place.write("linx", at(hours, { "11.0.0.0/24": [1] }));
        await runOver(place, own);
        const manifest = await manifestOf(place);
        expect(manifest.sample_data).toBe(true);
        expect((await toldBy(place, manifest)).ases).toEqual(new Map([[1, [midnight + hour, midnight + hours * hour]]]));
      }
    });
  });

  test("whose object is gone begins anew, and the run tells", async () => {
    await atWork(async (place) => {
      await place.write("linx", at(0, { "11.0.0.0/24": [1] }));
      await runOver(place, alone);
      await rm(objectFile(place, await manifestOf(place)));
      await place.write("linx", at(1, { "11.0.0.0/24": [1] }));
      const { sections } = await runOver(place, alone);
      expect(sections.find(({ name }) => name === "routes")?.notes).toEqual([
        expect.stringMatching(/^the history of the last snapshot cannot be used and starts again: .*missing/),
      ]);
    });
  });

  test("of a snapshot whose manifest is damaged begins anew, and the run tells", async () => {
    await atWork(async (place) => {
      await place.write("linx", at(0, { "11.0.0.0/24": [1] }));
      await runOver(place, alone);
      const id = (await place.store.currentId()) as string;
      await writeFile(join(place.folder, "snapshots", "manifests", `${id}.json`), "{}");
      const { sections } = await runOver(place, alone);
      expect(sections.find(({ name }) => name === "routes")?.notes).toEqual([
        `the history of the last snapshot cannot be used and starts again: the manifest of ${id} cannot be read`,
      ]);
    });
  });

  test.each(["its manifest", "its history"])("is not begun anew by a store that does not answer for %s: the run ends", async (what) => {
    await atWork(async (place) => {
      await place.write("linx", at(0, { "11.0.0.0/24": [1] }));
      await runOver(place, alone);
      const before = await place.current();
      await place.write("linx", at(1, { "11.0.0.0/24": [1] }));
      const away = async (): Promise<never> => {
        throw new SnapshotUnavailableError("away");
      };
      const { store } = place;
      const history = (await manifestOf(place)).ingest_objects.history?.object;
      const getObject: typeof store.getObject = (object, bytes) => (object === history ? away() : store.getObject(object, bytes));
      const lame = what === "its manifest" ? { ...store, getManifest: away } : { ...store, getObject };
      const error = await runIngest({ config: await place.sources(alone), store: lame }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(IngestError);
      expect((error as IngestError).message).toContain("away");
      expect(await place.current()).toBe(before);
    });
  });

  test("stands in a pack for those who ask it, of an AS that announces nothing now too", async () => {
    await atWork(async (place) => {
      await place.write("linx", at(0, { "11.0.0.0/24": [1, 2] }));
      await runOver(place, alone);
      await place.write("linx", at(2, { "11.0.0.0/24": [1] }));
      await runOver(place, alone);
      const path = join(place.folder, "pack");
      const manifest = await writePack(place.store, (await place.store.currentId()) as string, path);
      const generation = Generation.of(await loadSnapshot(await openPack(path), manifest));
      const told = [1, 2, 3].map((asn) => {
        const question = { asn, aggregate: false, family: null, rpki: null, limit: 10 };
        const { announced, first_seen_at, last_seen_at } = asnRecord(question as never, new AnswerNotes(generation, 0));
        return [announced, first_seen_at, last_seen_at];
      });
      expect(told).toEqual([
        [true, iso(0), iso(2)],
        [false, iso(0), iso(0)],
        [false, null, null],
      ]);
    });
  });
});
