/** RPKI sources together in a run: several exports, ASPAs, local exceptions, and of when the sections are. */

import { describe, expect, test } from "@jest/globals";
import { formatPrefix } from "@netfacts/address";
import { Generation, loadSnapshot, type SnapshotStore } from "@netfacts/snapshot";
import { runIngest } from "../../src/app.ts";
import { atWork, namesFile, vrpFile, type Workplace } from "../support/made-files.ts";

async function generationOf(store: SnapshotStore): Promise<Generation> {
  return Generation.of(await loadSnapshot(store, await store.getManifest((await store.currentId()) as string)));
}

const run = async ({ sources, store }: Workplace, ...lines: string[]) =>
  runIngest({ config: await sources(`sources:\n${lines.map((line) => `  - ${line}\n`).join("")}`), store });

const withAspas = (aspas: object[], buildtime?: string) =>
  JSON.stringify({ ...(JSON.parse(vrpFile(2, buildtime)) as object), aspas: aspas.map((aspa) => ({ expires: 1_900_000_000, ...aspa })) });
const slurmFile = (prefixFilters: object[], prefixAssertions: object[]) =>
  JSON.stringify({
    slurmVersion: 1,
    validationOutputFilters: { prefixFilters, bgpsecFilters: [] },
    locallyAddedAssertions: { prefixAssertions, bgpsecAssertions: [] },
  });

const exported = "{name: vrps, section: vrps, format: rpki-client-json, location: vrps}";

test("an export's ASPAs become a section with its own counts and sources", async () => {
  await atWork(async (place) => {
    await place.write(
      "vrps",
      withAspas([
        { customer_asid: 9, providers: [3, 2] },
        { customer_asid: 10, providers: [1], expires: 5 },
      ]),
    );
    await run(place, exported);
    const generation = await generationOf(place.store);
    expect(generation.aspas?.lookupAspa(9)?.providers).toEqual([2, 3]);
    expect(generation.aspas?.lookupAspa(10)).toBeNull();
    expect(generation.manifest.sections.aspas).toMatchObject({
      version: "20251121T085012Z",
      as_of: "2025-11-21T08:50:12Z",
      counts: { customers: 1, providers: 2 },
      sources: [{ name: "vrps", accepted: 1, skipped: 1 }],
    });
    expect(generation.manifest.sections.vrps?.sources).toMatchObject([{ name: "vrps", accepted: 2, skipped: 0 }]);
  });
});

test("an export without ASPAs leaves it open who has one; a format that has none does not end what another tells", async () => {
  await atWork(async (place) => {
    await run(place, exported);
    expect((await generationOf(place.store)).aspas).toBeNull();
    await place.write(
      "ext",
      JSON.stringify({ roas: [{ asn: "AS7", prefix: "12.0.0.0/8", maxLength: 8 }], aspas: [{ customer: "AS7", providers: ["AS8"] }] }),
    );
    await place.write("csv", "ASN,IP Prefix,Max Length,Trust Anchor\nAS5,11.9.0.0/16,16,ripe\n");
    await run(
      place,
      exported,
      "{name: csv, section: vrps, format: routinator-csv, location: csv}",
      "{name: ext, section: vrps, format: routinator-jsonext, location: ext}",
    );
    const generation = await generationOf(place.store);
    expect(generation.vrps?.size).toBe(12);
    expect(generation.aspas?.aspaAt(0)).toEqual({ customer: 7, providers: [8], ta: null, expiresAt: null });
    expect(generation.manifest.sections.aspas?.sources.map(({ name }) => name)).toEqual(["ext"]);
  });
});

