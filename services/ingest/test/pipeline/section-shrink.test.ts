/** What a section may lose against the last snapshot: refused it stays as it was, and the run tells. */

import { describe, expect, test } from "@jest/globals";
import { type RunReport, reportText, runIngest } from "../../src/app.ts";
import { atWork, delegatedFile, namesFile, ribFile, vrpFile, type Workplace } from "../support/made-files.ts";

/** Two registries of ten records each, either of which may be away. */
const registries = `
full_feed_min: {ipv4: 1, ipv6: 1}
sources:
  - {name: rib, section: routes, format: mrt, location: rib}
  - {name: ripe, section: allocations, format: delegated, required: false, location: ripe}
  - {name: arin, section: allocations, format: delegated, required: false, location: arin}
  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps}
`;

const arinFile = delegatedFile("arin").replaceAll("11.0.", "12.0.");
const sectionOf = ({ sections }: RunReport, name: string) => sections.find((section) => section.name === name);
const manifestOf = async ({ store }: Workplace) => store.getManifest((await store.currentId()) as string);

test("with sources gone that are not required, what is left does not replace the whole; other sections go on", async () => {
  await atWork(async (place) => {
    await place.write("arin", arinFile);
    const config = await place.sources(registries);
    await runIngest({ config, store: place.store });
    const before = await manifestOf(place);
    await place.write("arin", "rubbish");
    await place.write("vrps", vrpFile(11));
    const report = await runIngest({ config, store: place.store });
    const reason = "has 10 IPv4 records, compared with 20 in the last snapshot: it shrank by more than section_shrink_max (0.2) allows";
    expect(sectionOf(report, "allocations")).toMatchObject({ kept: true, refused: reason, counts: { ipv4: 20 } });
    expect(sectionOf(report, "vrps")).toMatchObject({ kept: false, refused: null, counts: { vrps: 11 } });
    const after = await manifestOf(place);
    const refused =
      "the section that it was part of in the last run was refused, because the section had shrunk; the previous one is in use";
    const unread = "could not be read in the last run; the previous version is in use";
    const notesOf = (error: string) => ({ error, accepted_before: 10 });
    expect(after.sections.allocations).toEqual({
      ...before.sections.allocations,
      sources: before.sections.allocations?.sources.map((one) => ({ ...one, ...notesOf(one.name === "arin" ? unread : refused) })),
    });
    expect(after.sections.vrps).not.toEqual(before.sections.vrps);
    expect(reportText(report)).toContain(
      `not published: the new section ${reason}; to accept it for one run, add --accept-shrink allocations`,
    );

    const accepted = await runIngest({ config, store: place.store, acceptShrink: ["allocations"] });
    expect(sectionOf(accepted, "allocations")).toMatchObject({ kept: false, refused: null, counts: { ipv4: 10 } });
    // What was accepted is the measure from now on.
    expect(sectionOf(await runIngest({ config, store: place.store }), "allocations")).toMatchObject({ kept: false, refused: null });
  });
});

test("a section none of whose sources could be read stays, and each of them says so until it is read again", async () => {
  await atWork(async (place) => {
    await place.write("arin", arinFile);
    const config = await place.sources(registries);
    await runIngest({ config, store: place.store });
    const first = await manifestOf(place);
    await place.write("arin", "rubbish");
    await place.write("ripe", delegatedFile("ripencc", 3));
    for (let again = 0; again < 2; again++) {
      await runIngest({ config, store: place.store });
      const { sections } = await manifestOf(place);
      expect(sections.allocations?.object).toBe(first.sections.allocations?.object);
      const error = "could not be read in the last run; the previous version is in use";
      const read = { accepted: 10, skipped: 0, error, accepted_before: 10 };
      expect(sections.allocations?.sources).toMatchObject([
        { name: "ripe", ...read },
        { name: "arin", ...read },
      ]);
      expect(sections.vrps).toEqual(first.sections.vrps);
    }
    await place.write("arin", arinFile);
    await place.write("ripe", delegatedFile("ripencc"));
    await runIngest({ config, store: place.store });
    expect(await manifestOf(place)).toEqual(first);
  });
});

