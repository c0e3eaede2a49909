/** sources.yaml: what a right file says, and every fault of a wrong one at once, with its place. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { importedSections } from "@netfacts/contracts";
import { readSources, type SourcesConfig, SourcesFileError } from "../../src/sources/index.ts";
import { sourceSections } from "../../src/sources/sections.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-sources-"));
  writeFileSync(join(folder, "rib.gz"), "x");
  mkdirSync(join(folder, "a-folder"));
});

afterAll(() => rmSync(folder, { recursive: true }));

async function read(text: string | Uint8Array): Promise<SourcesConfig> {
  writeFileSync(join(folder, "sources.yaml"), text);
  return readSources(join(folder, "sources.yaml"));
}

/** The faults as `line:column message`; empty when there are none. */
async function faultsOf(text: string | Uint8Array): Promise<string[]> {
  try {
    await read(text);
    return [];
  } catch (error) {
    if (!(error instanceof SourcesFileError)) throw error;
    return error.faults.map(({ line, column, message }) => `${line}:${column} ${message.replaceAll(folder, "DIR")}`);
  }
}

const good = "{name: a, section: routes, format: mrt, location: rib.gz}";

test("reads a source with nothing but its four names, and fills in the defaults", async () => {
  const config = await read(`sources:\n  - ${good}\n`);
  expect(config).toEqual({
    file: join(folder, "sources.yaml"),
    sources: [
      {
        name: "a",
        section: "routes",
        format: "mrt",
        location: join(folder, "rib.gz"),
        required: true,
        intervalSeconds: 28_800,
        bytesMax: 16 * 2 ** 30,
        secondsMax: 3_600,
        shrinkMax: 0.2,
        kindShrinkMax: 0.2,
        badRecordsMax: 0.01,
        countErrorMax: null,
        covers: null,
        rangeType: null,
        staleAfterSeconds: 61_200,
        asOf: null,
        clockSkewMaxSeconds: 3_600,
        futureDates: "refuse",
        line: 2,
      },
    ],
    fullFeedMin: { ipv4: 100_000, ipv6: 10_000 },
    fullFeedShare: 0.7,
    matchPeersMin: 2,
    upstreamsMax: 5,
    historyKeptSeconds: 31_536_000,
    locationsFirst: "observation",
    observationHalfLifeSeconds: 31_536_000,
    observationsKeptSeconds: 31_536_000,
    sectionShrinkMax: {},
    sampleData: false,
  });
});

test("reads every key that there is", async () => {
  const config = await read(`
sample_data: true
full_feed_min: {ipv4: 10, ipv6: 1}
full_feed_share: 50%
match_peers_min: 3
upstreams_max: 0
history_kept: 30d
locations_first: geofeed
observation_half_life: 90d
observations_kept: 2w
section_shrink_max: {routes: 10%, aspas: 1}
sources:
  - name: route-views.jinx
    section: vrps
    format: rpki-client-json
    location: ./nowhere/vrps.json
    required: false
    interval: 30m
    bytes_max: 500MB
    seconds_max: 90
    shrink_max: 0.5
    bad_records_max: 0
    stale_after: never
    as_of: 2026-11-21T08:00:00Z
  - name: n
    section: as_names
    format: name-list
    location: ${join(folder, "rib.gz")}
    seconds_max: 10m
    bytes_max: 4096
    interval: 2w
`);
  expect(config).toMatchObject({
    sampleData: true,
    fullFeedMin: { ipv4: 10, ipv6: 1 },
    fullFeedShare: 0.5,
    matchPeersMin: 3,
    upstreamsMax: 0,
    historyKeptSeconds: 2_592_000,
    locationsFirst: "geofeed",
    observationHalfLifeSeconds: 7_776_000,
    observationsKeptSeconds: 1_209_600,
    sectionShrinkMax: { routes: 0.1, aspas: 1 },
  });
  expect(config.sources).toEqual([
    {
      name: "route-views.jinx",
      section: "vrps",
      format: "rpki-client-json",
      location: join(folder, "nowhere/vrps.json"),
      required: false,
      intervalSeconds: 1_800,
      bytesMax: 500_000_000,
      secondsMax: 90,
      shrinkMax: 0.5,
      kindShrinkMax: 0.5,
      badRecordsMax: 0,
      countErrorMax: null,
      covers: null,
      rangeType: null,
      staleAfterSeconds: null,
      asOf: 1_795_248_000,
      clockSkewMaxSeconds: 3_600,
      futureDates: "refuse",
      line: 13,
    },
    expect.objectContaining({
      name: "n",
      secondsMax: 600,
      bytesMax: 4_096,
      intervalSeconds: 1_209_600,
      staleAfterSeconds: 2 * 1_209_600 + 3_600,
    }),
  ]);
});

