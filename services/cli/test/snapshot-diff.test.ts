/** `netfacts snapshot diff` and `rollback`, over two imports of one registry file. */

import { rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDataFolder } from "@netfacts/snapshot";
import { openSqliteStore } from "@netfacts/storage";
import { smallSources } from "../../../test/support/small-sources.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { run, runJson, temporaryFolder } from "./support/run.ts";

const dataDir = temporaryFolder();
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const ids: string[] = [];
beforeAll(async () => {
  for (const country of ["NL", "DE"]) {
    await runJson(dataDir, "ingest", "run", "--sources", smallSources(join(dataDir, country), country));
    ids.push(String((await runJson(dataDir, "snapshot", "show")).id));
  }
});

async function countryOf(ip: string): Promise<unknown> {
  const { allocation } = await runJson(dataDir, "lookup", "ip", ip);
  return (allocation as { registration_country: string }).registration_country;
}

const changed = {
  section: "allocations",
  change: "changed",
  row: { start: "193.0.0.0", end: "193.0.7.255", registry: "ripencc" },
  from: { status: "assigned", registration_country: "NL", allocated_on: "1993-09-01" },
  to: { status: "assigned", registration_country: "DE", allocated_on: "1993-09-01" },
};

test("without names the current snapshot is compared with the one before", async () => {
  const { code, out } = await run(dataDir, "snapshot", "diff");
  expect(code).toBe(exitCodes.ok);
  expect(out).toMatch(`from ${ids[0]}\nto   ${ids[1]}\n\nSECTION`);
  expect(out).toMatch(/^allocations +2026-11-20 +2026-11-20 +0 +0 +1$/m);
  expect(await runJson(dataDir, "snapshot", "diff")).toMatchObject({
    from: ids[0],
    to: ids[1],
    sections: { allocations: { added: 0, removed: 0, changed: 1, same_object: false } },
  });
});

test("--ndjson prints each change, the other way round too", async () => {
  const { out } = await run(dataDir, "snapshot", "diff", "--ndjson");
  expect(
    out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([changed]);
  const back = await run(dataDir, "snapshot", "diff", ids[1] as string, ids[0] as string, "--ndjson");
  expect(JSON.parse(back.out)).toEqual({ ...changed, from: changed.to, to: changed.from });
  expect((await run(dataDir, "snapshot", "diff", "--ndjson", "--section", "vrps")).out).toBe("");
});

test("what is not kept or not a section is refused", async () => {
  const unknown = "20261121T000000Z-00000000";
  expect(await run(dataDir, "snapshot", "diff", unknown)).toMatchObject({
    code: exitCodes.notFound,
    err: expect.stringContaining(unknown),
  });
  expect((await run(dataDir, "snapshot", "diff", "--section", "prefixes")).code).toBe(exitCodes.usage);
  expect(await run(dataDir, "snapshot", "rollback", unknown)).toMatchObject({
    code: exitCodes.notFound,
    err: expect.stringContaining(unknown),
  });
});

async function audited(...args: string[]): Promise<unknown> {
  return (await runJson(dataDir, "audit", ...args)).entries;
}

const here = { actor: `cli:${userInfo().username}`, address: "cli", key_id: null };

test("runs are audited, and kept with who started them", async () => {
  const store = await openSqliteStore(join(dataDir, "store.sqlite"));
  const runs = await store.runs.list(10);
  await store.close();
  expect(runs.map(({ report }) => report)).toMatchObject([{ started_by: here.actor }, { started_by: here.actor }]);
  const entries = await audited("--action", "run.start");
  expect(entries).toHaveLength(2);
  for (const { id } of runs) expect(entries).toContainEqual(expect.objectContaining({ ...here, target: id, details: null }));
});

test("rollback makes the snapshot before the current one, and once more undoes it", async () => {
  expect(await countryOf("193.0.6.139")).toBe("DE");
  expect(await runJson(dataDir, "snapshot", "rollback")).toEqual({ id: ids[0], replaced: ids[1] });
  expect(await countryOf("193.0.6.139")).toBe("NL");
  expect(await openDataFolder(dataDir).takenBack()).toMatchObject([{ section: "allocations", name: "ripencc" }]);
  expect(await audited("--target", ids[0] as string)).toMatchObject([
    { ...here, action: "snapshot.rollback", target: ids[0], details: { replaces: ids[1] } },
  ]);
  expect((await run(dataDir, "snapshot", "rollback", ids[0] as string)).code).toBe(exitCodes.refused);
  expect((await run(dataDir, "snapshot", "rollback")).out).toContain(`${ids[1]} is now the current snapshot, replacing ${ids[0]}`);
  expect(await countryOf("193.0.6.139")).toBe("DE");
  expect(await openDataFolder(dataDir).takenBack()).toEqual([]);
});

test("a rollback without a store of keys is made, and a note says that it is not audited", async () => {
  const store = join(dataDir, "store.sqlite");
  rmSync(store);
  expect(await run(dataDir, "snapshot", "rollback")).toMatchObject({
    code: exitCodes.ok,
    err: `netfacts: the rollback is not in the audit log: there is no store ${store}\n`,
  });
});