describe("ASPAs that no source has any more", () => {
  const customers = async ({ store }: Workplace) => (await generationOf(store)).aspas?.size ?? null;
  const csv = exported.replace("rpki-client-json, location: vrps", "routinator-csv, location: csv");
  const ended = "no source has ASPAs any more: section aspas was removed";

  /** A snapshot with an ASPA of `vrps`, and files without any. */
  const atAspas = (use: (place: Workplace) => Promise<void>) =>
    atWork(async (place) => {
      await place.write("vrps", withAspas([{ customer_asid: 9, providers: [3] }]));
      await place.write("csv", "ASN,IP Prefix,Max Length,Trust Anchor\nAS9,11.0.0.0/24,25,ripe\nAS9,11.0.1.0/24,24,ripe\n");
      await place.write("other", vrpFile(2, "2025-11-21T08:55:00Z"));
      await run(place, exported);
      expect(await customers(place)).toBe(1);
      await use(place);
    });

  test("are removed when their source has another format now, and come back with the next export that has some", async () => {
    await atAspas(async (place) => {
      const report = await run(place, csv);
      expect(await customers(place)).toBeNull();
      expect((await generationOf(place.store)).manifest.removed_sections).toEqual(["aspas"]);
      expect(report.sources[0]?.notes).toContain(ended);
      expect((await run(place, csv)).sources[0]?.notes).not.toContain(ended);
      await run(place, exported);
      expect(await customers(place)).toBe(1);
    });
  });

  test("are removed when their source is no longer listed, but not while another source could not be read", async () => {
    await atAspas(async (place) => {
      const other = exported.replace("name: vrps", "name: other").replace("location: vrps", "location: other");
      await run(place, other, "{name: more, section: vrps, format: rpki-client-json, location: away, required: false}");
      expect(await customers(place)).toBe(1);
      await run(place, other);
      expect(await customers(place)).toBeNull();
    });
  });

  test("stay when one of their sources left the list, and the other one only lacks them", async () => {
    await atAspas(async (place) => {
      await place.write("other", withAspas([{ customer_asid: 10, providers: [3] }]));
      await run(place, exported, "{name: other, section: vrps, format: rpki-client-json, location: other}");
      expect(await customers(place)).toBe(2);
      await place.write("vrps", vrpFile(2));
      await run(place, exported);
      expect(await customers(place)).toBe(2);
    });
  });

  test("stay when their source only lacks them in the same format, until that is accepted", async () => {
    await atAspas(async (place) => {
      await place.write("vrps", vrpFile(2));
      const report = await run(place, exported);
      expect(report.sections.find(({ name }) => name === "aspas")).toMatchObject({
        kept: true,
        refused: "has 0 ASPAs, compared with 1 in the last snapshot: it shrank by more than section_shrink_max (0.2) allows",
      });
      expect(await customers(place)).toBe(1);
      await runIngest({ config: await place.sources(`sources:\n  - ${exported}\n`), store: place.store, acceptShrink: ["aspas"] });
      expect(await customers(place)).toBeNull();
    });
  });
});

/** An export with so many VRPs of each trust anchor. */
const ofAnchors = (counts: Record<string, number>) => {
  const roas = Object.entries(counts).flatMap(([ta, count], at) =>
    Array.from({ length: count }, (_, number) => ({ asn: 9, prefix: `11.${at}.${number}.0/24`, maxLength: 24, ta })),
  );
  return JSON.stringify({ metadata: { buildtime: "2025-11-21T08:50:12Z" }, roas });
};

test("VRPs without most of those of one trust anchor are refused, few as they are among all; a few may go", async () => {
  await atWork(async (place) => {
    await place.write("vrps", ofAnchors({ ripe: 250, arin: 250, apnic: 250, LACNIC: 70, test: 40 }));
    await run(place, exported);
    await place.write("vrps", ofAnchors({ ripe: 250, arin: 250, apnic: 250, lacnic: 20 }));
    await run(place, exported);
    const before = await place.current();
    await place.write("vrps", ofAnchors({ ripe: 250, arin: 250, apnic: 150, lacnic: 20 }));
    await expect(run(place, exported)).rejects.toThrow(
      /vrps: has 150 VRPs of apnic, compared with 250 in the last good version: 100 are missing, more than kind_shrink_max \(0\.2\) allows; if that is meant, accept it for one run with --accept-shrink vrps$/,
    );
    expect(await place.current()).toBe(before);
  });
});

test("a trust anchor that another validator names otherwise is refused with its new name, and accepted once for all", async () => {
  await atWork(async (place) => {
    await place.write("vrps", ofAnchors({ ripe: 90, arin: 80 }));
    await run(place, exported);
    await place.write("vrps", ofAnchors({ ripe: 90, "arin-rpki-ta": 81 }));
    await expect(run(place, exported)).rejects.toThrow(
      "80 are missing, more than kind_shrink_max (0.2) allows; that version did not have the 81 VRPs of arin-rpki-ta; if that is meant",
    );
    await runIngest({ config: await place.sources(`sources:\n  - ${exported}\n`), store: place.store, acceptShrink: ["vrps"] });
    await place.write("vrps", ofAnchors({ ripe: 91, "arin-rpki-ta": 81 }));
    expect((await run(place, exported)).sections).toMatchObject([{ name: "vrps", kept: false, counts: { vrps: 172 } }]);
  });
});

