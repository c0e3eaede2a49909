/** Updates applied to a collector's RIB in a run: which files are read, what damage and what is missing do, and what is told of it. */

import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, jest, test } from "@jest/globals";
import { parsePrefix } from "@netfacts/address";
import { AnswerNotes, prefixRecord } from "@netfacts/records";
import { Generation, loadSnapshot, type Manifest } from "@netfacts/snapshot";
import { IngestError, type RunOptions, type RunReport, runIngest, type SourcesConfig } from "../../src/app.ts";
import { atWork, ribFile, type Workplace } from "../support/made-files.ts";
import { type MadeUpdate, madeStateChange, madeUpdate } from "../support/made-updates.ts";

// Each thread loads its modules anew, which takes seconds where many do so on one core.
jest.setTimeout(120_000);

const ribAt = 1_763_715_300;
const [first, second] = [
  { address: "192.0.2.1", asn: 64500 },
  { address: "192.0.2.2", asn: 64501 },
];
const update = (seconds: number, made: Omit<MadeUpdate, "at">, peer = first) => madeUpdate(peer, { at: ribAt + seconds, ...made });
/** Both peers announce a prefix by this origin. */
const announce = (seconds: number, prefix: string, origin: number) =>
  Buffer.concat([first, second].map((peer) => update(seconds, { announced: [prefix], path: `${peer.asn} ${origin}` }, peer)));

const settings = "full_feed_min: {ipv4: 1, ipv6: 1}\nsources:\n  - {name: rrc00, section: routes, format: mrt, location: rib}\n";
const listed = (more = "") => `${settings}  - {name: live, section: updates, format: mrt, location: updates${more}}\n`;

interface Ran {
  readonly report: RunReport;
  readonly manifest: Manifest;
  /** Origins of a prefix, as `AS×peers`. */
  origins(prefix: string): string[];
  warnings(prefix: string): { code: string; detail: string }[];
}

async function withUpdates<T>(files: Record<string, Buffer>, use: (place: Workplace) => Promise<T>): Promise<T> {
  return atWork(async (place) => {
    await mkdir(join(place.folder, "updates"));
    for (const [name, content] of Object.entries(files)) await writeFile(join(place.folder, "updates", name), content);
    return use(place);
  });
}

async function ran({ store }: Workplace, config: SourcesConfig, options: Partial<RunOptions> = {}): Promise<Ran> {
  const report = await runIngest({ config, store, ...options });
  const manifest = await store.getManifest(report.snapshot as string);
  const generation = Generation.of(await loadSnapshot(store, manifest));
  const ask = (text: string) => {
    const notes = new AnswerNotes(generation, ribAt * 1_000);
    const reading = parsePrefix(text);
    if (!reading.ok) throw new TypeError(text);
    return { origins: prefixRecord({ prefix: reading.prefix, limit: 10 }, notes).origins, notes };
  };
  return {
    report,
    manifest,
    origins: (prefix) => ask(prefix).origins.map(({ asn, visibility }) => `${asn}×${visibility.peers_seeing}`),
    warnings: (prefix) =>
      ask(prefix)
        .notes.meta("test")
        .warnings.filter(({ code }) => code === "updates_gap"),
  };
}

const threads = { ribThreadBytesMin: 0 };

