/** Sources with a URL: what may stand beside it, what of it is shown, and locations that hold a time. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { shownUrl } from "../../src/sources/fetch-settings.ts";
import { readSources, SourcesFileError } from "../../src/sources/index.ts";
import { locationsAt } from "../../src/sources/time-template.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-sources-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function read(source: string) {
  writeFileSync(join(folder, "sources.yaml"), `sources:\n  - {name: a, ${source}}\n`);
  return (await readSources(join(folder, "sources.yaml"))).sources[0];
}

async function faultsOf(source: string): Promise<string[]> {
  try {
    await read(source);
    return [];
  } catch (error) {
    if (!(error instanceof SourcesFileError)) throw error;
    return error.faults.map(({ message }) => message);
  }
}

const vrps = "section: vrps, format: rpki-client-json";

test("a URL is fetched by what is safest where nothing else is said", async () => {
  expect(await read(`${vrps}, location: "https://example.net/vrps.json"`)).toMatchObject({
    location: "https://example.net/vrps.json",
    fetch: {
      url: "https://example.net/vrps.json",
      everySeconds: 0,
      allowPrivate: false,
      allowDowngrade: false,
      md5: "no",
      caFile: null,
      authorizationFile: null,
    },
  });
  const registry = await read('section: allocations, format: delegated, location: "https://example.net/delegated"');
  expect(registry?.fetch?.md5).toBe("if-present");
});

test("every key of a fetched source is read", async () => {
  const source = await read(
    `${vrps}, location: "https://u:p@example.net/{yyyy}/{MMdd}.{HHmm}.json", every: 2h, allow_private: true, allow_downgrade: true, md5: true, ca_file: ca.pem, authorization_file: /run/secret`,
  );
  expect(source).toMatchObject({
    location: "https://example.net/{yyyy}/{MMdd}.{HHmm}.json",
    fetch: {
      url: "https://u:p@example.net/{yyyy}/{MMdd}.{HHmm}.json",
      everySeconds: 7_200,
      allowPrivate: true,
      allowDowngrade: true,
      md5: "required",
      caFile: join(folder, "ca.pem"),
      authorizationFile: "/run/secret",
    },
  });
});

test.each([
  [
    `${vrps}, location: "https://example.net/{yyyyMMDD}", every: 1d`,
    ["location: expected {yyyy}, {MM}, {dd}, {HH}, {mm}, or several of them in one such as {yyyyMMdd} in braces"],
  ],
  [
    `${vrps}, location: "https://example.net/{yyyy"`,
    [
      "location: contains times in braces; set `every` to the interval between files, such as 2h",
      "location: expected {yyyy}, {MM}, {dd}, {HH}, {mm}, or several of them in one such as {yyyyMMdd} in braces",
    ],
  ],
  [
    `${vrps}, location: "https://example.net/x", every: 1d`,
    ["every: is only for a location with times, {yyyy}, {MM}, {dd}, {HH}, {mm}, or several of them in one such as {yyyyMMdd}"],
  ],
  [`${vrps}, location: "https:///x:y"`, ["location: is not a URL"]],
  [`${vrps}, location: "https://example.net/x", allow_private: maybe`, ['allow_private: expected true or false, found "maybe"']],
  [
    `${vrps}, required: false, location: ./x, md5: true`,
    ["md5: is only for a source that is fetched, whose location is an http or https URL"],
  ],
])("%s is told as a fault", async (source, expected) => {
  expect((await faultsOf(source)).sort()).toEqual([...expected].sort());
});

test("what is shown of a URL holds no credentials", () => {
  expect(shownUrl("https://user:pa%40ss@example.net/a?depth=0&api_key=s3cret&Signature=x#frag")).toBe(
    "https://example.net/a?depth=0&api_key=…&Signature=…",
  );
  expect(shownUrl("https://example.net/a@b?x=1")).toBe("https://example.net/a@b?x=1");
});

test("dated locations go back from the newest by the grid, in UTC", () => {
  const now = Date.parse("2026-03-01T01:59:59Z");
  const [first, second, ...more] = locationsAt("https://r/{yyyy}.{MM}/RIBS/rib.{yyyyMMdd}.{HHmm}.bz2", 7_200, now);
  expect(first).toBe("https://r/2026.03/RIBS/rib.20260301.0000.bz2");
  expect(second).toBe("https://r/2026.02/RIBS/rib.20260228.2200.bz2");
  expect(more).toHaveLength(11);
  // Coarser than its grid: a name is asked for once.
  expect(locationsAt("https://r/{yyyy-MM-dd}", 7_200, now)).toEqual(["https://r/2026-03-01", "https://r/2026-02-28"]);
  expect(locationsAt("https://r/latest", 0, now)).toEqual(["https://r/latest"]);
});

test("files whose interval does not divide a day begin anew at midnight, as those of a cron job do", () => {
  const now = Date.parse("2026-03-01T06:00:00Z");
  expect(locationsAt("https://r/{yyyyMMdd}.{HH}", 5 * 3_600, now).slice(0, 8)).toEqual(
    ["0301.05", "0301.00", "0228.20", "0228.15", "0228.10", "0228.05", "0228.00", "0227.20"].map((time) => `https://r/2026${time}`),
  );
  expect(locationsAt("https://r/{yyyyMMdd}", 86_400, now).slice(0, 2)).toEqual(["https://r/20260301", "https://r/20260228"]);
});
