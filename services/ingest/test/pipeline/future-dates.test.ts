/** Times that lie in the future: refused, or read with a warning and preferred to nothing. */

import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { type Address, parseAddress } from "@netfacts/address";
import { AnswerNotes, statusRecord } from "@netfacts/records";
import { Generation, loadSnapshot, sealManifest } from "@netfacts/snapshot";
import { ribRecord } from "../../../../libs/mrt/test/support/mrt-writer.ts";
import { IngestError, type RunReport, runIngest } from "../../src/app.ts";
import type { SourceConfig } from "../../src/sources/index.ts";
import { allSources, atWork, delegatedFile, ribFile, vrpFile, type Workplace } from "../support/made-files.ts";
import { madeUpdate } from "../support/made-updates.ts";

const later = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const iso = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
const day = (seconds: number) => iso(seconds).slice(0, 10).replaceAll("-", "");
const year = 365 * 86_400;

async function run(place: Workplace, yaml: string): Promise<RunReport> {
  return runIngest({ config: await place.sources(yaml), store: place.store });
}

async function failure(place: Workplace, yaml: string): Promise<string> {
  const error = await run(place, yaml).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(IngestError);
  return (error as IngestError).message;
}

async function generationOf({ store }: Workplace): Promise<Generation> {
  return Generation.of(await loadSnapshot(store, await store.getManifest((await store.currentId()) as string)));
}

describe("a time in the future", () => {
  test.each<[string, string, () => string | Buffer, string]>([
    ["a registry's header", "ripe", () => delegatedFile("ripencc", 10, day(later(2 * year))), "the time of its data"],
    ["an export's build time", "vrps", () => vrpFile(10, iso(later(7_200))).replaceAll("1900000000", "4000000000"), "the time of its data"],
    ["a table's records", "rib", () => ribFile(20, later(7_200)), "the time of its data"],
    [
      "some of a table's records",
      "rib",
      () => Buffer.concat([ribFile(20, later(0)), ribRecord("11.1.0.0/24", [{ peer: 0, path: "64500 9" }], { timestamp: later(7_200) })]),
      "the time of its data",
    ],
  ])("of %s is refused, and what served stays", async (_what, name, content, what) => {
    await atWork(async (place) => {
      await run(place, allSources);
      const before = await place.current();
      await place.write(name, content());
      expect(await failure(place, allSources)).toMatch(
        new RegExp(
          `${name}: ${what} .* is in the future by more than clock_skew_max \\(3600 s\\); if it is right, set future_dates: warn$`,
        ),
      );
      expect(await place.current()).toBe(before);
    });
  });

  test("of as_of and of the file's own date is refused where these count", async () => {
    await atWork(async (place) => {
      const names = (more: string) => `sources:\n  - {name: names, section: as_names, format: name-list, location: names${more}}\n`;
      expect(await failure(place, names(", as_of: 2099-01-01"))).toMatch(/its as_of in sources.yaml 2099-01-01T00:00:00Z is in the future/);
      await utimes(join(place.folder, "names"), later(7_200), later(7_200));
      expect(await failure(place, names(""))).toMatch(/the time at which the file was written .* is in the future/);
      await run(place, names(", as_of: 2025-01-01"));
    });
  });

  test("of a file that ingest wrote itself, while the clock was ahead, is that of the run", async () => {
    await atWork(async (place) => {
      const { sources, ...list } = await place.sources(
        "sources:\n  - {name: names, section: as_names, format: name-list, location: names}\n",
      );
      await utimes(join(place.folder, "names"), later(year), later(year));
      const fetched = { url: "https://example.net/names", fetchedAt: later(year) * 1_000, lastGood: null, isEarlier: false };
      const asOfWith = async (own: Partial<SourceConfig>) => {
        const before = Date.now() / 1_000;
        await runIngest({ config: { ...list, sources: sources.map((source) => ({ ...source, ...own })) }, store: place.store });
        const { manifest } = await generationOf(place);
        return Date.parse(manifest.sections.as_names?.as_of ?? "") / 1_000 - Math.floor(before);
      };
      for (const own of [{ fetched }, { isFollowed: true }] as const) {
        const seconds = await asOfWith(own);
        expect(seconds).toBeGreaterThanOrEqual(0);
        expect(seconds).toBeLessThan(3_600);
      }
    });
  });

  test("is no future within the bound, nor the day of a registry east of here", async () => {
    await atWork(async (place) => {
      await place.write("rib", ribFile(20, later(3_000)));
      await place.write("ripe", delegatedFile("apnic", 10, day(later(13 * 3600))));
      await run(place, allSources);
      await place.write("rib", ribFile(20, later(6_000)));
      expect(await failure(place, allSources)).toMatch(/rib: .*in the future/);
      await run(place, allSources.replace("location: rib}", "location: rib, clock_skew_max: 2h}"));
    });
  });
});

