/** Sources that say the same twice: found, named and counted once. */

import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { type Address, parseAddress, parsePrefix } from "@netfacts/address";
import { AnswerNotes, prefixRecord, statusRecord } from "@netfacts/records";
import { Generation, loadSnapshot } from "@netfacts/snapshot";
import { peerIndexRecord, ribRecord } from "../../../../libs/mrt/test/support/mrt-writer.ts";
import { reportText, runIngest } from "../../src/app.ts";
import { ReadContents } from "../../src/pipeline/duplicates.ts";
import type { ListedSource } from "../../src/pipeline/listed-sources.ts";
import { mergedGaps } from "../../src/pipeline/read-updates.ts";
import { atWork, delegatedFile, ribFile, type Workplace } from "../support/made-files.ts";

const head = "full_feed_min: {ipv4: 1, ipv6: 1}\nsources:\n";
const rib = (name: string) => `  - {name: ${name}, section: routes, format: mrt, location: ${name}}\n`;
const at = 1_763_715_300;

async function run(place: Workplace, yaml: string) {
  const report = await runIngest({ config: await place.sources(yaml), store: place.store });
  const manifest = await place.store.getManifest(report.snapshot as string);
  return { report, manifest, generation: Generation.of(await loadSnapshot(place.store, manifest)) };
}

const peers = [
  { address: "192.0.2.1", asn: 64500 },
  { address: "192.0.2.2", asn: 64501 },
];
/** A table of two peers of a collector, as of so many seconds after the first. */
const table = (collector: number, after: number, prefixes: readonly string[], who = peers) =>
  Buffer.concat([
    peerIndexRecord(who, "", collector, at + after),
    ...prefixes.map((prefix) =>
      ribRecord(
        prefix,
        who.map(({ asn }, peer) => ({ peer, path: `${asn} 9` })),
        { timestamp: at + after },
      ),
    ),
  ]);

test("a table under two names is counted once, and the report and /status name the other", async () => {
  await atWork(async (place) => {
    await place.write("again", ribFile());
    const { report, manifest, generation } = await run(place, head + rib("rib") + rib("again"));
    expect(manifest.sections.routes).toMatchObject({ peers_total: { ipv4: 2, ipv6: 0 }, collectors: ["rib"] });
    const text = "has the same content as source rib, and is counted once";
    expect(report.sources.map(({ name, notes }) => [name, notes.includes(text)])).toEqual([
      ["rib", false],
      ["again", true],
    ]);
    expect(reportText(report)).toContain(`note: ${text}`);
    expect(statusRecord(new AnswerNotes(generation, Date.now())).sections.routes?.sources).toMatchObject([
      { name: "rib", error: null },
      { name: "again", error: text },
    ]);
  });
});

describe("a source that is packed", () => {
  const observed = '{"ip":"11.0.0.1","country":"NL","observed_at":"2025-11-20T10:00:00Z"}\n';
  const lists = "sources:\n  - {name: one, section: locations, format: observations, location: one}\n";
  const both = `${lists}  - {name: two, section: locations, format: observations, location: two}\n`;

  test.each<[string, Buffer, Buffer]>([
    ["beside the plain one", Buffer.from(observed), gzipSync(observed)],
    ["in two ways", gzipSync(observed, { level: 1 }), gzipSync(Buffer.from(observed), { level: 0 })],
  ])("%s counts once", async (_what, one, two) => {
    await atWork(async (place) => {
      await place.write("one", one);
      await place.write("two", two);
      expect(one.equals(two)).toBe(false);
      const { manifest, generation } = await run(place, both);
      expect(manifest.sections.locations?.sources).toMatchObject([
        { name: "one", error: null },
        { name: "two", error: "has the same content as source one, and is counted once" },
      ]);
      expect(generation.locations?.lookupLocation(parseAddress("11.0.0.1") as Address)?.observed?.observations).toBe(1);
    });
  });

  test("counts where another of the same length says something else", async () => {
    await atWork(async (place) => {
      await place.write("one", gzipSync(observed));
      await place.write("two", gzipSync(observed.replace("NL", "DE")));
      const { manifest } = await run(place, both);
      expect(manifest.sections.locations?.sources).toMatchObject([{ error: null }, { error: null }]);
    });
  });

  test("is a table without a collector's id, too", async () => {
    await atWork(async (place) => {
      const bytes = table(0, 0, ["11.0.0.0/24"]);
      await place.write("one", gzipSync(bytes));
      await place.write("two", bytes);
      const { manifest } = await run(place, head + rib("one") + rib("two"));
      expect(manifest.sections.routes).toMatchObject({ peers_total: { ipv4: 2 }, collectors: ["one"] });
    });
  });

  test("fails with its file if it is gone when it is to be compared", async () => {
    await atWork(async (place) => {
      await place.write("one", gzipSync(observed));
      const contents = new ReadContents();
      const [source] = (await place.sources(lists)).sources;
      const read = (sha256: string) => ({ source: source as ListedSource, stored: { bytes: 1, sha256 }, unpacked: observed.length });
      const { signal } = new AbortController();
      expect(await contents.otherOf(read("a"), signal)).toBeNull();
      await unlink(join(place.folder, "one"));
      expect(await contents.otherOf(read("a"), signal)).toBe("one");
      expect(await contents.otherOf({ ...read("b"), unpacked: 7 }, signal)).toBeNull();
      await expect(contents.otherOf(read("c"), signal)).rejects.toThrow(/one: .*no such file/);
    });
  });
});

