/** `netfacts profiles`: overrides of AS profiles, and their history in the audit. */

import { rmSync } from "node:fs";
import { userInfo } from "node:os";
import { afterAll, describe, expect, test } from "@jest/globals";
import { exitCodes } from "../src/exit-codes.ts";
import { run, runJson, temporaryFolder } from "./support/run.ts";

const dataDir = temporaryFolder();
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const json = (...args: string[]) => runJson(dataDir, ...args);
const by = `cli:${userInfo().username}`;

describe("profiles", () => {
  test("override replaces, list pages and searches, show and delete name what is not there", async () => {
    expect((await run(dataDir, "profiles", "list")).code).toBe(exitCodes.notFound);
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
    expect((await run(dataDir, "profiles", "list")).out).toMatch(/^AS +OVERRIDE .*\nAS7 +name: Seven/);
    expect(await json("profiles", "show", "AS3333")).toMatchObject({ override: { organisation: "RIPE NCC" } });
    expect(await json("profiles", "delete", "AS3333")).toEqual({ asn: 3333, deleted: true });
    for (const command of ["show", "delete"]) {
      const { code, err } = await run(dataDir, "profiles", command, "AS3333");
      expect([code, err]).toEqual([exitCodes.notFound, expect.stringContaining("AS3333 has no override")]);
    }
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