test("a bound of the file goes before that of the sources, and the loosest source is that of its section", async () => {
  await atWork(async (place) => {
    await place.write("arin", arinFile);
    await runIngest({ config: await place.sources(registries), store: place.store });
    await place.write("arin", "rubbish");
    for (const [yaml, refused] of [
      [registries.replace("sources:", "section_shrink_max: {allocations: 49%}\nsources:"), true],
      [registries.replace("location: ripe", "location: ripe, shrink_max: 49%"), true],
      [
        registries
          .replace("location: ripe", "location: ripe, shrink_max: 90%")
          .replace("sources:", "section_shrink_max: {allocations: 0}\nsources:"),
        true,
      ],
      [registries.replace("location: ripe", "location: ripe, shrink_max: 50%"), false],
    ] as const) {
      const report = await runIngest({ config: await place.sources(yaml), store: place.store });
      expect({ yaml, refused: sectionOf(report, "allocations")?.refused !== null }).toEqual({ yaml, refused });
    }
  });
});

test("a source that is taken off the list may take its records with it", async () => {
  await atWork(async (place) => {
    await place.write("arin", arinFile);
    await runIngest({ config: await place.sources(registries), store: place.store });
    const report = await runIngest({ config: await place.sources(registries.replace(/.*name: arin.*\n/, "")), store: place.store });
    expect(sectionOf(report, "allocations")).toMatchObject({ kept: false, refused: null, counts: { ipv4: 10 } });
  });
});

test("over routes that were not taken the VRPs are built by the routes that stay, whose paths stay too", async () => {
  await atWork(async (place) => {
    const yaml = `section_shrink_max: {routes: 10%}\n${registries.replace(/.*name: (ripe|arin).*\n/g, "").replace("location: rib}", "location: rib, shrink_max: 100%}")}`;
    const config = await place.sources(yaml);
    await runIngest({ config, store: place.store });
    const before = await manifestOf(place);
    await place.write("rib", ribFile(5));
    const report = await runIngest({ config, store: place.store });
    expect(sectionOf(report, "routes")?.refused).toContain("has 5 IPv4 prefixes, compared with 20 in the last snapshot");
    expect(sectionOf(report, "vrps")).toMatchObject({ kept: false });
    const after = await manifestOf(place);
    expect([after.sections.routes?.object, after.sections.vrps?.object, after.ingest_objects]).toEqual([
      before.sections.routes?.object,
      before.sections.vrps?.object,
      before.ingest_objects,
    ]);
  });
});

test("what the operator's own exceptions take out is no loss", async () => {
  await atWork(async (place) => {
    const slurm = (prefixFilters: readonly object[]) =>
      JSON.stringify({
        slurmVersion: 1,
        validationOutputFilters: { prefixFilters, bgpsecFilters: [] },
        locallyAddedAssertions: { prefixAssertions: [], bgpsecAssertions: [] },
      });
    const yaml = `sources:
  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps}
  - {name: slurm, section: vrps, format: slurm, location: slurm}
`;
    await place.write("slurm", slurm([]));
    const config = await place.sources(yaml);
    await runIngest({ config, store: place.store });
    await place.write("slurm", slurm([{ prefix: "11.0.0.0/20" }]));
    const report = await runIngest({ config, store: place.store });
    expect(sectionOf(report, "vrps")).toMatchObject({ kept: false, refused: null, counts: { vrps: 0, slurm_filtered: 10 } });
  });
});

