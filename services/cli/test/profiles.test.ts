/** `netfacts profiles`: overrides of AS profiles, and their history in the audit. */

import { rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { exitCodes } from "../src/exit-codes.ts";
import { run, runJson, temporaryFolder, withStore } from "./support/run.ts";

const dataDir = temporaryFolder();
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const json = (...args: string[]) => runJson(dataDir, ...args);
const by = `cli:${userInfo().username}`;

describe("profiles", () => {
  test("override replaces, list pages and searches, show and delete name what is not there", async () => {
    expect((await run(dataDir, "profiles", "list")).code).toBe(exitCodes.notFound);
    await withStore(dataDir);
    const first = await json("profiles", "override", "AS3333", "--name", "RIPE", "--website", "-", "--network-type", "non_profit", "ix");
    expect(first).toMatchObject({ asn: 3333, override: { name: "RIPE", website: null, network_types: ["non_profit", "ix"] }, by });
    expect(await json("profiles", "override", "3333", "--organisation", "RIPE NCC")).toMatchObject({
      override: { organisation: "RIPE NCC" },
    });
    await json("profiles", "override", "1.10", "--network-type", "isp");
    await json("profiles", "override", "AS7", "--name", "Seven");
    const listed = async (...args: string[]) =>
      ((await json("profiles", "list", ...args)).profiles as { asn: number }[]).map(({ asn }) => asn);
    expect(await listed()).toEqual([7, 3333, 65_546]);
    expect(await listed("--limit", "1", "--after", "AS7")).toEqual([3333]);
    expect(await listed("--search", "ripe ncc")).toEqual([3333]);
    expect((await run(dataDir, "profiles", "list")).out).toMatch(/^AS +FIELD +VALUE +SOURCE +AS OF *\nAS7 +name +Seven +override/);
    expect(await json("profiles", "show", "AS3333")).toMatchObject({ override: { organisation: "RIPE NCC" } });
    expect(await json("profiles", "delete", "AS3333")).toEqual({ asn: 3333, deleted: true });
    const gone = { show: "no source and no override describes AS3333", delete: "AS3333 has no override" };
    for (const [command, reason] of Object.entries(gone)) {
      const { code, err } = await run(dataDir, "profiles", command, "AS3333");
      expect([code, err]).toEqual([exitCodes.notFound, expect.stringContaining(reason)]);
    }
  });

  test("after an import, each field is shown with its source, and what an override replaces", async () => {
    writeFileSync(join(dataDir, "names"), "9\tNINE\n10\tTEN\n");
    const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
    const lines = [`2|ripencc|${today}|1|19830101|${today}|+0100`, "ripencc|*|asn|*|1|summary", "ripencc|NL|asn|9|1|20200101|assigned", ""];
    writeFileSync(join(dataDir, "ripencc"), lines.join("\n"));
    const sources = join(dataDir, "sources.yaml");
    writeFileSync(
      sources,
      "sources:\n  - {name: ripencc, section: allocations, format: delegated, location: ripencc}\n  - {name: names, section: as_names, format: name-list, location: names}\n",
    );
    expect(await run(dataDir, "ingest", "run", "--sources", sources)).toMatchObject({ code: 0 });
    await json("profiles", "override", "AS9", "--name", "Nine, Ltd");
    expect(await json("profiles", "show", "AS9")).toMatchObject({
      asn: 9,
      fields: [
        { field: "name", value: "Nine, Ltd", source: "override", others: [{ value: "NINE", source: "names" }] },
        { field: "registry", value: "ripencc", source: "ripencc", others: [] },
        { field: "registration_country", value: "NL" },
        { field: "status", value: "assigned" },
        { field: "allocated_on", value: "2020-01-01" },
      ],
      override: { name: "Nine, Ltd" },
    });
    const { out } = await run(dataDir, "profiles", "show", "AS9");
    expect(out).toMatch(/name +Nine, Ltd +override .*\n +NINE +names /);
    const listed = async (...args: string[]) =>
      ((await json("profiles", "list", ...args)).profiles as { asn: number }[]).map(({ asn }) => asn);
    expect(await listed("--source", "names")).toEqual([9, 10]);
    expect(await listed("--field", "registry")).toEqual([9]);
    expect(await listed("--source", "override", "--after", "8", "--limit", "1")).toEqual([9]);
    expect((await run(dataDir, "profiles", "list", "--field", "colour")).code).toBe(exitCodes.usage);
  });

  test("the audit has the history of an override", async () => {
    const { entries } = await json("audit", "--target", "AS3333");
    expect(entries).toMatchObject([
      { action: "profile.delete", actor: by, details: { from: { organisation: "RIPE NCC" }, to: null } },
      { action: "profile.put", details: { from: { name: "RIPE" }, to: { organisation: "RIPE NCC" } } },
      { action: "profile.put", details: { from: null, to: { name: "RIPE", website: null } } },
    ]);
  });

  test.each([
    [[], "says nothing"],
    [["--name", "a\nb"], "name: must be one line"],
    [["--name", "x".repeat(257)], "name: must be one line of 1 to 256 letters"],
    [["--website", "javascript:alert(1)"], "website: must be an http or https URL"],
    [["--network-type", "Two Words"], "network_types: must be 1 to 8 different words"],
    [["--network-type", "isp", "isp"], "network_types: must be 1 to 8 different words"],
  ])("%j is refused", async (args, reason) => {
    const { code, err } = await run(dataDir, "profiles", "override", "AS1", ...args);
    expect([code, err]).toEqual([exitCodes.usage, expect.stringContaining(reason)]);
    expect((await run(dataDir, "profiles", "show", "AS1")).code).toBe(exitCodes.notFound);
  });
});