test("a time before 1970 is refused, by which no snapshot can be named", async () => {
  await atWork(async (place) => {
    const names = (more: string) => `sources:\n  - {name: names, section: as_names, format: name-list, location: names${more}}\n`;
    expect(await failure(place, names(", as_of: 1969-12-31"))).toMatch(/its as_of in sources.yaml 1969-12-31T00:00:00Z is before 1970$/);
    await place.write("vrps", vrpFile(10, "1960-01-01T00:00:00Z"));
    expect(await failure(place, "sources:\n  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps}\n")).toMatch(
      /vrps: the time of its data 1960-01-01T00:00:00Z is before 1970$/,
    );
    await run(place, names(", as_of: 1970-01-01"));
  });
});

test("with future_dates: warn it is told in the report, /status and answers, and preferred to nothing", async () => {
  await atWork(async (place) => {
    await place.write("wrong", delegatedFile("ripencc", 10, "20991231").replaceAll("|NL|", "|XX|"));
    await run(
      place,
      `sources:
  - {name: wrong, section: allocations, format: delegated, location: wrong, future_dates: warn}
  - {name: ripe, section: allocations, format: delegated, location: ripe, stale_after: never}
`,
    ).then((report) =>
      expect(report.sources[0]?.notes).toEqual([
        "the time of its data 2099-12-31T00:00:00Z is in the future by more than clock_skew_max (3600 s); the data are dated by the file, and marked as stale",
      ]),
    );
    const generation = await generationOf(place);
    const records = generation.allocations?.recordsAt(parseAddress("11.0.0.1") as Address) ?? [];
    expect(records.map((record) => generation.allocations?.entry(record).country)).toEqual(["NL", "XX"]);
    const notes = new AnswerNotes(generation, Date.now());
    expect(statusRecord(notes).sections.allocations).toMatchObject({
      as_of: "2025-11-20T00:00:00Z",
      stale: true,
      sources: [
        { name: "wrong", as_of: "2025-11-21T04:40:00Z", error: expect.stringMatching(/2099-12-31T00:00:00Z is in the future/) },
        {},
      ],
    });
    expect(notes.meta("r").warnings).toMatchObject([{ code: "allocations_stale" }]);
  });
});

test("with future_dates: warn, the date stays told beside the failure of a later run, and no longer than it is so", async () => {
  await atWork(async (place) => {
    const yaml =
      "sources:\n  - {name: ripe, section: allocations, format: delegated, location: ripe, required: false, future_dates: warn}\n" +
      "  - {name: names, section: as_names, format: name-list, location: names}\n";
    const errorNow = async () => {
      await run(place, yaml);
      return statusRecord(new AnswerNotes(await generationOf(place), Date.now())).sections.allocations?.sources[0]?.error ?? null;
    };
    const ahead = delegatedFile("ripencc", 10, "20991231");
    const future = "the time of its data 2099-12-31T00:00:00Z is in the future by more than clock_skew_max (3600 s)";
    await place.write("ripe", ahead);
    expect(await errorNow()).toBe(future);
    await place.write("ripe", "rubbish");
    for (const _again of [1, 2])
      expect(await errorNow()).toBe(`could not be read in the last run; the previous version is in use; ${future}`);
    await place.write("ripe", ahead);
    expect(await errorNow()).toBe(future);
    await place.write("ripe", "rubbish");
    await errorNow();
    await place.write("ripe", delegatedFile());
    expect(await errorNow()).toBeNull();
  });
});