test.each(["25d", "10000000000"])(
  "a seconds_max of %s is no shorter time: timers of Node that are longer than 2^31 ms end at once",
  async (most) => {
    const { sources } = await read(
      `sources:\n  - {name: n, section: as_names, format: name-list, location: rib.gz, seconds_max: ${most}}\n`,
    );
    const { secondsMax = 0 } = sources[0] ?? {};
    expect(secondsMax).toBeGreaterThanOrEqual(2_000_000);
    // With the grace of the thread that reads geofeeds.
    expect((secondsMax + 3_600) * 1_000).toBeLessThan(2 ** 31);
  },
);

describe("updates", () => {
  const routes = (name: string) => `  - {name: ${name}, section: routes, format: mrt, location: rib.gz}\n`;
  const updates = (more = "", name = "live") => `  - {name: ${name}, section: updates, format: mrt, location: a-folder${more}}\n`;

  test("go with the only source of routes, wherever that stands, or with the one that they name; a folder is as good as a file", async () => {
    const [live, table] = (await read(`sources:\n${updates()}${routes("rrc00")}`)).sources;
    expect(live).toMatchObject({ section: "updates", location: join(folder, "a-folder"), intervalSeconds: 300, shrinkMax: 1 });
    expect(live?.appliesTo).toBe(table);
    const two = await read(`sources:\n${routes("rrc00")}${routes("linx")}${updates(", applies_to: linx")}`);
    expect(two.sources[2]?.appliesTo?.name).toBe("linx");
  });

  test("of dated files are expected as often as there is one", async () => {
    const dated = "  - {name: live, section: updates, format: mrt, location: 'https://example.net/{HHmm}', every: 15m}\n";
    expect((await read(`sources:\n${routes("rrc00")}${dated}`)).sources[1]).toMatchObject({
      intervalSeconds: 900,
      staleAfterSeconds: 5_400,
    });
  });

  test.each([
    [
      `${routes("a")}${routes("b")}${updates()}`,
      '4:27 section: for updates, "applies_to" must name the source of routes that they apply to: a, b',
    ],
    [`${routes("rrc00")}${updates(", applies_to: rrc0")}`, '3:81 applies_to: there is no source of routes "rrc0"; did you mean "rrc00"?'],
    [
      `${routes("a")}${routes("b")}${updates(", applies_to: other")}`,
      '4:81 applies_to: there is no source of routes "other"; expected one of a, b',
    ],
    [
      `${routes("a")}  - {name: n, section: as_names, format: name-list, location: rib.gz}\n${updates(", applies_to: n")}`,
      '4:81 applies_to: "n" is a source of as_names, not of routes; expected a',
    ],
    [
      `${routes("a")}${updates()}${updates("", "more")}`,
      '4:12 name: updates are already applied to "a" in line 3; list all files in one folder',
    ],
    [`  - {name: a, section: routes, format: mrt, location: rib.gz, applies_to: a}\n`, "2:75 applies_to: is only for a source of updates"],
    [`${routes("a")}${updates(", applies_to: 7")}`, "3:81 applies_to: expected the name of a source of routes, found 7"],
    [`${routes("a")}${updates().replace("a-folder", "nowhere")}`, "3:59 location: DIR/nowhere cannot be read: no such file"],
  ])("%j", async (list, fault) => {
    expect(await faultsOf(`sources:\n${list}`)).toEqual([fault]);
  });
});

