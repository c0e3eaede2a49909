/**
 * RIBs of several collectors in one run, each read in a thread of its own: what they make together, and what the failure of one does.
 *
 * @large It makes whole runs with threads of their own.
 */

import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, jest, test } from "@jest/globals";
import type { Manifest } from "@netfacts/snapshot";
import { IngestError, type ProgressEvent, type RunOptions, runIngest } from "../../src/app.ts";
import { atWork, ribFile, type Workplace } from "../support/made-files.ts";

// Each thread loads its modules anew, which takes seconds where many do so on one core.
jest.setTimeout(120_000);

const settings = "full_feed_min: {ipv4: 1, ipv6: 1}\nsources:\n";
const source = (name: string, more = "") => `  - {name: ${name}, section: routes, format: mrt, location: ${name}${more}}\n`;
const names = "  - {name: names, section: as_names, format: name-list, location: names}\n";
const three = settings + source("rrc00") + names + source("linx") + source("eqix");

/** Every RIB in a thread, and none. */
const threads = { ribThreadBytesMin: 0 };
const inline = { ribThreadBytesMin: Number.POSITIVE_INFINITY };

async function atCollectors<T>(use: (place: Workplace) => Promise<T>): Promise<T> {
  return atWork(async (place) => {
    await place.write("rrc00", ribFile(20));
    await place.write("linx", ribFile(12));
    await place.write("eqix", ribFile(25, 1_763_715_400));
    return use(place);
  });
}

const run = async ({ sources, store }: Workplace, yaml: string, options: Partial<RunOptions> = threads) =>
  runIngest({ config: await sources(yaml), store, ...options });

const manifestOf = async ({ store }: Workplace): Promise<Manifest> => store.getManifest((await store.currentId()) as string);

describe("several collectors", () => {
  test("make one section, each with an object of its paths; read in threads or not, in whatever order", async () => {
    const snapshots = await Promise.all(
      [
        [three, threads] as const,
        [three, inline] as const,
        [settings + source("eqix") + source("rrc00") + names + source("linx"), threads] as const,
      ].map(([yaml, options]) =>
        atCollectors(async (place) => {
          await run(place, yaml, options);
          return manifestOf(place);
        }),
      ),
    );
    const [first] = snapshots as [Manifest, ...Manifest[]];
    expect(first.sections.routes).toMatchObject({
      collectors: ["eqix", "linx", "rrc00"],
      as_of: "2025-11-21T08:55:00Z",
      counts: { ipv4: 25, peers: 6 },
      // Two peers have fewer than 70 % of the largest one's 25 prefixes.
      peers_total: { ipv4: 4, ipv6: 0 },
    });
    expect(Object.keys(first.ingest_objects).sort()).toEqual(["history", "paths/eqix", "paths/linx", "paths/rrc00"]);
    for (const { sections, ingest_objects } of snapshots) {
      expect(sections.routes?.object).toBe(first.sections.routes?.object);
      expect(ingest_objects).toEqual(first.ingest_objects);
    }
    expect(snapshots[1]?.id).toBe(first.id);
  });

  test("a table of another collector is read, and the report says so", async () => {
    const of = (bgpId: number, prefixes: number) => {
      const rib = ribFile(prefixes);
      rib.writeUInt32BE(bgpId, 12);
      return rib;
    };
    await atWork(async (place) => {
      const notesOf = async (rib: Buffer) => {
        await place.write("rrc00", rib);
        return (await run(place, settings + source("rrc00"), inline)).sources[0]?.notes.filter((note) => note.includes("identifier"));
      };
      expect(await notesOf(of(0xc0000201, 20))).toEqual([]);
      expect(await notesOf(of(0xc0000201, 21))).toEqual([]);
      expect(await notesOf(of(0xc6336407, 22))).toEqual([
        "the BGP identifier of its collector is 198.51.100.7; that of the last import was 192.0.2.1: check that location is the right one",
      ]);
      expect((await manifestOf(place)).sections.routes?.sources[0]?.bgp_id).toBe("198.51.100.7");
      expect(await notesOf(ribFile(23))).toEqual([]);
    });
  });

  test("are reported in the order of the file, and their progress as one", async () => {
    await atCollectors(async (place) => {
      const events: ProgressEvent[] = [];
      const report = await run(place, three, { ...threads, onProgress: (event) => events.push(event) });
      expect(report.sources.map(({ name, accepted }) => `${name} ${accepted}`)).toEqual(["rrc00 20", "names 10", "linx 12", "eqix 25"]);
      const total = ribFile(20).length + ribFile(12).length + ribFile(25).length;
      expect(events.filter(({ label }) => label === "read 3 RIBs").at(-1)).toEqual({
        label: "read 3 RIBs",
        done: total,
        total,
        unit: "bytes",
      });
    });
  });

  test("that are no longer named leave no paths behind", async () => {
    await atCollectors(async (place) => {
      await run(place, three, inline);
      await run(place, settings + source("linx"), inline);
      const { sections, ingest_objects } = await manifestOf(place);
      expect([sections.routes?.collectors, Object.keys(ingest_objects)]).toEqual([["linx"], ["paths/linx", "history"]]);
      await run(place, settings + names, inline);
      expect(Object.keys((await manifestOf(place)).ingest_objects)).toEqual(["paths/linx", "history"]);
    });
  });
});

