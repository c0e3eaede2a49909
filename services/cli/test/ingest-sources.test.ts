/** `netfacts ingest`: sources with URLs are fetched, and `ingest sources` tells how they fare. */

import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { tryFileLock } from "@netfacts/storage";
import { answer, type HostileServer, serveFile, startHostileServer } from "../../ingest/test/support/hostile-server.ts";
import { delegatedFile } from "../../ingest/test/support/made-files.ts";
import { sourceLines } from "../src/commands/source-lines.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { now, run } from "./support/run.ts";

let folder: string;
let server: HostileServer;
let isAway = false;
beforeEach(async () => {
  isAway = false;
  folder = mkdtempSync(join(tmpdir(), "netfacts-cli-sources-"));
  server = await startHostileServer((request, socket) =>
    isAway || request.path !== "/ripe" ? answer(socket, 404) : serveFile(Buffer.from(delegatedFile()), '"1"')(request, socket),
  );
  writeFileSync(
    join(folder, "sources.yaml"),
    `sources:\n  - {name: ripe, section: allocations, format: delegated, location: "${server.url}/ripe", allow_private: true, stale_after: never}\n`,
  );
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const sources = () => ["--sources", join(folder, "sources.yaml")];

test("fetches, imports, and shows each source with its times", async () => {
  expect((await run(folder, "ingest", "sources", ...sources())).code).toBe(exitCodes.notFound);
  const imported = await run(folder, "ingest", "run", ...sources());
  expect({ code: imported.code, err: imported.err }).toEqual({ code: exitCodes.ok, err: "" });
  expect(imported.out).toContain(`from ${server.url}/ripe, fetched 20`);
  const { code, out } = await run(folder, "ingest", "sources", ...sources());
  expect(code).toBe(exitCodes.ok);
  const [titles, row] = out.split("\n");
  expect(titles).toMatch(/^name +section +state +records +as of +fetched +next$/);
  expect(row).toMatch(/^ripe +allocations +read +10 +2025-11-20 00:00Z +20\S+ \S+Z +20\S+ \S+Z$/);
});

test("the data folder that it makes is for its owner alone", async () => {
  const made = join(folder, "new");
  expect((await run(made, "ingest", "run", ...sources())).code).toBe(exitCodes.ok);
  expect(statSync(made).mode & 0o777).toBe(0o700);
});

test.each([
  ["follows another list", "/elsewhere/sources.yaml", true, true],
  ["follows this list", null, true, false],
  ["has crashed", "/elsewhere/sources.yaml", false, false],
])("a note names an instance on the folder only if it returns to its own data: one that %s", async (_which, other, runs, isNamed) => {
  const owner = { pid: 4711, url: "http://127.0.0.1:8080", follows: other ?? join(folder, "sources.yaml") };
  writeFileSync(join(folder, "owner.json"), JSON.stringify(owner));
  const unlock = tryFileLock(join(folder, "owner.lock"));
  if (!runs) unlock?.();
  const { code, err } = await run(folder, "ingest", "run", ...sources());
  const note =
    "netfacts: process 4711 (http://127.0.0.1:8080) serves this data folder and will soon replace this snapshot, because it imports " +
    `/elsewhere/sources.yaml; to keep this snapshot, stop it, or start it with SOURCES=${join(folder, "sources.yaml")}\n`;
  expect({ code, err }).toEqual({ code: exitCodes.ok, err: isNamed ? note : "" });
  if (runs) unlock?.();
});

test("a lock that cannot be tried fails no import", async () => {
  const follows = "/elsewhere/sources.yaml";
  writeFileSync(join(folder, "owner.json"), JSON.stringify({ pid: 4711, url: "http://127.0.0.1:8080", follows }));
  mkdirSync(join(folder, "owner.lock"));
  const { code, err } = await run(folder, "ingest", "run", ...sources());
  expect({ code, err }).toEqual({ code: exitCodes.ok, err: "" });
});

test("a source that is away ends the import, and stands below the table with its reason", async () => {
  await run(folder, "ingest", "run", ...sources());
  isAway = true;
  const failed = await run(folder, "ingest", "run", ...sources());
  expect(failed.code).toBe(exitCodes.untrusted);
  expect(failed.err).toBe(`netfacts: ripe: ${server.url}/ripe: the server returned status 404\n`);
  expect(failed.out).toMatch(/^ripe: ended the run\nread 0 s/);
  const { out } = await run(folder, "ingest", "sources", ...sources());
  expect(out.split("\n").slice(2)).toEqual(["", `ripe: ${server.url}/ripe: the server returned status 404`, ""]);
  const { items } = JSON.parse((await run(folder, "ingest", "sources", ...sources(), "--json")).out);
  expect(items).toMatchObject([{ name: "ripe", accepted: 10, schedule: { failures: 1, url: `${server.url}/ripe` } }]);
});

test("a source whose time has come and whom nobody asks is due, not to be asked in the past", async () => {
  await run(folder, "ingest", "run", ...sources());
  const { items } = JSON.parse((await run(folder, "ingest", "sources", ...sources(), "--json")).out);
  const nextAt = (time: number | null) => {
    const schedule = { ...items[0].schedule, next_check_at: time === null ? null : new Date(time).toISOString() };
    return sourceLines([{ ...items[0], schedule }], now)[1]
      ?.split(/ {2,}/)
      .at(-1);
  };
  expect([now - 1, now, now + 60_000, null].map(nextAt)).toEqual(["due", "due", "2026-11-21 09:01Z", "–"]);
});