test("the section is stale from the time at which more than 1 % of its VRPs have expired, unless its source never is", async () => {
  await atWork(async (place) => {
    // The n-th of these VRPs expires n × 1,000 s after 08:50:12.
    const expiring = (count: number, of: number) => {
      const first = Date.parse("2025-11-21T08:50:12Z") / 1000;
      let at = 0;
      return vrpFile(of).replaceAll("1900000000", (far) => (at < count ? String(first + ++at * 1_000) : far));
    };
    const staleAfter = async () => (await generationOf(place.store)).manifest.sections.vrps?.stale_after_seconds;
    await run(place, exported);
    expect(await staleAfter()).toBe(3 * 3600);
    await place.write("vrps", expiring(2, 200));
    await run(place, exported);
    expect(await staleAfter()).toBe(3 * 3600);
    await place.write("vrps", expiring(5, 200));
    await run(place, exported);
    expect(await staleAfter()).toBe(3_000);
    await place.write("vrps", expiring(5, 199));
    await run(place, exported);
    expect(await staleAfter()).toBe(2_000);
    await run(place, exported.replace("location", "stale_after: never, location"));
    expect(await staleAfter()).toBeNull();
  });
});

test("local exceptions apply to what all exports say together, and are of no time", async () => {
  await atWork(async (place) => {
    await place.write("other", vrpFile(12, "2025-11-21T08:55:00Z"));
    await place.write("slurm", slurmFile([{ prefix: "11.0.0.0/21" }], [{ asn: 64496, prefix: "11.0.0.0/24" }]));
    const report = await run(
      place,
      exported,
      "{name: local, section: vrps, format: slurm, location: slurm}",
      "{name: other, section: vrps, format: rpki-client-json, location: other}",
    );
    const { vrps, manifest } = await generationOf(place.store);
    // 11.0.0.0/24 to 11.0.7.0/24 are taken out of both; four others are left, and one is added.
    expect(Array.from({ length: vrps?.size ?? 0 }, (_, at) => vrps?.vrpAt(at)).map((vrp) => [vrp?.asn, vrp?.ta, vrp?.expiresAt])).toEqual([
      [64496, "slurm", null],
      ...Array.from({ length: 4 }, () => [9, "ripe", 1_900_000_000]),
    ]);
    expect(manifest.sections.vrps).toMatchObject({ as_of: "2025-11-21T08:50:12Z", stale_after_seconds: 10_800 });
    expect(manifest.sections.vrps?.counts).toMatchObject({ vrps: 5, slurm_filtered: 8, slurm_asserted: 1 });
    expect(report.sources.find(({ name }) => name === "local")).toMatchObject({ read: 2, accepted: 2 });
  });
});

test("filters that are taken back let the VRPs of all exports return: a VRP of two exports was removed once", async () => {
  await atWork(async (place) => {
    const lines = [
      exported,
      "{name: other, section: vrps, format: rpki-client-json, location: other}",
      "{name: local, section: vrps, format: slurm, location: slurm}",
    ];
    await place.write("other", vrpFile(12));
    await place.write("slurm", slurmFile([{ prefix: "11.0.0.0/21" }], []));
    expect((await run(place, ...lines)).sections).toMatchObject([{ name: "vrps", counts: { vrps: 4, slurm_filtered: 8 } }]);
    await place.write("slurm", slurmFile([], []));
    expect((await run(place, ...lines)).sections).toMatchObject([{ name: "vrps", refused: null, counts: { vrps: 12, slurm_filtered: 0 } }]);
  });
});

test("without the VRPs that they are exceptions to, local exceptions are no section: what served stays, and what is unknown is not not-found", async () => {
  await atWork(async (place) => {
    const away = exported.replace("location: vrps", "location: away, required: false");
    await place.write("slurm", slurmFile([], [{ asn: 64496, prefix: "12.0.0.0/24" }]));
    const report = await run(
      place,
      away,
      "{name: local, section: vrps, format: slurm, location: slurm}",
      "{name: names, section: as_names, format: name-list, location: names}",
    );
    expect(report.sections.map(({ name }) => name)).toEqual(["as_names"]);
    expect((await generationOf(place.store)).vrps).toBeNull();

    await run(place, exported.replace("location", "required: false, location"));
    await run(place, away, "{name: local, section: vrps, format: slurm, location: slurm}");
    expect((await generationOf(place.store)).vrps?.size).toBe(10);
  });
});

