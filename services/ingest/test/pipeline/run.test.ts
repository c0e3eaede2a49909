/** Runs from files to a published snapshot: what they tell, and that what served stays when something is wrong. */

import { readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { type Address, parseAddress } from "@netfacts/address";
import { Generation, loadSnapshot, type SnapshotStore } from "@netfacts/snapshot";
import { ribRecord } from "../../../../libs/mrt/test/support/mrt-writer.ts";
import { IngestError, type ProgressEvent, type RunReport, reportText, runIngest } from "../../src/app.ts";
import { allSources, atWork, delegatedFile, namesFile, optional, ribFile, vrpFile, type Workplace } from "../support/made-files.ts";

async function generationOf(store: SnapshotStore): Promise<Generation> {
  return Generation.of(await loadSnapshot(store, await store.getManifest((await store.currentId()) as string)));
}

const sourceOf = (report: RunReport, name: string) => report.sources.find((source) => source.name === name);
const sectionOf = (report: RunReport, name: string) => report.sections.find((section) => section.name === name);

/** An IPv6 prefix of a table whose first record is the peer index of `ribFile`. */
const ipv6Record = (at: number) => ribRecord(`2a00:${at.toString(16)}::/32`, [{ peer: 0, path: "64500 9" }], { timestamp: 1_763_715_300 });

/** A run that must fail: its error. */
async function failed(run: Promise<RunReport>): Promise<IngestError> {
  const error = await run.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(IngestError);
  return error as IngestError;
}

const run = async ({ sources, store }: Workplace, yaml: string): Promise<RunReport> => runIngest({ config: await sources(yaml), store });

describe("a run over good files", () => {
  test("publishes every section, and what they say can be asked", async () => {
    await atWork(async (place) => {
      const report = await run(place, allSources);
      expect(await place.store.currentId()).toBe(report.snapshot);
      const generation = await generationOf(place.store);
      const address = parseAddress("11.0.0.77") as Address;
      expect(generation.routes?.origins(generation.routes.prefixes.longest(address))).toEqual([
        { asn: 1, asSet: null, full: 1, partial: 0 },
        { asn: 9, asSet: null, full: 1, partial: 0 },
      ]);
      expect(generation.allocations?.recordsAt(address)).toHaveLength(1);
      expect(generation.vrps?.covering({ ...address, w0: address.w0 & ~255, length: 24 })).toMatchObject([
        { asn: 9, maxLength: 25, loose: true },
      ]);
      expect(generation.names?.lookupName(9)).toBe("NAME-9");
      expect(generation.peersTotal(4)).toBe(2);
    });
  });

  test("reports each source, section and stage", async () => {
    await atWork(async (place) => {
      const report = await run(place, allSources);
      expect(sourceOf(report, "rib")).toMatchObject({
        state: "read",
        read: 20,
        accepted: 20,
        skipped: [],
        as_of: "2025-11-21T08:55:00Z",
        error: null,
        stored_bytes: ribFile().length,
      });
      expect(sourceOf(report, "ripe")).toMatchObject({ read: 10, accepted: 10, as_of: "2025-11-20T00:00:00Z" });
      expect(sourceOf(report, "vrps")).toMatchObject({ accepted: 10, as_of: "2025-11-21T08:50:12Z" });
      expect(sourceOf(report, "names")).toMatchObject({ accepted: 10, as_of: "2025-11-21T04:40:00Z" });
      expect(report.sections.map(({ name, version, kept }) => [name, version, kept])).toEqual([
        ["routes", "20251121.0855", false],
        ["vrps", "20251121T085012Z", false],
        ["allocations", "2025-11-20", false],
        ["as_names", "2025-11-21", false],
      ]);
      expect(sectionOf(report, "routes")?.counts).toMatchObject({ ipv4: 20, ipv6: 0, peers: 2 });
      expect(report).toMatchObject({ unchanged: false, sample_data: false, error: null });
      expect(reportText(report)).toMatch(
        /rib \(routes, mrt\): read 20, accepted 20; .*\n(.|\n)*snapshot 20251121T085500Z-[0-9a-f]{8} published\n$/,
      );
    });
  });

  test("tells its progress: bytes of each source, then the steps", async () => {
    await atWork(async (place) => {
      const events: ProgressEvent[] = [];
      await runIngest({ config: await place.sources(allSources), store: place.store, onProgress: (event) => events.push(event) });
      const labels = [...new Set(events.map(({ label }) => label))];
      expect(labels).toEqual(["read rib", "read ripe", "read vrps", "read names", "build", "publish"]);
      expect(events.filter(({ label }) => label === "read rib").at(-1)).toMatchObject({
        done: ribFile().length,
        total: ribFile().length,
        unit: "bytes",
      });
    });
  });

  test("over unchanged files gives the same snapshot, and says so", async () => {
    await atWork(async (place) => {
      const first = await run(place, allSources);
      const before = await place.current();
      const second = await run(place, allSources);
      expect(second).toMatchObject({ snapshot: first.snapshot, unchanged: true });
      expect(await place.current()).toBe(before);
      expect(await place.store.list()).toEqual([first.snapshot]);
      expect(reportText(second)).toContain("is unchanged and was published before");
    });
  });

  test("gives the same snapshot whichever section was there first", async () => {
    const other = await atWork(async (place) => {
      await run(place, allSources.replace(/.*name: rib.*\n/, "").replace(/.*name: vrps.*\n/, ""));
      return (await run(place, allSources)).snapshot;
    });
    expect(other).toBe(await atWork(async (place) => (await run(place, allSources)).snapshot));
  });

  test("does not rewrite sections whose files are the same", async () => {
    await atWork(async (place) => {
      await run(place, allSources);
      const before = (await place.store.getManifest((await place.store.currentId()) as string)).sections;
      await place.write("vrps", vrpFile(11));
      await run(place, allSources);
      const after = (await place.store.getManifest((await place.store.currentId()) as string)).sections;
      expect(after.routes?.object).toBe(before.routes?.object);
      expect(after.vrps?.object).not.toBe(before.vrps?.object);
    });
  });
});

describe("a required source that cannot be trusted", () => {
  const faults: [string, string, string | Uint8Array, RegExp][] = [
    ["a RIB cut midway", "rib", ribFile().subarray(0, 700), /rib: byte \d+: /],
    ["an empty RIB", "rib", "", /rib: byte 0: .*empty/],
    ["text in place of a RIB", "rib", "x".repeat(500), /rib: byte 0: /],
    [
      "a delegated file cut midway",
      "ripe",
      delegatedFile().slice(0, delegatedFile().indexOf("11.0.5.0")).replace(/.*$/, ""),
      /ripe:\d+: differs from the counts in it: claims 10 ipv4 and has 5/,
    ],
    ["a delegated file of rubbish", "ripe", "rubbish\n", /ripe:1: not a delegated statistics file/],
    ["JSON cut midway", "vrps", vrpFile().slice(0, 300), /vrps: byte \d+: /],
    ["no VRPs", "vrps", vrpFile(0), /vrps: byte \d+: has no VRPs/],
    ["names that are none", "names", "\0\0\0\n", /names:1: /],
    [
      "fewer records than before",
      "ripe",
      delegatedFile("ripencc", 7),
      /ripe: has 7 records, compared with 10 in the last good version: it shrank by more than shrink_max \(0.2\) allows/,
    ],
    ["fewer routes than before", "rib", ribFile(15), /rib: has 15 records, compared with 20 in the last good version/],
  ];

  test.each(faults)("%s: the run ends with file, place and cause, and what served is untouched", async (_what, name, content, message) => {
    await atWork(async (place) => {
      const good = await run(place, allSources);
      const before = await place.current();
      await place.write(name, content);
      const error = await failed(run(place, allSources));
      expect(error.message).toMatch(message);
      expect(error.report).toMatchObject({ snapshot: null, error: error.message });
      expect(await place.current()).toBe(before);
      expect(await place.store.list()).toEqual([good.snapshot]);
      await expect(generationOf(place.store)).resolves.toBeDefined();
    });
  });

  test("a file that went away after its configuration was read", async () => {
    await atWork(async (place) => {
      const config = await place.sources(allSources);
      await unlink(join(place.folder, "ripe"));
      expect((await failed(runIngest({ config, store: place.store }))).message).toMatch(/ripe: the file cannot be read: no such file$/);
      expect(await place.store.currentId()).toBeNull();
    });
  });

  test("one kind of records that shrank, where all together did not: AS numbers behind the blocks, IPv6 behind IPv4", async () => {
    // LACNIC's own counts do not tell.
    const lacnic = (asns: number) => {
      const lines = Array.from({ length: asns }, (_, at) => `lacnic|BR|asn|${at + 1}|1|20200101|allocated`);
      const blocks = Array.from({ length: 500 }, (_, at) => `lacnic|BR|ipv4|11.${at >> 8}.${at & 255}.0|256|20200101|allocated`);
      return [`2|lacnic|20251120|1700|19830101|20251120|-0300`, "lacnic|*|asn|*|1200|summary", ...blocks, ...lines, ""].join("\n");
    };
    await atWork(async (place) => {
      const both = (v6: number) => Buffer.concat([ribFile(250), ...Array.from({ length: v6 }, (_, at) => ipv6Record(at))]);
      await place.write("ripe", lacnic(1_200));
      await place.write("rib", both(60));
      await run(place, allSources);
      const before = await place.current();
      await place.write("ripe", lacnic(1_100));
      expect((await failed(run(place, allSources))).message).toMatch(
        /ripe: has 1100 AS number blocks, compared with 1200 in the last good version: 100 are missing, more than kind_shrink_max \(0\.02\) allows/,
      );
      await place.write("ripe", lacnic(1_190));
      await place.write("rib", both(0));
      expect((await failed(run(place, allSources))).message).toMatch(
        /rib: has 0 IPv6 prefixes, compared with 60 in the last good version: 60 are missing, more than kind_shrink_max \(0\.2\) allows/,
      );
      expect(await place.current()).toBe(before);
      await place.write("rib", both(10));
      const report = await runIngest({ config: await place.sources(allSources), store: place.store, acceptShrink: ["routes"] });
      expect(sourceOf(report, "ripe")).toMatchObject({
        accepted: 1_690,
        notes: ["claims 1200 asn and has 1190", "claims 1700 records and has 1690"],
      });
    });
  });

  test("VRPs that lost most of one family, as a list that was cut at a line's end", async () => {
    const list = (v6: number) =>
      [
        "ASN,IP Prefix,Max Length,Trust Anchor",
        ...Array.from({ length: 900 }, (_, at) => `AS9,11.${at >> 8}.${at & 255}.0/24,24,ripe`),
        ...Array.from({ length: v6 }, (_, at) => `AS9,2a00:${at.toString(16)}::/32,48,ripe`),
        "",
      ].join("\n");
    await atWork(async (place) => {
      const csv = allSources.replace("format: rpki-client-json", "format: routinator-csv");
      await place.write("vrps", list(100));
      await run(place, csv);
      const before = await place.current();
      await place.write("vrps", list(40));
      expect((await failed(run(place, csv))).message).toMatch(
        /vrps: has 40 IPv6 VRPs, compared with 100 in the last good version: 60 are missing, more than kind_shrink_max \(0\.2\) allows/,
      );
      expect(await place.current()).toBe(before);
      const json = (v6: number) => {
        const vrps = list(v6).trim().split("\n").slice(1);
        const roas = vrps.map((line) => line.split(",")).map(([asn, prefix, max]) => ({ asn, prefix, maxLength: Number(max), ta: "ripe" }));
        return JSON.stringify({ metadata: { generated: 1_763_715_012 }, roas });
      };
      const routinator = allSources.replace("format: rpki-client-json", "format: routinator-json");
      await place.write("vrps", json(100));
      await run(place, routinator);
      await place.write("vrps", json(40));
      expect((await failed(run(place, routinator))).message).toContain(
        "vrps: has 40 IPv6 VRPs, compared with 100 in the last good version",
      );
    });
  });

  test("the file of another registry, whatever it has of its own", async () => {
    await atWork(async (place) => {
      await place.write("ripe", delegatedFile("afrinic", 60));
      await run(place, allSources);
      const before = await place.current();
      await place.write("ripe", delegatedFile("apnic", 90, "20251121"));
      expect((await failed(run(place, allSources))).message).toMatch(
        /ripe: has 0 records of afrinic, compared with 60 in the last good version: 60 are missing, more than kind_shrink_max \(0\.02\) allows/,
      );
      expect(await place.current()).toBe(before);
    });
  });

  test("a plain file of a registry in the place of its extended one: no record would have a holder", async () => {
    await atWork(async (place) => {
      const extended = delegatedFile("ripencc", 60);
      await place.write("ripe", extended);
      await run(place, allSources);
      const before = await place.current();
      await place.write("ripe", extended.replaceAll(/\|holder-\d+$/gm, ""));
      expect((await failed(run(place, allSources))).message).toMatch(
        /ripe: has 0 records with a holder, compared with 60 in the last good version: 60 are missing, more than kind_shrink_max \(0\.02\) allows/,
      );
      expect(await place.current()).toBe(before);
    });
  });

  test("a list of names that lacks more than a fiftieth of its names, and more than 50", async () => {
    await atWork(async (place) => {
      await place.write("names", namesFile(3_000));
      await run(place, allSources);
      await place.write("names", namesFile(2_930));
      expect((await failed(run(place, allSources))).message).toMatch(
        /names: has 2930 names, compared with 3000 in the last good version: 70 are missing/,
      );
      await place.write("names", namesFile(2_945));
      expect(sourceOf(await run(place, allSources), "names")).toMatchObject({ accepted: 2_945 });
    });
  });

  test("exactly the share that shrink_max allows is trusted", async () => {
    await atWork(async (place) => {
      await run(place, allSources);
      await place.write("ripe", delegatedFile("ripencc", 8));
      expect(sourceOf(await run(place, allSources), "ripe")).toMatchObject({ accepted: 8 });
    });
  });
});

describe("an optional source that cannot be trusted", () => {
  const yaml = optional(allSources, "rib", "ripe", "vrps", "names");

  test("if no other source was read either, a first run publishes nothing, and gives the reasons", async () => {
    await atWork(async (place) => {
      for (const name of ["rib", "ripe", "vrps", "names"]) await place.write(name, "rubbish");
      const { message } = await failed(run(place, yaml));
      expect(message).toMatch(/^no source could be read, so there are no data to publish: (.+: .+; ){3}and 1 more$/);
      expect(message).toContain(`ripe: ${join(place.folder, "ripe")}`);
      expect(await place.store.currentId()).toBeNull();

      await place.write("names", namesFile());
      expect(await run(place, yaml)).toMatchObject({ error: null, snapshot: expect.any(String) });
      // There is a snapshot now, whose sections stay.
      await place.write("names", "rubbish");
      expect(await run(place, yaml)).toMatchObject({ error: null, unchanged: false });
    });
  });

  test.each(["rib", "ripe", "vrps", "names"])("%s: its section stays as the last snapshot has it", async (name) => {
    await atWork(async (place) => {
      await run(place, yaml);
      const before = (await place.store.getManifest((await place.store.currentId()) as string)).sections;
      await place.write(name, "rubbish");
      const report = await run(place, yaml);
      const after = (await place.store.getManifest(report.snapshot as string)).sections;
      const section = sourceOf(report, name)?.section as keyof typeof before;
      const error = "could not be read in the last run; the previous version is in use";
      const sources = before[section]?.sources.map((source) => ({ ...source, error, accepted_before: source.accepted }));
      expect(after[section]).toEqual({ ...before[section], sources });
      expect(sectionOf(report, section)).toMatchObject({ kept: true });
      expect(sourceOf(report, name)).toMatchObject({ state: "failed", error: expect.stringContaining(join(place.folder, name)) });
      expect(reportText(report)).toContain(`${name}: left out: ${join(place.folder, name)}`);
      await expect(generationOf(place.store)).resolves.toBeDefined();
    });
  });

  test("without a last snapshot, its section is not there, and the others are", async () => {
    await atWork(async (place) => {
      await place.write("vrps", "rubbish");
      const report = await run(place, yaml);
      expect(report.sections.map(({ name }) => name)).toEqual(["routes", "allocations", "as_names"]);
      expect((await generationOf(place.store)).vrps).toBeNull();
    });
  });

  test("routes of the last snapshot tell which new VRPs are loose", async () => {
    await atWork(async (place) => {
      await run(place, yaml);
      await place.write("rib", "rubbish");
      await place.write("vrps", vrpFile(12));
      await run(place, yaml);
      expect((await generationOf(place.store)).manifest.sections.vrps?.counts).toMatchObject({ vrps: 12, loose: 1 });
    });
  });

  test("without routes, nothing says how many VRPs are loose", async () => {
    await atWork(async (place) => {
      await run(place, "sources:\n  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps}\n");
      expect((await generationOf(place.store)).manifest.sections.vrps?.counts).toEqual({ vrps: 10, prefixes: 10 });
    });
  });

  const two = optional(allSources, "rib", "ripe").replace(
    "sources:",
    "sources:\n  - {name: rib2, section: routes, format: mrt, location: rib2}\n  - {name: arin, section: allocations, format: delegated, location: arin}",
  );

  test("a RIB that breaks midway leaves nothing of itself behind, and the report tells why", async () => {
    await atWork(async (place) => {
      await place.write("rib2", ribFile(5));
      await place.write("arin", delegatedFile("arin"));
      const alone = await run(place, two.replace(/.*name: rib,.*\n/, ""));
      const { object } = (await place.store.getManifest(alone.snapshot as string)).sections.routes ?? {};
      await place.write("rib", ribFile().subarray(0, 700));
      const report = await run(place, two);
      const { routes } = (await place.store.getManifest(report.snapshot as string)).sections;
      expect(routes?.object).toBe(object);
      expect(routes).toMatchObject({ collectors: ["rib2"], peers_total: { ipv4: 2 } });
      expect(routes?.sources.map(({ name, error }) => [name, error])).toEqual([
        ["rib2", null],
        ["rib", "could not be read in the last run"],
      ]);
      expect(sourceOf(report, "rib")?.error).toMatch(/rib: byte \d+: /);
      expect(report.sources.map(({ name }) => name).sort()).toEqual(["arin", "names", "rib", "rib2", "ripe", "vrps"]);
    });
  });

  test("one that shrank adds none of its records, and is measured against its last good ones next time too", async () => {
    await atWork(async (place) => {
      await place.write("rib2", ribFile(5));
      await place.write("arin", delegatedFile("arin", 4));
      // What the section as a whole may lose is another matter.
      const loose = `section_shrink_max: {allocations: 100%}\n${two}`;
      const recordsOf = async () => (await generationOf(place.store)).manifest.sections.allocations?.counts.ipv4;
      await run(place, loose);
      expect(await recordsOf()).toBe(14);
      await place.write("ripe", delegatedFile("ripencc", 3));
      for (let again = 0; again < 2; again++) {
        const report = await run(place, loose);
        expect(sourceOf(report, "ripe")?.error).toContain("has 3 records, compared with 10 in the last good version");
        expect(await recordsOf()).toBe(4);
      }
      await place.write("ripe", delegatedFile("ripencc", 9));
      await run(place, loose);
      expect(await recordsOf()).toBe(13);
    });
  });
});

describe("times of a section", () => {
  test("names that tell no date are as of what sources.yaml says, else of when their file was written", async () => {
    await atWork(async (place) => {
      const asOf = async (yaml: string) => sourceOf(await run(place, yaml), "names")?.as_of;
      expect(await asOf(allSources)).toBe("2025-11-21T04:40:00Z");
      expect(await asOf(allSources.replace("location: names", "location: names, as_of: 2024-05-24"))).toBe("2024-05-24T00:00:00Z");
    });
  });

  const yaml = (one: string, other: string) => `
full_feed_min: {ipv4: 1, ipv6: 1}
sources:
  - {name: one, section: allocations, format: delegated, location: one, ${one}}
  - {name: other, section: allocations, format: delegated, location: other, ${other}}
`;
  const timesOf = async (one: string, other: string) =>
    atWork(async (place) => {
      await place.write("one", delegatedFile("ripencc", 10, "20251101"));
      await place.write("other", delegatedFile("arin", 10, "20251111"));
      const { snapshot } = await run(place, yaml(one, other));
      const { as_of, stale_after_seconds, interval_seconds } =
        (await place.store.getManifest(snapshot as string)).sections.allocations ?? {};
      return { as_of, stale_after_seconds, interval_seconds };
    });
  const day = 86_400;

  test("it is as of its oldest source, and stale when the first of its sources is", async () => {
    expect(await timesOf("interval: 1d", "interval: 1d")).toEqual({
      as_of: "2025-11-01T00:00:00Z",
      stale_after_seconds: 2 * day + 3600,
      interval_seconds: day,
    });
    expect(await timesOf("interval: 1d, stale_after: 30d", "interval: 1d, stale_after: 2d")).toMatchObject({
      stale_after_seconds: 12 * day,
    });
  });

  test("an old source that never goes stale does not make a fresh one stale", async () => {
    expect(await timesOf("stale_after: never", "interval: 1d")).toEqual({
      as_of: "2025-11-01T00:00:00Z",
      stale_after_seconds: 12 * day + 3600,
      interval_seconds: 11 * day,
    });
    expect(await timesOf("stale_after: never", "stale_after: never")).toMatchObject({ stale_after_seconds: null, interval_seconds: null });
  });
});

test("a snapshot that keeps a section of the sample is sample data still", async () => {
  await atWork(async (place) => {
    expect(await run(place, `sample_data: true${allSources}`)).toMatchObject({ sample_data: true });
    const sampleOf = async () => (await generationOf(place.store)).manifest.sample_data;
    expect(await sampleOf()).toBe(true);
    await run(place, allSources.replace(/.*name: names.*\n/, ""));
    expect(await sampleOf()).toBe(true);
    await run(place, allSources);
    expect(await sampleOf()).toBe(false);
  });
});

describe("a run that is stopped, or cannot write", () => {
  test("publishes nothing once it is aborted, whenever that was", async () => {
    await atWork(async (place) => {
      const config = await place.sources(optional(allSources, "rib", "ripe", "vrps", "names"));
      const seen = new Set<string>();
      for (const label of ["read rib", "read names", "build"]) {
        const stop = new AbortController();
        const onProgress = (event: ProgressEvent) => {
          seen.add(event.label);
          if (event.label === label) stop.abort();
        };
        const error = await failed(runIngest({ config, store: place.store, signal: stop.signal, onProgress }));
        expect(error.message).toBe("stopped; nothing was published");
        expect(await place.store.currentId()).toBeNull();
      }
      expect(seen.has("publish")).toBe(false);
      const first = new Set<string>();
      const stop = new AbortController();
      const onProgress = ({ label }: ProgressEvent) => {
        first.add(label);
        stop.abort();
      };
      await failed(runIngest({ config, store: place.store, signal: stop.signal, onProgress }));
      expect([...first]).toEqual(["read rib"]);
      expect((await failed(runIngest({ config, store: place.store, signal: AbortSignal.abort() }))).message).toBe(
        "stopped; nothing was published",
      );
    });
  });

  const failing = (store: SnapshotStore, step: "putObject" | "publish", code: string): SnapshotStore => ({
    ...store,
    [step]: async () => {
      throw Object.assign(new Error(`${code}: write`), { code });
    },
  });

  test.each([
    ["putObject", "ENOSPC", /^the disk is full: .*; nothing was published$/],
    ["publish", "ENOSPC", /^the disk is full: .*; nothing was published$/],
    ["putObject", "EACCES", /^cannot write: .*; nothing was published$/],
    ["publish", "EROFS", /^cannot write: .*; nothing was published$/],
  ] as const)("%s failing with %s is one clear line, and what served is untouched", async (step, code, message) => {
    await atWork(async (place) => {
      await run(place, allSources);
      const before = await place.current();
      await place.write("names", namesFile(11));
      const error = await failed(runIngest({ config: await place.sources(allSources), store: failing(place.store, step, code) }));
      expect(error.message).toMatch(message);
      expect(await place.current()).toBe(before);
    });
  });

  test("a stored object that went bad is written anew by the next run", async () => {
    await atWork(async (place) => {
      const { snapshot } = await run(place, allSources);
      const objects = join(place.folder, "snapshots", "objects");
      for (const name of await readdir(objects)) await writeFile(join(objects, name), "damaged");
      await expect(generationOf(place.store)).rejects.toThrow();
      expect((await run(place, allSources)).snapshot).toBe(snapshot);
      await expect(generationOf(place.store)).resolves.toBeDefined();
    });
  });

  test("a damaged manifest counts as none: the run replaces it", async () => {
    await atWork(async (place) => {
      const { snapshot } = await run(place, allSources);
      await writeFile(join(place.folder, "snapshots", "manifests", `${snapshot}.json`), "{");
      expect(await run(place, allSources)).toMatchObject({ snapshot, unchanged: false });
      await expect(generationOf(place.store)).resolves.toBeDefined();
    });
  });

  test("that of a newer program ends the run, and stays", async () => {
    await atWork(async (place) => {
      const { snapshot } = await run(place, allSources);
      const path = join(place.folder, "snapshots", "manifests", `${snapshot}.json`);
      const newer = (await readFile(path, "utf8")).replace('"format_version": 1', '"format_version": 2');
      await writeFile(path, newer);
      await expect(run(place, allSources)).rejects.toThrow("start the newer version of Netfacts that wrote it");
      expect([await place.store.currentId(), await readFile(path, "utf8")]).toEqual([snapshot, newer]);
    });
  });
});

describe("a run that must not publish", () => {
  const namesOnly = (file: string) =>
    `sources:\n  - {name: names, section: as_names, format: name-list, location: ${file}, shrink_max: 100%}\n`;

  test("does not when it is told so just before, and leaves nothing of it current", async () => {
    await atWork(async (place) => {
      await writeFile(join(place.folder, "names"), namesFile());
      const config = await place.sources(namesOnly("names"));
      let asked = 0;
      const beforePublish = async () => {
        asked++;
        throw new Error("another leads");
      };
      const error = await failed(runIngest({ config, store: place.store, beforePublish }));
      expect([asked, error.message, await place.store.currentId()]).toEqual([1, "another leads", null]);
    });
  });

  test("does not go over a snapshot that was published since it began", async () => {
    await atWork(async (place) => {
      await writeFile(join(place.folder, "names"), namesFile());
      await writeFile(join(place.folder, "others"), namesFile(5));
      const [config, other] = [await place.sources(namesOnly("names")), await place.sources(namesOnly("others"))];
      let theirs: string | null = null;
      const beforePublish = async () => {
        theirs = (await runIngest({ config: other, store: place.store })).snapshot;
        return undefined;
      };
      const error = await failed(runIngest({ config, store: place.store, beforePublish }));
      expect(error.message).toContain("another publisher was first");
      expect(theirs).not.toBeNull();
      expect(await place.store.currentId()).toBe(theirs);
    });
  });
});
