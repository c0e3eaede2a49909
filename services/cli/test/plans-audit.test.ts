/** `netfacts keys update | rotate`, `netfacts plans`, `netfacts audit`, and the pepper. */

import { rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { secretMatches } from "@netfacts/keys";
import { openSqliteStore } from "@netfacts/storage";
import { run, runJson, runProcessWith, temporaryFolder, withStore } from "./support/run.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await withStore(temporaryFolder());
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const json = (...args: string[]) => runJson(dataDir, ...args);
const said = async (...args: string[]) => (await run(dataDir, ...args)).out;
const create = (...args: string[]) => json("keys", "create", "--label", "siem-prod", ...args);

describe("keys update", () => {
  test("changes what is given, and nothing else", async () => {
    const { secret: _, ...key } = await create("--month", "9", "--cidr", "198.51.100.0/24");
    const id = String(key.id);
    expect(await json("keys", "update", id, "--label", "renamed", "--month", "plan", "--anywhere", "--concurrency", "4")).toEqual({
      ...key,
      label: "renamed",
      month: null,
      allowed_cidrs: [],
      concurrency: { limit: 4 },
      version: 2,
    });
    expect(await json("keys", "update", id, "--expires", "2127-01-01", "--scopes", "ip,asn")).toMatchObject({
      // The start of that day, as the help says.
      expires_at: "2127-01-01T00:00:00.000Z",
      scopes: ["ip", "asn"],
    });
    expect(await json("keys", "update", id, "--expires", "never")).toMatchObject({ expires_at: null });
    expect(await said("keys", "update", id, "--expires", "never")).toContain("Nothing to change.");
  });

  test("refuses what makes no sense, and the last admin key without --force", async () => {
    const id = String((await create("--scopes", "admin")).id);
    for (const args of [[], ["--label", ""], ["--plan", "none"], ["--cidr", "::1", "--anywhere"], ["--rate", "fast"]]) {
      expect(await run(dataDir, "keys", "update", id, ...args)).toMatchObject({ code: 2, out: "" });
    }
    expect(await run(dataDir, "keys", "update", id, "--scopes", "ip")).toMatchObject({ code: 6, out: "" });
    expect((await run(dataDir, "keys", "update", id, "--expires", "90d")).err).toMatch(/no key .* would be active after .*--force/);
    expect(await run(dataDir, "keys", "update", id, "--cidr", "10.0.0.0/8")).toMatchObject({
      code: 6,
      err: `netfacts: no active key with the scope admin would work from all networks that key ${id} works from now: create another one first, or use --force\n`,
    });
    expect(await run(dataDir, "keys", "update", id, "--cidr", "10.0.0.0/8", "--force")).toMatchObject({ code: 0 });
    expect(await run(dataDir, "keys", "update", id, "--cidr", "10.0.0.0/8", "--cidr", "::1")).toMatchObject({ code: 0 });
    expect(await run(dataDir, "keys", "update", id, "--scopes", "ip", "--force")).toMatchObject({ code: 0 });
    expect(await run(dataDir, "keys", "update", "00000000", "--label", "a")).toMatchObject({ code: 3, out: "" });
  });
});

describe("keys rotate", () => {
  test("prints the successor once, and says until when the old key works", async () => {
    const old = await create("--month", "9");
    const rotated = await json("keys", "rotate", String(old.id), "--overlap", "7d");
    const successor = rotated as typeof rotated & { replaces: { id: string; valid_until: string } };
    expect(successor).toMatchObject({ bucket: old.id, month: { limit: 9 }, replaces: { id: old.id } });
    expect(Math.abs(Date.parse(successor.replaces.valid_until) - Date.now() - 7 * 86_400_000)).toBeLessThan(600_000);
    expect(await json("keys", "show", String(old.id))).toMatchObject({ rotation: { replaced_by: successor.id } });
    const part = String(successor.secret).slice(17, 40);
    expect(await said("keys", "rotate", String(successor.id))).toMatch(
      / {2}nf_live_\w{47}\n\nKey \w{8} \(siem-prod\) works until 20.*Z\.\n$/,
    );
    for (const args of [["keys", "list"], ["keys", "show", String(successor.id)], ["audit"]])
      expect(await said(...args)).not.toContain(part);
  });

  test("refuses a second time, what is revoked, and an overlap out of bounds", async () => {
    const id = String((await create()).id);
    for (const overlap of ["31d", "soon", "-1"])
      expect(await run(dataDir, "keys", "rotate", id, "--overlap", overlap)).toMatchObject({ code: 2 });
    const successor = await json("keys", "rotate", id, "--overlap", "0");
    const { rotation } = (await json("keys", "show", id)) as { rotation: { rotated_at: string; valid_until: string } };
    expect(rotation.valid_until).toBe(rotation.rotated_at);
    expect(await run(dataDir, "keys", "rotate", id)).toMatchObject({ code: 6, err: expect.stringContaining(String(successor.id)) });
    await run(dataDir, "keys", "revoke", String(successor.id));
    expect(await run(dataDir, "keys", "rotate", String(successor.id))).toMatchObject({ code: 6 });
    expect(await run(dataDir, "keys", "rotate", "00000000")).toMatchObject({ code: 3 });
  });
});

describe("plans", () => {
  test("are set, shown, listed and deleted", async () => {
    const team = await json("plans", "set", "team", "--rate", "50/10s", "--month", "1000", "--concurrency", "8");
    expect(team).toMatchObject({
      name: "team",
      rate: { limit: 50, window_seconds: 10 },
      month: { limit: 1_000 },
      concurrency: { limit: 8 },
    });
    expect(await json("plans", "show", "team")).toEqual(team);
    expect(await json("plans", "set", "team", "--rate", "50", "--month", "1000", "--concurrency", "none")).toMatchObject({
      concurrency: null,
    });
    const [titles, row] = (await said("plans", "list")).split("\n");
    expect(titles).toMatch(/^NAME +RATE +MONTH +CONCURRENCY +UPDATED$/);
    expect(row).toMatch(/^team +50\/60s +1000 +– +20/);
    const id = String((await create("--plan", "team")).id);
    expect(await run(dataDir, "plans", "delete", "team")).toMatchObject({ code: 6, out: "" });
    await run(dataDir, "keys", "update", id, "--plan", "default");
    expect(await said("plans", "delete", "team")).toBe("Plan team was deleted.\n");
    expect(await run(dataDir, "plans", "delete", "team")).toMatchObject({ code: 3 });
    expect(await run(dataDir, "plans", "show", "team")).toMatchObject({ code: 3 });
    expect(await run(dataDir, "plans", "show", "default")).toMatchObject({ code: 3, err: expect.stringContaining("gateway's settings") });
  });

  test("`default` goes back to the settings when it was deleted, also where nobody set it", async () => {
    await run(dataDir, "plans", "set", "default", "--rate", "5", "--month", "5");
    expect(await said("plans", "delete", "default")).toBe("Plan default was deleted: the limits of the gateway's settings apply.\n");
    const again = await run(dataDir, "plans", "delete", "default");
    expect(again).toMatchObject({ code: 0, out: "Plan default did not exist: the limits of the gateway's settings apply.\n" });
    expect(await json("plans", "delete", "default")).toEqual({ name: "default", deleted: false });
  });

  test("refuse a name and limits that make no sense", async () => {
    const ran = await run(dataDir, "plans", "set", "Team A", "--rate", "0", "--month", "0");
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err.trim().split("\n")).toHaveLength(3);
  });
});