test("a collector whose RIB the system refuses, such as a loop of symbolic links, is left out where it is not required", async () => {
  await atCollectors(async (place) => {
    const linx = join(place.folder, "linx");
    await rm(linx, { force: true });
    await symlink("linx", linx);
    const report = await run(place, three.replace(source("linx"), source("linx", ", required: false")));
    expect(report.sources.map(({ name, state }) => `${name} ${state}`)).toEqual(["rrc00 read", "names read", "linx failed", "eqix read"]);
    expect(report.sources[2]?.error).toMatch(/linx: the file cannot be read: its symbolic links form a loop$/);
  });
});

describe.each([
  ["cut midway", ribFile(12).subarray(0, 700), /linx: byte \d+: the input ends/],
  ["of another format", "text, and not a little of it", /linx: byte 0: /],
  ["damaged in its compression", Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), /linx: byte \d+: /],
])("a collector whose RIB is %s", (_what, content, message) => {
  test("is left out where it is not required: the report and the snapshot tell, and the others are published", async () => {
    await atCollectors(async (place) => {
      await run(place, three.replace(source("linx"), ""), inline);
      const alone = await manifestOf(place);
      await place.write("linx", content);
      const report = await run(place, three.replace(source("linx"), source("linx", ", required: false")));
      const { sections } = await manifestOf(place);
      expect(sections.routes?.object).toBe(alone.sections.routes?.object);
      expect(sections.routes?.collectors).toEqual(["eqix", "rrc00"]);
      expect(sections.routes?.sources.map(({ name, error }) => [name, error])).toEqual([
        ["rrc00", null],
        ["eqix", null],
        ["linx", "could not be read in the last run"],
      ]);
      expect(report.sources.map(({ name, state }) => `${name} ${state}`)).toEqual(["rrc00 read", "names read", "linx failed", "eqix read"]);
      expect(report.sources[2]?.error).toMatch(message);
    });
  });

  test("ends the run where it is required, and nothing changes", async () => {
    await atCollectors(async (place) => {
      await run(place, three, inline);
      const before = await place.current();
      await place.write("linx", content);
      const error = await run(place, three).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(IngestError);
      expect((error as IngestError).message).toMatch(message);
      expect((error as IngestError).report.sources.at(-1)).toMatchObject({ state: expect.stringMatching(/read|failed/) });
      expect(await place.current()).toBe(before);
    });
  });
});

test("a run that is stopped while threads read ends, and publishes nothing", async () => {
  await atCollectors(async (place) => {
    const stop = new AbortController();
    const onProgress = ({ label }: ProgressEvent) => {
      if (label.startsWith("read 3")) stop.abort();
    };
    const error = await run(place, three, { ...threads, signal: stop.signal, onProgress }).catch((thrown: unknown) => thrown);
    expect((error as Error).message).toBe("stopped; nothing was published");
    expect(await place.store.currentId()).toBeNull();
  });
});