test("tells every fault at once, each with its line, in the order of the lines", async () => {
  const text = `full_feed_mn: {ipv4: 10}
sample_data: yes
sources:
  - name: rrc00
    section: routes
    formt: mrt
    location: rib.gz
  - name: rrc00
    section: routes
    format: delegated
    location: missing.gz
    interval: 8
    bytes_max: huge
  - section: routes
    format: ris-live
    location: wss://127.0.0.1:8282
  - just text
`;
  expect(await faultsOf(text)).toEqual([
    '1:1 unknown key "full_feed_mn" in the file; did you mean "full_feed_min"?',
    '2:14 sample_data: expected true or false, found "yes"',
    '4:5 a source has no "format"; expected the name of a format',
    '6:5 unknown key "formt" in a source; did you mean "format"?',
    '8:11 name: "rrc00" is already the name of the source in line 4',
    '10:13 format: "delegated" does not fit section routes; expected mrt',
    "12:15 interval: expected a duration such as 90s, 30m, 8h, 1d or 2w, found 8",
    '13:16 bytes_max: expected a size such as 500MB or 4GiB, or a number of bytes, found "huge"',
    '14:5 a source has no "name"; expected a unique name of letters, digits, dots, dashes and underscores, other than override',
    '15:13 format: "ris-live" is not supported by this version; for routes it reads mrt',
    "16:15 location: wss:// is not supported by this version; give a path, or an http or https URL",
    "17:5 expected a source: a mapping with name, section, format and location",
  ]);
});

test("gives each fault a line of its own in the message, as file:line:column", async () => {
  const error = await read("sources:\n  - {name: a}\n").catch((thrown: unknown) => thrown as SourcesFileError);
  expect((error as SourcesFileError).message.split("\n")).toEqual(
    ["section", "format", "location"].map((key) =>
      expect.stringMatching(new RegExp(`^${join(folder, "sources.yaml")}:2:5: a source has no "${key}"; expected `)),
    ),
  );
});