test("a file of updates that goes on in the future is left out, and what is behind it", async () => {
  await atWork(async (place) => {
    const peer = { address: "192.0.2.1", asn: 64500 };
    const at = 1_763_715_300;
    await place.write(
      "updates",
      Buffer.concat([
        madeUpdate(peer, { at: at + 10, announced: ["12.0.0.0/24"], path: "64500 9" }),
        madeUpdate(peer, { at: later(7_200), announced: ["12.0.1.0/24"], path: "64500 9" }),
        madeUpdate(peer, { at: later(7_201), announced: ["12.0.2.0/24"], path: "64500 9" }),
      ]),
    );
    const yaml = (required: boolean) =>
      `full_feed_min: {ipv4: 1, ipv6: 1}\nsources:\n  - {name: rib, section: routes, format: mrt, location: rib}\n  - {name: live, section: updates, format: mrt, location: updates, required: ${required}}\n`;
    expect(await failure(place, yaml(true))).toMatch(/updates: the time of a record .* is in the future/);
    const report = await run(place, yaml(false));
    expect(report.sources.find(({ name }) => name === "live")?.error).toMatch(/the time of a record .* is in the future/);
    expect((await generationOf(place)).manifest.sections.routes).toMatchObject({ as_of: "2025-11-21T08:55:00Z", counts: { ipv4: 20 } });
  });
});

describe("a file that was stale when the last one was new", () => {
  const longAgo: readonly [string, string, () => string | Buffer, string][] = [
    ["a registry's header", "ripe", () => delegatedFile("ripencc", 10, "20211120"), "2021-11-20T00:00:00Z"],
    ["an export's build time", "vrps", () => vrpFile(10, "1970-01-01T00:00:01Z"), "1970-01-01T00:00:01Z"],
    ["a table's records", "rib", () => ribFile(20, 1_000_000_000), "2001-09-09T01:46:40Z"],
  ];
  test.each(longAgo)("by %s is refused, and what served stays", async (_what, name, content, asOf) => {
    await atWork(async (place) => {
      await run(place, allSources);
      const before = await place.current();
      await place.write(name, content());
      const message = await failure(place, allSources);
      expect(message).toMatch(
        new RegExp(`${name}: its data are of ${asOf}, older than those of the last import .* by more than stale_after`),
      );
      const section = /--accept-shrink (\w+)$/.exec(message)?.[1] as "vrps";
      expect(await place.current()).toBe(before);
      await runIngest({ config: await place.sources(allSources), store: place.store, acceptShrink: [section] });
      expect((await generationOf(place)).manifest.sections[section]?.as_of).toBe(asOf);
    });
  });

  test("is refused too when the source failed in between", async () => {
    await atWork(async (place) => {
      const two = `sources:
  - {name: ripe, section: allocations, format: delegated, location: ripe, required: false}
  - {name: arin, section: allocations, format: delegated, location: arin}
section_shrink_max: {allocations: 100%}
`;
      await place.write("arin", delegatedFile("arin"));
      await run(place, two);
      await place.write("ripe", "rubbish");
      await run(place, two);
      await place.write("ripe", delegatedFile("ripencc", 10, "20211120"));
      expect((await run(place, two)).sources.find(({ name }) => name === "ripe")?.error).toContain("older than those of the last import");
      expect((await generationOf(place)).manifest.sections.allocations?.as_of).toBe("2025-11-20T00:00:00Z");
    });
  });

  test("is read where the source never goes stale", async () => {
    await atWork(async (place) => {
      const never = allSources.replace("location: vrps", "location: vrps, stale_after: never");
      await run(place, never);
      await place.write("vrps", vrpFile(10, "2019-11-21T08:50:11Z"));
      await run(place, never);
      expect((await generationOf(place)).manifest.sections.vrps?.as_of).toBe("2019-11-21T08:50:11Z");
    });
  });
});

