/** `netfacts usage`, `netfacts backup`, `netfacts restore`. */

import { existsSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openSqliteStore } from "@netfacts/storage";
import { run, runJson, temporaryFolder } from "./support/run.ts";

let dataDir: string;
const storeFile = (): string => join(dataDir, "store.sqlite");
beforeEach(async () => {
  dataDir = temporaryFolder();
  const store = await openSqliteStore(storeFile());
  const increments = ["AAAAAAAA", "BBBBBBBB"].flatMap((keyId) =>
    ["2026-10-31", "2026-11-21"].flatMap((day) =>
      ["batch", "ip"].map((routeClass) => ({ keyId, bucket: keyId, day, routeClass, counted: 10, uncounted: 1 })),
    ),
  );
  await store.usage.add({ writer: "test", sequence: 1, increments });
  await store.close();
});
afterEach(() => rmSync(dataDir, { recursive: true }));

test("shows this month by key, or whatever is asked", async () => {
  expect((await run(dataDir, "usage")).out).toBe(
    [
      "KEY ID    BUCKET    MONTH    COUNTED  UNCOUNTED",
      "AAAAAAAA  AAAAAAAA  2026-11       20          2",
      "BBBBBBBB  BBBBBBBB  2026-11       20          2",
      "",
      "40 counted, 4 uncounted from 2026-11-01 to 2026-11-30",
      "",
    ].join("\n"),
  );
  expect(await runJson(dataDir, "usage", "--month", "2026-10", "--by", "route_class", "--key", "AAAAAAAA")).toMatchObject({
    total: { counted: 20, uncounted: 2 },
    items: [
      { route_class: "batch", counted: 10, uncounted: 1 },
      { route_class: "ip", counted: 10, uncounted: 1 },
    ],
  });
  expect(await runJson(dataDir, "usage", "--key", "nf_live_aaaaaaaa_…x4Pq", "--bucket", "AAAAAAAA")).toMatchObject({
    total: { counted: 20, uncounted: 2 },
  });
  const byKind = await run(dataDir, "usage", "--month", "2026-10", "--by", "kind");
  expect(byKind.out).toMatch(/^KIND {3}COUNTED {2}UNCOUNTED\nbatch {7}20 {10}2\n/);
  const csv = await run(dataDir, "usage", "--from", "2026-10-01", "--to", "2026-11-30", "--kind", "ip", "--by", "day", "--csv");
  expect(csv.out).toBe("day,counted,uncounted\n2026-10-31,20,2\n2026-11-21,20,2\n");
  expect((await run(dataDir, "usage", "--month", "2025-01")).out).toMatch(/^No usage from/);
});

test("refuses what makes no sense", async () => {
  for (const args of [
    ["--month", "2026-13"],
    ["--from", "2026-11-01"],
    ["--from", "2026-11-02", "--to", "2026-11-01"],
    ["--from", "2026-11-31", "--to", "2026-12-01"],
    ["--from", "2026-02-01", "--to", "2026-02-29"],
    ["--month", "2026-11", "--from", "2026-11-01", "--to", "2026-11-02"],
    ["--csv", "--json"],
    ["--by", "day,month"],
    ["--by", "country"],
    ["--kind", "everything"],
    ["--key", "of somebody"],
  ]) {
    expect(await run(dataDir, "usage", ...args)).toMatchObject({ code: 2, out: "" });
  }
});

test("a backup is whole, is restored in the place of what was there, and is never written over a file", async () => {
  const copy = join(dataDir, "copy.sqlite");
  expect(await run(dataDir, "backup", copy)).toMatchObject({ code: 0, err: "" });
  expect(await run(dataDir, "backup", copy)).toMatchObject({ code: 6, out: "" });
  await runJson(dataDir, "keys", "create", "--label", "later");
  const store = await openSqliteStore(storeFile());
  expect(await run(dataDir, "restore", copy)).toMatchObject({ code: 5, out: "" });
  await store.close();
  const restored = await runJson(dataDir, "restore", copy);
  expect(existsSync(String(restored.replaced))).toBe(true);
  expect(await runJson(dataDir, "keys", "list")).toEqual({ keys: [] });
  expect(await runJson(dataDir, "usage")).toMatchObject({ total: { counted: 40, uncounted: 4 } });
});

test("a backup has uploaded observations in a second file, and a restore puts back both", async () => {
  const feed = join(dataDir, "feed.csv");
  writeFileSync(feed, "192.0.2.0/24,NL,,Amsterdam,\n");
  const uploaded = ["observations", "import", feed, "--format", "geofeed", "--source", "feed"];
  expect(await run(dataDir, ...uploaded)).toMatchObject({ code: 0 });
  const copy = join(dataDir, "copy.sqlite");
  expect(await runJson(dataDir, "backup", copy)).toMatchObject({ file: copy, observations: `${copy}.observations` });
  // Killed in between, it leaves no copy of the store that a restore would take without its observations.
  expect(statSync(`${copy}.observations`, { bigint: true }).mtimeNs <= statSync(copy, { bigint: true }).mtimeNs).toBe(true);
  rmSync(copy);
  expect(await run(dataDir, "backup", copy)).toMatchObject({ code: 6, out: "" });
  expect(existsSync(copy)).toBe(false);
  rmSync(`${copy}.observations`);
  expect(await run(dataDir, "backup", copy)).toMatchObject({ code: 0 });
  rmSync(join(dataDir, "observations.sqlite"));
  expect(await runJson(dataDir, "restore", copy)).toMatchObject({ observations: { replaced: null } });
  expect((await run(dataDir, "observations", "export", "192.0.2.1")).out).toContain("Amsterdam");
  expect((await run(dataDir, "restore", copy)).err).toMatch(/are back: delete them again, and remove \S+observations\S+\n/);

  // A damaged copy of the store leaves observations as they are, too.
  expect(await run(dataDir, "observations", "delete", "--prefix", "192.0.2.0/24")).toMatchObject({ code: 0 });
  truncateSync(copy, 8_192);
  expect(await run(dataDir, "restore", copy)).toMatchObject({ code: 4, err: expect.stringContaining("nothing was changed") });
  expect((await run(dataDir, "observations", "export", "192.0.2.1")).out).not.toContain("Amsterdam");
});

test("a copy that is no store is refused, without advice that would harm it", async () => {
  const copy = join(dataDir, "no-store");
  writeFileSync(copy, "some other file\n".repeat(100));
  const { code, err } = await run(dataDir, "restore", copy);
  expect(code).toBe(4);
  expect(err).toContain("nothing was changed; restore another copy");
  expect(err).not.toContain("move it away");
});

test("a backup of nothing, and a restoring of nothing, are told as that", async () => {
  expect(await run(join(dataDir, "none"), "backup", join(dataDir, "copy"))).toMatchObject({ code: 3, out: "" });
  expect(await run(dataDir, "restore", join(dataDir, "copy"))).toMatchObject({ code: 3, out: "" });
});