describe("one fault", () => {
  const source = (member: string) => `sources:\n  - name: a\n    section: routes\n    format: mrt\n    location: rib.gz\n    ${member}\n`;
  test.each([
    ["", '1:1 expected a mapping with "sources"'],
    ["- a\n", '1:1 expected a mapping with "sources"'],
    ["sample_data: true\n", '1:1 the file has no "sources"; expected a list of at least one source'],
    ["sources: []\n", "1:10 sources: expected a list of at least one source, found an empty list"],
    ["sources: *nowhere\n", "1:10 not YAML: an alias (*) without its anchor (&) in front of it"],
    ["sources:\n", "1:9 sources: expected a list of at least one source, found nothing"],
    [`sources: [${good}]\nfull_feed_share: 1.5\n`, "2:18 full_feed_share: expected a share such as 0.2 or 20%, found 1.5"],
    [
      `sources: [${good}]\nfull_feed_share: 0\n`,
      "2:18 full_feed_share: must be greater than 0: with 0, every peer would count as a full feed",
    ],
    [`sources: [${good}]\nfull_feed_min: {ipv4: 0}\n`, "2:23 ipv4: expected a whole number of at least 1, found 0"],
    [`sources: [${good}]\nfull_feed_min: {ipv5: 1}\n`, '2:17 unknown key "ipv5" in "full_feed_min"; did you mean "ipv4"?'],
    [`sources: [${good}]\nfull_feed_min: 10\n`, "2:16 full_feed_min: expected a mapping with ipv4, ipv6, found 10"],
    [`sources: [${good}]\nupstreams_max: 101\n`, "2:16 upstreams_max: expected a whole number from 0 to 100, found 101"],
    [
      `sources: [${good}]\nhistory_kept: never\n`,
      '2:15 history_kept: expected forever, or a duration such as 90s, 30m, 8h, 1d or 2w, found "never"',
    ],
    [`sources: [${good}]\nmatch_peers_min: 1.5\n`, "2:18 match_peers_min: expected a whole number of at least 1, found 1.5"],
    [
      `sources: [${good.replace("name: a", "name: a b")}]\n`,
      '1:18 name: expected a unique name of letters, digits, dots, dashes and underscores, other than override, found "a b"',
    ],
    [
      `sources: [${good.replace("name: a", "name: 12")}]\n`,
      "1:18 name: expected a unique name of letters, digits, dots, dashes and underscores, other than override, found 12",
    ],
    [`sources: [${good.replace("routes", "route")}]\n`, '1:30 section: unknown "route"; did you mean "routes"?'],
    [`sources: [${good.replace("routes", "weather")}]\n`, `1:30 section: unknown "weather"; expected one of ${sourceSections.join(", ")}`],
    [`sources: [${good.replace("routes", "updates")}]\n`, "1:30 section: updates are applied to a source of routes; there is none"],
    [`sources: [${good.replace("mrt", "MRTT")}]\n`, '1:46 format: unknown "MRTT"; did you mean "mrt"?'],
    [
      `sources: [${good.replace("mrt", "ris-live")}]\n`,
      '1:46 format: "ris-live" is not supported by this version; for routes it reads mrt',
    ],
    [
      `sources: [${good.replace("rib.gz", "ftp://example.net/x")}]\n`,
      "1:61 location: ftp:// is not supported by this version; give a path, or an http or https URL",
    ],
    [`sources: [${good.replace("rib.gz", "rob.gz")}]\n`, "1:61 location: DIR/rob.gz cannot be read: no such file"],
    [`sources: [${good.replace("rib.gz", "a-folder")}]\n`, "1:61 location: expected a file, DIR/a-folder is something else"],
    [source("required: maybe"), '6:15 required: expected true or false, found "maybe"'],
    [source("required:"), "6:14 required: expected true or false, found nothing"],
    [source("interval: 0s"), '6:15 interval: expected a duration such as 90s, 30m, 8h, 1d or 2w, found "0s"'],
    [source("interval: 99999999d"), '6:15 interval: expected a duration such as 90s, 30m, 8h, 1d or 2w, found "99999999d"'],
    [
      source("as_of: 2026-02-31"),
      '6:12 as_of: expected a date such as 2026-11-21, or a time such as 2026-11-21T08:00:00Z, found "2026-02-31"',
    ],
    [source("stale_after: often"), '6:18 stale_after: expected never, or a duration such as 90s, 30m, 8h, 1d or 2w, found "often"'],
    [source("seconds_max: -1"), "6:18 seconds_max: expected a duration such as 90s, 30m, 8h, 1d or 2w, or a number of seconds, found -1"],
    [source("bytes_max: 0"), "6:16 bytes_max: expected a size such as 500MB or 4GiB, or a number of bytes, found 0"],
    [source("bytes_max: 1.5B"), '6:16 bytes_max: expected a size such as 500MB or 4GiB, or a number of bytes, found "1.5B"'],
    [source("bytes_max: 4iB"), '6:16 bytes_max: expected a size such as 500MB or 4GiB, or a number of bytes, found "4iB"'],
    [source("shrink_max: 120%"), '6:17 shrink_max: expected a share such as 0.2 or 20%, found "120%"'],
    [`section_shrink_max: {vrps: 2}\nsources: [${good}]\n`, "1:28 vrps: expected a share such as 0.2 or 20%, found 2"],
    [`section_shrink_max: {vrp: 10%}\nsources: [${good}]\n`, '1:22 unknown key "vrp" in "section_shrink_max"; did you mean "vrps"?'],
    [
      `section_shrink_max: 10%\nsources: [${good}]\n`,
      `1:21 section_shrink_max: expected a mapping with ${importedSections.join(", ")}, found "10%"`,
    ],
    [source("bad_records_max: -0.1"), "6:22 bad_records_max: expected a share such as 0.2 or 20%, found -0.1"],
    [
      source("url: x"),
      '6:5 unknown key "url" in a source; expected one of name, section, format, location, required, interval, bytes_max, seconds_max, shrink_max, kind_shrink_max, bad_records_max, count_error_max, covers, network_type, provider, confidence, stale_after, as_of, clock_skew_max, future_dates, applies_to, every, allow_private, allow_downgrade, md5, ca_file, authorization_file',
    ],
    [source("name: b"), "6:5 not YAML: a key appears twice in one mapping"],
    ["sources: [\n", "2:1 not YAML: the indentation is wrong, or a bracket is not closed"],
    ["sources: 1\n---\nsources: 2\n", "2:1 not YAML: a second document begins (---)"],
  ])("%j", async (text, fault) => {
    expect(await faultsOf(text)).toEqual([fault]);
  });
});