test("a registry's file under two names has no conflict with itself, nor one that says the same in other words", async () => {
  await atWork(async (place) => {
    await place.write("again", delegatedFile());
    await place.write("comment", `# the same, with a comment\n${delegatedFile()}`);
    const source = (name: string) => `  - {name: ${name}, section: allocations, format: delegated, location: ${name}}\n`;
    const { manifest, generation } = await run(place, head + source("ripe") + source("again") + source("comment"));
    expect(manifest.sections.allocations).toMatchObject({
      counts: { ipv4: 20 },
      sources: [{ error: null }, { error: /same content/ }, {}],
    });
    expect(generation.allocations?.recordsAt(parseAddress("11.0.0.1") as Address)).toHaveLength(1);
    const reading = parsePrefix("11.0.0.0/24");
    if (!reading.ok) throw new TypeError("not a prefix");
    const { allocation } = prefixRecord({ prefix: reading.prefix, limit: 10 }, new AnswerNotes(generation, Date.now()));
    expect(allocation?.blocks).toMatchObject([{ registry: "ripencc", conflicts: [] }]);
  });
});

test("a table that stands twice in its own file counts each prefix once, so that the next one has not shrunk", async () => {
  await atWork(async (place) => {
    await place.write("rib", Buffer.concat([ribFile(), ribFile()]));
    const { report, manifest } = await run(place, head + rib("rib"));
    expect(report.sources).toMatchObject([
      { read: 40, accepted: 20, skipped: [{ reason: "listed more than once; the routes were joined", bad: false, count: 20 }] },
    ]);
    expect(manifest.sections.routes).toMatchObject({ counts: { ipv4: 20 }, peers_total: { ipv4: 2 } });
    await place.write("rib", ribFile());
    expect((await run(place, head + rib("rib"))).report.sources).toMatchObject([{ state: "read", accepted: 20 }]);
  });
});

describe("two tables of one collector", () => {
  const outcome = (first: Buffer, second: Buffer) =>
    atWork(async (place) => {
      await place.write("one", first);
      await place.write("two", second);
      const { manifest, report } = await run(place, head + rib("one") + rib("two"));
      const { collectors, peers_total, sources } = manifest.sections.routes ?? {};
      return {
        collectors,
        ipv4: peers_total?.ipv4,
        errors: sources?.map(({ error }) => error),
        notes: report.sources.map(({ notes }) => notes.at(-1)),
      };
    });

  test("count once, the newest", async () => {
    const text = "has the collector and peers of source two, and is older or as old; only that one is counted";
    const { notes, ...rest } = await outcome(table(1, 0, ["11.0.0.0/24"]), table(1, 60, ["11.0.0.0/24", "11.0.1.0/24"]));
    expect(rest).toEqual({ collectors: ["two"], ipv4: 2, errors: [text, null] });
    expect(notes[0]).toBe(text);
  });

  test("are of the time of the one that counts, and stale when that one is", async () => {
    await atWork(async (place) => {
      const day = 86_400;
      await place.write("one", table(1, -30 * day, ["11.0.0.0/24"]));
      await place.write("two", table(1, 0, ["11.0.0.0/24"]));
      const timesOf = async (yaml: string) => {
        const { as_of, stale_after_seconds, interval_seconds } = (await run(place, head + yaml)).manifest.sections.routes ?? {};
        return { as_of, stale_after_seconds, interval_seconds };
      };
      const alone = await timesOf(rib("two"));
      expect(alone.as_of).toBe("2025-11-21T08:55:00Z");
      expect(await timesOf(rib("one").replace("}", ", stale_after: 1h, interval: 1h}") + rib("two"))).toEqual(alone);
      await place.write("again", table(1, 0, ["11.0.0.0/24"]));
      expect(await timesOf(rib("two") + rib("again").replace("}", ", stale_after: 1h, interval: 1h}"))).toEqual(alone);
    });
  });

  test("count once, and a date in the future stays told of the one that is left out", async () => {
    const yaml = `${head}${rib("one").replace("}", ", future_dates: warn}")}${rib("two")}`;
    await atWork(async (place) => {
      await place.write("one", table(1, 3_000_000_000 - at, ["11.0.0.0/24"]));
      await place.write("two", table(1, 0, ["11.0.0.0/24"]));
      const { manifest } = await run(place, yaml);
      expect(manifest.sections.routes?.sources[0]?.error).toMatch(
        /^the time of its data 2065-.* \(3600 s\); has the collector and peers of source two, and is older or as old; only that one is counted$/,
      );
    });
  });

  test.each<[string, Buffer, Buffer, number]>([
    ["another collector", table(1, 0, ["11.0.0.0/24"]), table(2, 0, ["11.0.0.0/24"]), 4],
    ["a collector that does not say which it is", table(0, 0, ["11.0.0.0/24"]), table(0, 60, ["11.0.0.0/24"]), 4],
    ["other peers", table(1, 0, ["11.0.0.0/24"]), table(1, 0, ["11.0.0.0/24"], [{ address: "192.0.2.3", asn: 64502 }]), 3],
    ["the other family", table(1, 0, ["11.0.0.0/24"]), table(1, 0, ["2a00::/32"]), 2],
  ])("are two where the second is of %s", async (_what, first, second, ipv4) => {
    expect(await outcome(first, second)).toMatchObject({ collectors: ["one", "two"], ipv4, errors: [null, null] });
  });
});

test("gaps in updates are told as they are: in order, as one where they touch, and from the table on", () => {
  expect(
    mergedGaps(
      [
        { from: 300, to: 600 },
        { from: 0, to: 300 },
        { from: 900, to: 1_200 },
        { from: 1_000, to: 1_100 },
        { from: 2_000, to: null },
        { from: 2_500, to: 2_600 },
      ],
      130,
    ),
  ).toEqual([
    { from: 130, to: 600 },
    { from: 900, to: 1_200 },
    { from: 2_000, to: null },
  ]);
});