describe("audit", () => {
  test("tells who did what on which key or plan: this user, from the command line", async () => {
    const id = String((await create()).id);
    await run(dataDir, "keys", "disable", id);
    await run(dataDir, "keys", "disable", id);
    await run(dataDir, "keys", "list");
    await run(dataDir, "plans", "set", "team", "--rate", "5", "--month", "5");
    const { entries } = (await json("audit")) as { entries: Record<string, unknown>[] };
    const by = { actor: `cli:${userInfo().username}`, address: "cli", key_id: null };
    expect(entries).toMatchObject([
      { ...by, action: "plan.put", target: "team" },
      { ...by, action: "key.disable", target: id, details: { changes: { state: { from: "active", to: "disabled" } } } },
      { ...by, action: "key.create", target: id },
    ]);
    const found = async (...args: string[]) => ((await json("audit", ...args)) as { entries: object[] }).entries.length;
    expect(await found("--target", id)).toBe(2);
    expect(await found("--target", id, "--action", "key.create")).toBe(1);
    expect(await found("--limit", "1")).toBe(1);
    expect(await found("--until", "2001-01-01")).toBe(0);
    expect(await found("--since", "2001-01-01")).toBe(3);
    expect(await found("--actor", "key:7Q9M3W8K")).toBe(0);
    expect((await said("audit")).split("\n")[0]).toMatch(/^AT +WHO +FROM +WHAT +ON +DETAILS$/);
    expect(await run(dataDir, "audit", "--limit", "0")).toMatchObject({ code: 2 });
    const backwards = await run(dataDir, "audit", "--since", "2001-01-02", "--until", "2001-01-01");
    expect([backwards.code, backwards.err]).toEqual([2, "netfacts: --since is after --until\n"]);
    expect(await run(dataDir, "audit", "--action", "key.revke")).toMatchObject({
      code: 2,
      err: expect.stringContaining("snapshot.rollback"),
    });
  });
});

test("with a pepper in the environment new keys are hashed with it; a wrong one is told without it", async () => {
  const secret = "0123456789abcdefghijklmnopqrstuvwxyz";
  const file = join(dataDir, "peppers");
  writeFileSync(file, `p2:${secret}\np1:${secret}-1\n`);
  const made = await runProcessWith({ KEY_PEPPERS_FILE: file }, dataDir, "keys", "create", "--label", "a", "--json");
  expect({ code: made.code, err: made.err }).toEqual({ code: 0, err: "" });
  const key = JSON.parse(made.out) as { id: string; secret: string; pepper_id: string };
  const store = await openSqliteStore(join(dataDir, "store.sqlite"));
  const record = await store.keys.find(key.id);
  await store.close();
  expect([key.pepper_id, secretMatches(key.secret, record, new Map([["p2", secret]]))]).toEqual(["p2", true]);
  const wrong = await runProcessWith({ KEY_PEPPERS: "p1:short-secret" }, dataDir, "keys", "create", "--label", "a");
  expect(wrong).toMatchObject({ code: 2, out: "", err: expect.stringContaining("at least 32") });
  expect(wrong.err).not.toContain("short-secret");
});