describe("a file that is no text of ours is refused in few lines, with the place, and without a word of the library's", () => {
  const faultOf = async (bytes: string | Uint8Array) => {
    writeFileSync(join(folder, "odd.yaml"), bytes);
    const error = await readSources(join(folder, "odd.yaml")).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SourcesFileError);
    return (error as SourcesFileError).message.replaceAll(join(folder, "odd.yaml"), "FILE");
  };
  const nested = (depth: number) => `sources: ${"[".repeat(depth)}`;
  test.each<[string, string | Uint8Array, string]>([
    ["Latin-1", Buffer.from("sources:\n  - name: caf\u00e9\n", "latin1"), "FILE:2:14: not UTF-8 text, probably Latin-1; save it as UTF-8"],
    ["UTF-16 with a mark", Buffer.from("\ufeffsources: []\n", "utf16le"), "FILE:1:1: is UTF-16 text; save it as UTF-8"],
    ["UTF-16 without one", Buffer.from("sources: []\n", "utf16le"), "FILE:1:1: is UTF-16 text; save it as UTF-8"],
    ["a NUL", "sources: []\na: b\0c\n", "FILE:2:5: a NUL character: not a text file"],
    ["deep", nested(20_000), "FILE:1:828: not YAML: nested too deeply"],
  ])("%s", async (what, bytes, message) => {
    expect((await faultOf(bytes)).replace(what === "deep" ? /1:\d+/ : /^$/, "1:828")).toBe(message);
  });

  test("760 brackets, and 200 faults", async () => {
    expect((await faultOf(nested(760))).split("\n").length).toBeLessThanOrEqual(2);
    const lines = (await faultOf(`sources:\n${"  - {name: a}\n".repeat(200)}`)).split("\n");
    expect(lines).toHaveLength(51);
    expect(lines.at(-1)).toMatch(/^FILE: and \d+ more faults$/);
  });
});

test("covers is a list of prefixes, of locations alone", async () => {
  const of = (section: string, format: string, covers: string) =>
    faultsOf(`sources: [{name: a, section: ${section}, format: ${format}, location: rib.gz, covers: ${covers}}]\n`);
  expect(await of("locations", "geofeed", "[192.0.2.0/24, 2001:db8::/32]")).toEqual([]);
  for (const covers of ["192.0.2.0/24", "[]", "[192.0.2.1/24]", "[1]", "[[192.0.2.0/24]]"])
    expect(await of("locations", "geofeed", covers)).toEqual([expect.stringMatching(/covers: expected a list of prefixes such as/)]);
  expect(await of("routes", "mrt", "[192.0.2.0/24]")).toEqual([expect.stringMatching(/covers: is only for section locations/)]);
});

test("what this version does not read is not offered", async () => {
  const of = (section: string, format: string) => faultsOf(`sources: [${good.replace("routes", section).replace("mrt", format)}]\n`);
  for (const text of await of("weather", "ris-liv")) expect(text).not.toMatch(/ris-live/);
  expect(await of("location", "mrt")).toEqual([expect.stringMatching(/did you mean "locations"/)]);
});

test("an optional source may be away: the run tells that, and its last good data stay", async () => {
  expect(await faultsOf(`sources: [${good.replace("rib.gz", "away.gz, required: false")}]\n`)).toEqual([]);
});

test("refuses a file that cannot be read, is no text or is far too large, in one line", async () => {
  await expect(readSources(join(folder, "none.yaml"))).rejects.toThrow(`${folder}/none.yaml: cannot be read: no such file`);
  await expect(read(Uint8Array.of(0xff, 0xfe, 0x00))).rejects.toThrow(/:1:1: is UTF-16 text; save it as UTF-8$/);
  await expect(read("#".repeat(2_000_000))).rejects.toThrow(/cannot be read: 2000000 bytes; a list of sources has at most 1048576/);
});

test("follows aliases and is not blown up by nested ones", async () => {
  const config = await read(
    `sources:\n  - &a {name: a, section: routes, format: mrt, location: &where rib.gz}\n  - {name: b, section: routes, format: mrt, location: *where}\n`,
  );
  expect(config.sources.map(({ name, location }) => [name, location])).toEqual([
    ["a", join(folder, "rib.gz")],
    ["b", join(folder, "rib.gz")],
  ]);
  const levels = Array.from({ length: 30 }, (_, level) => `l${level + 1}: &l${level + 1} [*l${level}, *l${level}]`);
  expect(await faultsOf(`l0: &l0 x\n${levels.join("\n")}\nsources: *l30\n`)).toHaveLength(31 + 2);
});