test("data that are older than those of the last import are read, and the report says so", async () => {
  await atWork(async (place) => {
    await run(place, allSources);
    await place.write("ripe", delegatedFile("ripencc", 10, "20251119"));
    await place.write("vrps", vrpFile(10, "2025-11-21T08:50:11Z"));
    const report = await run(place, allSources);
    const texts = {
      ripe: "its data are of 2025-11-19T00:00:00Z, older than those of the last import (2025-11-20T00:00:00Z)",
      vrps: "its data are of 2025-11-21T08:50:11Z, older than those of the last import (2025-11-21T08:50:12Z)",
    };
    for (const { name, state, notes } of report.sources) {
      expect(state).toBe("read");
      expect(notes.filter((note) => note.includes("older than"))).toEqual(name in texts ? [texts[name as keyof typeof texts]] : []);
    }
    expect((await run(place, allSources)).sources.flatMap(({ notes }) => notes).join()).not.toContain("older than");
  });
});

describe("a date that a file tells is compared with those that files told", () => {
  const source = "{name: feed, section: locations, format: geofeed, location: feed}";
  const yaml = `sources:\n  - ${source}\n`;
  const feed = (updated: string | null, country: string) =>
    `${updated === null ? "" : `# last updated: ${updated}T00:00:00Z\n`}11.0.0.0/16,${country},,,\n`;
  const older = (report: RunReport) => report.sources.flatMap(({ notes }) => notes).filter((note) => note.includes("older than"));

  test("and not with when one without a date was written", async () => {
    await atWork(async (place) => {
      for (const [updated, country] of [
        ["2024-08-22", "NL"],
        [null, "DE"],
        [null, "FR"],
        ["2024-11-10", "SE"],
      ] as const) {
        await place.write("feed", feed(updated, country));
        expect(older(await run(place, yaml))).toEqual([]);
        const { locations } = await generationOf(place);
        expect(locations?.lookupLocation(parseAddress("11.0.0.1") as Address)?.country).toBe(country);
      }
    });
  });

  test("also behind a version without one, and where the source could not be read in between", async () => {
    await atWork(async (place) => {
      const two = `${yaml.replace("location: feed", "location: feed, required: false")}  - ${source.replaceAll("feed}", "other}").replace("name: feed", "name: other")}\n`;
      await place.write("other", feed("2024-08-22", "NL"));
      for (const text of [feed("2024-08-22", "NL"), feed(null, "DE"), "rubbish"]) {
        await place.write("feed", text);
        await run(place, two);
      }
      await place.write("feed", feed("2021-08-22", "SE"));
      expect((await run(place, two)).sources.find(({ name }) => name === "feed")?.error).toContain(
        "its data are of 2021-08-22T00:00:00Z, older than those of the last import (2024-08-22T00:00:00Z) by more than stale_after",
      );
      await place.write("feed", feed("2024-08-23", "SE"));
      expect((await run(place, two)).sources.find(({ name }) => name === "feed")).toMatchObject({ state: "read", error: null });
    });
  });

  test("but not with one of a snapshot that does not say whether a file told it", async () => {
    await atWork(async (place) => {
      await place.write("feed", feed("2024-08-22", "NL"));
      await run(place, yaml);
      const { id: _id, format: _format, format_version: _version, ...content } = (await generationOf(place)).manifest;
      const { locations } = content.sections;
      if (locations === undefined) throw new Error("no locations");
      const sources = locations.sources.map(({ as_of_told: _told, ...entry }) => entry);
      const earlier = sealManifest({ ...content, sections: { ...content.sections, locations: { ...locations, sources } } });
      await place.store.publish(earlier, { replaces: (await place.store.currentId()) as string, isAlone: true });
      await place.write("feed", feed("2021-08-22", "DE"));
      expect(older(await run(place, yaml))).toEqual([]);
    });
  });
});