test("an exception that adds what a validator has already is no loss", async () => {
  await atWork(async (place) => {
    const slurm = (prefixAssertions: readonly object[]) =>
      JSON.stringify({
        slurmVersion: 1,
        validationOutputFilters: { prefixFilters: [], bgpsecFilters: [] },
        locallyAddedAssertions: { prefixAssertions, bgpsecAssertions: [] },
      });
    await place.write("slurm", slurm([]));
    const config = await place.sources(`sources:
  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps}
  - {name: slurm, section: vrps, format: slurm, location: slurm}
`);
    await runIngest({ config, store: place.store });
    await place.write("slurm", slurm([1, 2, 3, 4].map((at) => ({ asn: 9, prefix: `11.0.${at}.0/24` }))));
    const report = await runIngest({ config, store: place.store });
    expect(sectionOf(report, "vrps")).toMatchObject({ kept: false, refused: null, counts: { vrps: 10, slurm_asserted: 0 } });
  });
});

test("what an operator writes alone may lose what it likes, and accepting a section accepts its sources", async () => {
  await atWork(async (place) => {
    await place.write("types", "resource,network_type\n11.0.0.0/20,eyeball\n12.0.0.0/24,hosting\nAS9,cdn\n");
    const yaml = `sources:
  - {name: types, section: network_types, format: network-types-csv, location: types}
  - {name: names, section: as_names, format: name-list, location: names}
`;
    const config = await place.sources(yaml);
    await runIngest({ config, store: place.store });
    await place.write("types", "resource,network_type\n11.0.0.0/20,eyeball\n");
    expect(sectionOf(await runIngest({ config, store: place.store }), "network_types")).toMatchObject({
      refused: null,
      counts: { asns: 0 },
    });
    await place.write("types", "resource,network_type\n");
    expect(sectionOf(await runIngest({ config, store: place.store }), "network_types")).toMatchObject({
      refused: null,
      counts: { prefixes: 0, asns: 0 },
    });
    await place.write("names", namesFile(2));
    await expect(runIngest({ config, store: place.store, acceptShrink: ["network_types"] })).rejects.toThrow(
      /shrank by more than shrink_max/,
    );
    const report = await runIngest({ config, store: place.store, acceptShrink: ["as_names"] });
    expect(sectionOf(report, "as_names")).toMatchObject({ kept: false, refused: null, counts: { names: 2 } });
  });
});

describe("lines that an operator takes out of a list", () => {
  const lists = `sources:
  - {name: exits, section: network_types, format: prefix-list, network_type: vpn, location: exits}
  - {name: own, section: network_types, format: network-types-csv, location: own}
`;
  const exits = (count: number) => Array.from({ length: count }, (_, at) => `11.0.${at}.0/24\n`).join("");
  const own = (count: number) => `resource,network_type\n${Array.from({ length: count }, (_, at) => `12.0.${at}.0/24,isp\n`).join("")}`;

  test("are no loss of the section, down to the last one", async () => {
    await atWork(async (place) => {
      await place.write("exits", exits(10));
      await place.write("own", own(20));
      const config = await place.sources(lists);
      for (const count of [20, 1, 0]) {
        await place.write("own", own(count));
        const report = await runIngest({ config, store: place.store });
        expect(sectionOf(report, "network_types")).toMatchObject({ kept: false, refused: null, counts: { prefixes: 10 + count } });
      }
    });
  });

  test("do not allow other sources to lose more, nor does a list that cannot be read", async () => {
    await atWork(async (place) => {
      await place.write("exits", exits(10));
      await place.write("own", own(20));
      const config = await place.sources(lists.replaceAll("location:", "required: false, location:"));
      await runIngest({ config, store: place.store });
      await place.write("own", "resource,network_type");
      expect(sectionOf(await runIngest({ config, store: place.store }), "network_types")?.refused).toContain(
        "has 10 prefixes, compared with 30",
      );
      await place.write("own", own(0));
      await place.write("exits", exits(7));
      expect(sectionOf(await runIngest({ config, store: place.store }), "network_types")?.refused).toContain(
        "has 0 prefixes, compared with 30",
      );
    });
  });
});