describe.each([
  ["in a thread", threads],
  ["in the run's own", { ribThreadBytesMin: Number.POSITIVE_INFINITY }],
])("updates read %s", (_what, options) => {
  test("are applied file by file, in the order of their names; the answers, the times and the report are those of the last record", async () => {
    const files = {
      "updates.0010.gz": gzipSync(Buffer.concat([announce(600, "11.0.0.0/24", 77), madeStateChange(second, 6, 1, ribAt + 601)])),
      "updates.0005": Buffer.concat([
        announce(300, "11.0.0.0/24", 66),
        update(301, { withdrawn: ["11.0.1.0/24"] }),
        announce(400, "12.0.0.0/16", 5),
      ]),
      "updates.0005.md5": Buffer.from("passed over"),
    };
    await withUpdates(files, async (place) => {
      const { report, manifest, origins, warnings } = await ran(place, await place.sources(listed()), options);
      expect(origins("11.0.0.0/24")).toEqual(["77×1"]);
      expect(origins("11.0.1.0/24")).toEqual([]);
      expect(origins("11.0.2.0/24")).toEqual(["3×1"]);
      expect(origins("12.0.0.0/16")).toEqual(["5×1"]);
      expect(warnings("11.0.0.0/24")).toEqual([]);
      expect(manifest.sections.routes).toMatchObject({ as_of: "2025-11-21T09:05:01Z", counts: { ipv4: 20 } });
      expect(manifest.sections.routes?.updates_gaps).toBeUndefined();
      expect(manifest.sections.routes?.sources).toMatchObject([
        { name: "rrc00", as_of: "2025-11-21T09:05:01Z", error: null },
        { name: "live", as_of: "2025-11-21T09:05:01Z", accepted: 8, error: null },
      ]);
      expect(report.sources[1]).toMatchObject({
        name: "live",
        section: "updates",
        state: "read",
        read: 8,
        updates: { files: 2, messages: 7, announced: 6, withdrawn: 1, state_changes: 1, sessions_lost: 1, gaps: [], refused_file: null },
      });
      // The same files give the same snapshot, however they were read and packed.
      await writeFile(join(place.folder, "updates", "updates.0005"), files["updates.0005"]);
      expect((await ran(place, await place.sources(listed()))).report.snapshot).toBe(report.snapshot);
    });
  });

  test("that are damaged are left out with all behind them: what came before stands, and every answer says so", async () => {
    const good = announce(300, "11.0.0.0/24", 66);
    const files = { a: good, b: announce(500, "11.0.0.0/24", 77).subarray(0, -3), c: announce(700, "11.0.0.0/24", 88) };
    await withUpdates(files, async (place) => {
      const { report, manifest, origins, warnings } = await ran(place, await place.sources(listed(", required: false")), options);
      expect(origins("11.0.0.0/24")).toEqual(["66×2"]);
      expect(manifest.sections.routes?.updates_gaps).toEqual([{ collector: "rrc00", from: "2025-11-21T09:00:00Z", to: null }]);
      expect(warnings("11.0.0.0/24")).toEqual([
        { code: "updates_gap", detail: expect.stringMatching(/^updates of rrc00 after 2025-11-21T09:00:00Z are missing/) },
      ]);
      expect(report.sources).toMatchObject([
        { name: "rrc00", state: "read" },
        { name: "live", state: "kept", error: expect.stringMatching(/updates\/b: byte \d+: the input ends/), updates: { files: 1 } },
      ]);
      const alone = await ran(place, await place.sources(listed(", required: false").replace("location: updates", "location: updates/a")));
      expect(alone.manifest.sections.routes?.object).toBe(manifest.sections.routes?.object);
      await writeFile(join(place.folder, "updates", "a"), good.subarray(0, 40));
      const none = await ran(place, await place.sources(listed(", required: false")), options);
      expect(none.origins("11.0.0.0/24")).toEqual(["1×1", "9×1"]);
      expect(none.report.sources[1]).toMatchObject({ state: "failed", error: expect.stringContaining("updates/a: byte") });
      expect(none.warnings("11.0.0.0/24")).toMatchObject([{ code: "updates_gap" }]);
    });
  });

  test("that are required and damaged end the run, and nothing changes", async () => {
    await withUpdates({ a: announce(300, "11.0.0.0/24", 66), b: Buffer.from("no MRT at all, not in the least") }, async (place) => {
      const error = await runIngest({ config: await place.sources(listed()), store: place.store, ...options }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(IngestError);
      const { message, report } = error as IngestError;
      expect(message).toMatch(/updates\/b: byte 0: /);
      expect(report.sources).toMatchObject([
        { name: "live", state: "failed", updates: { refused_file: join(place.folder, "updates", "b") } },
      ]);
      expect(await place.current()).toBe("none");
    });
  });
});

test("too many bad records in one file refuse that file; a few are counted with their place", async () => {
  const good = announce(300, "11.0.0.0/24", 66);
  const bad = Buffer.from(update(310, { announced: ["11.0.0.0/24"] }));
  bad[bad.length - 4] = 200;
  await withUpdates({ a: Buffer.concat([good, bad]) }, async (place) => {
    const few = await ran(place, await place.sources(listed(", bad_records_max: 50%")));
    expect(few.report.sources[1]).toMatchObject({
      state: "read",
      read: 3,
      accepted: 2,
      skipped: [{ bad: true, count: 1, examples: [{ offset: good.length }] }],
    });
    const refused = await ran(place, await place.sources(listed(", required: false")));
    expect(refused.report.sources[1]?.error).toMatch(
      /updates\/a: byte \d+: 1 of 3 records are malformed, more than bad_records_max allows/,
    );
    expect(refused.origins("11.0.0.0/24")).toEqual(["1×1", "9×1"]);
  });
});

test("only what came after the table is read: files from before are not opened, and older records of the file in between are passed over", async () => {
  const files = {
    a: Buffer.from("long ago, and no MRT"),
    b: announce(-900, "11.0.0.0/24", 44),
    c: Buffer.concat([announce(-100, "11.0.0.0/24", 55), announce(10, "11.0.1.0/24", 66)]),
    d: announce(200, "11.0.2.0/24", 77),
  };
  await withUpdates(files, async (place) => {
    const { report, origins } = await ran(place, await place.sources(listed()));
    expect(report.sources[1]).toMatchObject({
      updates: { files: 2, announced: 4 },
      skipped: [{ reason: "older than the table", count: 2 }],
    });
    expect(["11.0.0.0/24", "11.0.1.0/24", "11.0.2.0/24"].map(origins)).toEqual([["1×1", "9×1"], ["66×2"], ["77×2"]]);
  });
});

test("updates that are all older than the table have a note with both times", async () => {
  const files = { a: announce(-2_592_000, "11.0.0.0/24", 44), b: announce(-2_591_000, "11.0.0.0/24", 55) };
  await withUpdates(files, async (place) => {
    const { report, origins } = await ran(place, await place.sources(listed()));
    const note = "all updates are older than the table, of 2025-11-21T08:55:00Z: the newest is of 2025-10-22T09:11:40Z";
    expect(report.sources[1]).toMatchObject({ state: "read", accepted: 0, notes: [expect.stringContaining("1 files"), note] });
    expect(origins("11.0.0.0/24")).toEqual(["1×1", "9×1"]);
  });
});

test("silence before a file is told as a gap, and is no failure; files whose names are not in the order of their times are", async () => {
  await withUpdates({ a: announce(299, "11.0.0.0/24", 44), b: announce(700, "11.0.0.0/24", 55) }, async (place) => {
    const { report, manifest, warnings } = await ran(place, await place.sources(listed()));
    const gap = { from: "2025-11-21T08:59:59Z", to: "2025-11-21T09:06:40Z" };
    expect(manifest.sections.routes?.updates_gaps).toEqual([{ collector: "rrc00", ...gap }]);
    expect(report.sources[1]?.updates?.gaps).toEqual([gap]);
    expect(warnings("11.0.0.0/24")).toEqual([
      {
        code: "updates_gap",
        detail:
          "updates of rrc00 between 2025-11-21T08:59:59Z and 2025-11-21T09:06:40Z are missing; changes in that time may not be included",
      },
    ]);
    const patient = await ran(place, await place.sources(listed(", interval: 10m")));
    expect(patient.manifest.sections.routes?.updates_gaps).toBeUndefined();
    await writeFile(join(place.folder, "updates", "c"), announce(400, "11.0.0.0/24", 55));
    await expect(ran(place, await place.sources(listed()))).rejects.toThrow(/updates\/c: starts before the previous file/);
  });
});

test.each([
  ["begins in 1970", madeUpdate(first, { at: 0, announced: ["11.0.2.0/24"], path: "64500 9" })],
  ["is older than the table", Buffer.concat([announce(-86_400, "11.0.2.0/24", 9), announce(-86_000, "11.0.2.0/24", 9)])],
])("a file that %s and is named as a later one is refused, and those in front of it are applied", async (_what, wrong) => {
  const files = {
    a: announce(-100, "11.0.0.0/24", 55),
    b: announce(100, "11.0.0.0/24", 66),
    c: announce(200, "11.0.1.0/24", 77),
    d: wrong,
  };
  await withUpdates({ ...files, e: announce(500, "11.0.1.0/24", 88) }, async (place) => {
    const { report, origins, warnings } = await ran(place, await place.sources(listed(", required: false")));
    expect(report.sources[1]).toMatchObject({
      error: expect.stringMatching(/updates\/d: starts before the previous file/),
      updates: { files: 3 },
    });
    expect(["11.0.0.0/24", "11.0.1.0/24"].map(origins)).toEqual([["66×2"], ["77×2"]]);
    expect(warnings("11.0.0.0/24")).toMatchObject([{ code: "updates_gap" }]);
    await expect(ran(place, await place.sources(listed()))).rejects.toThrow(/updates\/d: starts before the previous file/);
  });
});

test.each([
  ["1970", -ribAt],
  ["2038", 2_147_483_647 - ribAt],
  ["50 minutes later", 3_000],
])("one record whose time is %s counts as bad: it is applied in its place, and dates nothing", async (_what, wrong) => {
  const files = {
    a: Buffer.concat([announce(10, "11.0.0.0/24", 66), update(wrong, { withdrawn: ["11.0.0.0/24"] }), announce(20, "11.0.1.0/24", 77)]),
    // The first record of a file is compared with the last one of the file before.
    b: Buffer.concat([update(wrong, { withdrawn: ["11.0.1.0/24"] }), announce(310, "11.0.2.0/24", 88)]),
  };
  await withUpdates(files, async (place) => {
    const { report, manifest, origins } = await ran(place, await place.sources(listed(", bad_records_max: 40%")));
    expect(["11.0.0.0/24", "11.0.1.0/24", "11.0.2.0/24"].map(origins)).toEqual([["66×1"], ["77×1"], ["88×2"]]);
    expect(manifest.sections.routes).toMatchObject({ as_of: "2025-11-21T09:00:10Z" });
    expect(manifest.sections.routes?.updates_gaps).toBeUndefined();
    expect(report.sources[1]).toMatchObject({ state: "read", updates: { files: 2, gaps: [] } });
    const text = expect.stringMatching(/^a: the time of the record, \S+Z, is far from that of the records around it$/);
    expect(report.sources[1]?.skipped).toMatchObject([{ reason: "malformed", count: 2, examples: [{ text }, {}] }]);
    await expect(ran(place, await place.sources(listed()))).rejects.toThrow(/updates\/a: byte \d+: 1 of 5 records are malformed/);
  });
});

test.each([
  ["1970", -ribAt],
  ["2038", 2_147_483_647 - ribAt],
])("a last record of %s counts as bad, too", async (_what, wrong) => {
  await withUpdates(
    { a: Buffer.concat([announce(10, "11.0.0.0/24", 66), update(wrong, { withdrawn: ["11.0.0.0/24"] })]) },
    async (place) => {
      const { report, manifest, origins } = await ran(place, await place.sources(listed(", bad_records_max: 40%")));
      expect(origins("11.0.0.0/24")).toEqual(["66×1"]);
      expect(manifest.sections.routes).toMatchObject({ as_of: "2025-11-21T08:55:10Z" });
      expect(report.sources[1]?.skipped).toMatchObject([{ reason: "malformed", count: 1 }]);
    },
  );
});

test("silence within a file, and a clock that is set back, are no wrong times", async () => {
  const quiet = Buffer.concat([announce(10, "11.0.0.0/24", 66), announce(9_000, "11.0.0.0/24", 77), announce(20_000, "11.0.0.0/24", 88)]);
  const back = Buffer.concat([announce(21_000, "11.0.1.0/24", 66), announce(20_100, "11.0.1.0/24", 77)]);
  await withUpdates({ a: quiet, b: back }, async (place) => {
    const { report, origins } = await ran(place, await place.sources(listed(", interval: 1h")));
    expect(["11.0.0.0/24", "11.0.1.0/24"].map(origins)).toEqual([["88×2"], ["77×2"]]);
    expect(report.sources[1]?.skipped).toEqual([]);
  });
});

test("whose file the system refuses, such as a loop of symbolic links, are told by that file, and the table is published", async () => {
  await withUpdates({}, async (place) => {
    await symlink("u0", join(place.folder, "updates", "u0"));
    const { report, origins } = await ran(place, await place.sources(listed(", required: false")));
    expect(origins("11.0.0.0/24")).toEqual(["1×1", "9×1"]);
    expect(report.sources[1]).toMatchObject({
      state: "failed",
      error: expect.stringMatching(/u0: the file cannot be read: its symbolic links form a loop$/),
    });
  });
});

test("with contains nothing newer than the table it is published as it is; without the place of the updates too, where they are not required", async () => {
  await withUpdates({}, async (place) => {
    const empty = await ran(place, await place.sources(listed()));
    expect(empty.report.sources[1]).toMatchObject({ state: "read", accepted: 0, updates: { files: 0 } });
    expect(empty.manifest.sections.routes).toMatchObject({ as_of: "2025-11-21T08:55:00Z" });
    const alone = await ran(place, await place.sources(settings));
    expect(alone.manifest.sections.routes?.object).toBe(empty.manifest.sections.routes?.object);
    const config = await place.sources(listed(", required: false"));
    await rm(join(place.folder, "updates"), { recursive: true });
    const away = await ran(place, config);
    expect(away.report.sources[1]).toMatchObject({ state: "failed", error: expect.stringMatching(/updates: no such file$/) });
    expect(away.warnings("11.0.0.0/24")).toMatchObject([{ code: "updates_gap" }]);
    expect(away.manifest.sections.routes?.sources[1]).toMatchObject({
      name: "live",
      sha256: "",
      error: "could not be read in the last run",
    });
  });
});

test("what the publisher does not have is a gap; where it is required the run ends", async () => {
  await withUpdates({ a: announce(10, "11.0.0.0/24", 44), b: announce(700, "11.0.0.0/24", 55) }, async (place) => {
    const at = (name: string) => join(place.folder, "updates", name);
    const missing = [
      { from: ribAt - 600, to: ribAt - 300 },
      { from: ribAt + 300, to: ribAt + 600 },
    ];
    const withSteps = async (more: string) => {
      const config = await place.sources(listed(more));
      const sources = config.sources.map((source) => ({
        ...source,
        ...(source.section === "updates" && { updateFiles: { files: [at("a"), at("b")], missing } }),
      }));
      return ran(place, { ...config, sources });
    };
    const { manifest, origins } = await withSteps(", required: false");
    expect(manifest.sections.routes?.updates_gaps).toEqual([
      { collector: "rrc00", from: "2025-11-21T09:00:00Z", to: "2025-11-21T09:05:00Z" },
    ]);
    expect(origins("11.0.0.0/24")).toEqual(["55×2"]);
    await expect(withSteps("")).rejects.toThrow("there are no updates from 2025-11-21T09:00:00Z to 2025-11-21T09:05:00Z");
  });
});

test("prefixes that the updates remove are not told as listed more than once; those of the table are", async () => {
  const lost = Buffer.concat([first, second].map((peer) => madeStateChange(peer, 6, 1, ribAt + 60)));
  const files = { "updates.1": Buffer.concat([lost, announce(61, "11.0.0.0/24", 9)]) };
  await withUpdates(files, async (place) => {
    await place.write("rib", ribFile());
    const withdrawn = await ran(place, await place.sources(listed()));
    expect(withdrawn.report.sources[0]).toMatchObject({ read: 1, accepted: 1, skipped: [] });
    await place.write("rib", Buffer.concat([ribFile(), ribFile()]));
    const twice = await ran(place, await place.sources(listed()));
    const reason = "listed more than once; the routes were joined";
    expect(twice.report.sources[0]).toMatchObject({ read: 21, accepted: 1, skipped: [{ reason, count: 20 }] });
  });
});

test("a table among the updates is refused as what it is", async () => {
  await withUpdates({ a: announce(10, "11.0.0.0/24", 44), b: ribFile(20, ribAt + 600) }, async (place) => {
    const { report, manifest } = await ran(place, await place.sources(listed(", required: false")));
    expect(report.sources[1]).toMatchObject({
      state: "kept",
      error: expect.stringMatching(/updates\/b: byte 0: is a table \(21 records\), not updates; use it as a source of section routes$/),
    });
    expect(manifest.sections.routes?.updates_gaps).toEqual([{ collector: "rrc00", from: "2025-11-21T08:55:10Z", to: null }]);
    await expect(ran(place, await place.sources(listed()))).rejects.toThrow(/is a table \(21 records\)/);
  });
});

test("updates of one of two collectors change its table only", async () => {
  await withUpdates({ a: announce(10, "11.0.0.0/24", 44) }, async (place) => {
    await place.write("other", ribFile(21));
    const yaml = `${listed(", applies_to: rrc00")}  - {name: linx, section: routes, format: mrt, location: other}\n`;
    const { origins, manifest } = await ran(place, await place.sources(yaml), threads);
    expect(origins("11.0.0.0/24").sort()).toEqual(["1×1", "44×2", "9×1"]);
    // Of the section the oldest source tells.
    expect(manifest.sections.routes?.as_of).toBe("2025-11-21T08:55:00Z");
  });
});

const newPeers = (count: number, seconds = 10) =>
  Array.from({ length: count }, (_, at) => {
    const peer = { address: `192.0.2.${100 + at}`, asn: 64600 + at };
    return update(seconds, { announced: ["11.0.0.0/24"], path: `${peer.asn} 9` }, peer);
  });
const ofTable = (seconds: number) => update(seconds, { announced: ["11.0.0.0/24"], path: "64500 66" });

test.each([
  ["none is of the table", newPeers(3), "0 of its 3"],
  ["hardly one is of the table", [ofTable(9), ...newPeers(11)], "1 of its 12"],
])("updates of peers of which %s are refused as another collector's, with all behind them", async (_what, messages, told) => {
  await withUpdates({ a: ofTable(5), b: Buffer.concat(messages), c: ofTable(20) }, async (place) => {
    const { report, manifest, origins } = await ran(place, await place.sources(listed(", required: false")));
    expect(report.sources[1]).toMatchObject({
      state: "kept",
      error: expect.stringMatching(
        `updates/b: has updates of another collector: ${told} peers are peers of the table; check location and applies_to$`,
      ),
      updates: { files: 1 },
    });
    expect(origins("11.0.0.0/24").sort()).toEqual(["66×1", "9×1"]);
    expect(manifest.sections.routes?.updates_gaps).toEqual([{ collector: "rrc00", from: "2025-11-21T08:55:05Z", to: null }]);
    await expect(ran(place, await place.sources(listed()))).rejects.toThrow(/updates\/b: has updates of another collector/);
  });
});

test.each([
  ["two sessions begin while the peers of the table say nothing", newPeers(2), 2],
  ["many sessions begin beside a peer of the table", [ofTable(9), ...newPeers(10)], 10],
  ["a peer of the table only goes down", [madeStateChange(first, 6, 1, ribAt + 9), ...newPeers(10)], 10],
])("updates are of the table's collector where %s; the report says how many are new", async (_what, messages, count) => {
  await withUpdates({ a: Buffer.concat(messages) }, async (place) => {
    const { report } = await ran(place, await place.sources(listed()));
    expect(report.sources[1]).toMatchObject({
      state: "read",
      notes: expect.arrayContaining([`peers that the table does not have: ${count}`]),
    });
  });
});