test("local exceptions alone are no section, whether or not another source is listed, and the report says so", async () => {
  await atWork(async (place) => {
    await place.write("slurm", slurmFile([], [{ asn: 0, prefix: "11.0.0.0/8", maxPrefixLength: 32 }]));
    const local = "{name: local, section: vrps, format: slurm, location: slurm}";
    const names = "{name: names, section: as_names, format: name-list, location: names}";
    const report = await run(place, local, names);
    expect(report.sections.map(({ name }) => name)).toEqual(["as_names"]);
    expect(report.sources[0]?.notes).toContain("not applied: no VRPs were read, and exceptions alone are not data");
    expect((await generationOf(place.store)).vrps).toBeNull();
    await run(place, exported);
    await run(place, local, names);
    expect((await generationOf(place.store)).vrps?.size).toBe(10);
  });
});

describe("local exceptions of two files about the same addresses", () => {
  const names = "{name: names, section: as_names, format: name-list, location: names}";
  const slurm = (name: string, more = "") => `{name: ${name}, section: vrps, format: slurm, location: ${name}${more}}`;
  const optional = ", required: false";
  const asserting = (prefix: string) => slurmFile([], [{ asn: 64496, prefix }]);
  const asserted = async ({ store }: Workplace) => {
    const { vrps } = await generationOf(store);
    const all = Array.from({ length: vrps?.size ?? 0 }, (_, at) => vrps?.vrpAt(at));
    return all.flatMap((vrp) => (vrp?.ta === "slurm" ? [formatPrefix(vrp.prefix)] : []));
  };

  test("an optional file is refused by its name, and all else is imported", async () => {
    await atWork(async (place) => {
      await place.write("a", asserting("12.0.0.0/16"));
      await place.write("b", asserting("13.0.0.0/16"));
      await run(place, exported, slurm("a", optional), slurm("b", optional), names);
      expect(await asserted(place)).toEqual(["12.0.0.0/16", "13.0.0.0/16"]);
      await place.write("b", asserting("12.0.1.0/24"));
      await place.write("names", namesFile(11));
      const report = await run(place, exported, slurm("a", optional), slurm("b", optional), names);
      expect(report.sources).toMatchObject([
        { name: "vrps", state: "read" },
        { name: "a", state: "read" },
        {
          name: "b",
          state: "failed",
          error: expect.stringMatching(/\/b: 12\.0\.1\.0\/24 overlaps 12\.0\.0\.0\/16 of \S+\/a: SLURM files must not cover/),
        },
        { name: "names", accepted: 11 },
      ]);
      expect(await asserted(place)).toEqual(["12.0.0.0/16"]);
      const { manifest } = await generationOf(place.store);
      expect(manifest.sections.vrps?.sources.map(({ name, error }) => [name, error])).toEqual([
        ["vrps", null],
        ["a", null],
        ["b", "could not be read in the last run"],
      ]);
    });
  });

  test("an optional file yields to a required one, although it is listed first; of two required ones the later ends the run", async () => {
    await atWork(async (place) => {
      await place.write("a", asserting("12.0.0.0/16"));
      await place.write("b", asserting("12.0.1.0/24"));
      const report = await run(place, slurm("a", optional), exported, slurm("b"));
      expect(report.sources.map(({ name, state }) => [name, state])).toEqual([
        ["a", "failed"],
        ["vrps", "read"],
        ["b", "read"],
      ]);
      expect(await asserted(place)).toEqual(["12.0.1.0/24"]);
      await expect(run(place, slurm("a"), exported, slurm("b"))).rejects.toThrow(/\/b: 12\.0\.1\.0\/24 overlaps/);
    });
  });

  test("a third file with the content of a refused one is refused too; one with the content of a file in use counts once", async () => {
    await atWork(async (place) => {
      await place.write("a", asserting("12.0.0.0/16"));
      await place.write("b", asserting("12.0.1.0/24"));
      await place.write("c", asserting("12.0.1.0/24"));
      await place.write("d", asserting("12.0.0.0/16"));
      const report = await run(place, exported, ...["a", "b", "c", "d"].map((name) => slurm(name, optional)));
      expect(report.sources.map(({ name, state }) => [name, state])).toEqual([
        ["vrps", "read"],
        ["a", "read"],
        ["b", "failed"],
        ["c", "failed"],
        ["d", "read"],
      ]);
      expect(report.sources[4]?.notes).toContain("has the same content as source a, and is counted once");
    });
  });
});
