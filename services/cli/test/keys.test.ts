/** `netfacts keys`: what it makes, shows, changes and refuses. */

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parseKeyText } from "@netfacts/keys";
import { openSqliteStore } from "@netfacts/storage";
import { defaultDataDir } from "../src/context.ts";
import { now, run, runJson, runProcess, runProgram, temporaryFolder } from "./support/run.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = temporaryFolder();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const create = (...args: string[]): Promise<Record<string, unknown>> => runJson(dataDir, "keys", "create", "--label", "siem-prod", ...args);
const storeFile = (): string => join(dataDir, "store.sqlite");

describe("create", () => {
  test("makes a key with every read scope and the plan's limits unless told otherwise", async () => {
    const created = await create();
    expect(created).toMatchObject({
      label: "siem-prod",
      environment: "live",
      state: "active",
      scopes: ["ip", "routing", "asn", "prefix", "reverse_dns", "batch"],
      allowed_cidrs: [],
      rate: null,
      month: null,
      expires_at: null,
    });
    expect(parseKeyText(String(created.secret))?.id).toBe(created.id);
  });

  test("takes every option", async () => {
    const options = [
      "--scopes",
      "ip,admin",
      "--expires",
      "2127-01-31T12:00Z",
      "--cidr",
      "198.51.100.0/24",
      "--cidr",
      "::1",
      "--rate",
      "50/10s",
    ];
    expect(await create(...options, "--month", "1000")).toMatchObject({
      scopes: ["ip", "admin"],
      expires_at: "2127-01-31T12:00:00.000Z",
      allowed_cidrs: ["198.51.100.0/24", "::1/128"],
      rate: { limit: 50, window_seconds: 10 },
      month: { limit: 1_000 },
    });
    expect(await create("--test", "--rate", "600")).toMatchObject({ environment: "test", rate: { limit: 600, window_seconds: 60 } });
  });

  test("understands times from now and days", async () => {
    // The stored time of creation is the machine's; a span counts from the command's clock.
    const far = 90_000;
    expect((await create("--expires", `${far}d`)).expires_at).toBe(new Date(now + far * 86_400_000).toISOString());
    expect((await create("--expires", "2127-02-28")).expires_at).toBe("2127-02-28T00:00:00.000Z");
  });

  test("prints the secret once, and nothing else ever does", async () => {
    const { code, out } = await run(dataDir, "keys", "create", "--label", "siem-prod");
    const secret = /nf_live_\w{8}_\w{38}/.exec(out)?.[0] ?? "";
    expect([code, out.split(secret).length]).toEqual([0, 2]);
    const part = secret.slice(17, 40);
    const id = parseKeyText(secret)?.id ?? "";
    for (const args of [["list"], ["show", id], ["disable", id], ["enable", id], ["revoke", id], ["show", secret], ["enable", secret]]) {
      for (const json of [[], ["--json"]]) {
        const ran = await run(dataDir, "keys", ...args, ...json);
        expect(ran.out + ran.err).not.toContain(part);
      }
    }
    expect(readFileSync(storeFile()).includes(part)).toBe(false);
  });

  test.each([
    [["--scopes", "ip,foo"], "Unknown scope: foo"],
    [["--expires", "soon"], "Expected a date"],
    [["--expires", "2127-02-31"], "Expected a date"],
    [["--expires", "2127-02-28T24:00Z"], "Expected a date"],
    [["--expires", "2001-01-01"], "expiry: must be in the future"],
    [["--cidr", "10.1.1.1/8"], "did you mean 10.0.0.0/8?"],
    [["--cidr", "nowhere"], "is not a CIDR or address"],
    [["--rate", "fast"], "Expected requests per window"],
    [["--rate", "0"], "rate: must be 1 to"],
    [["--month", "1e3"], "Expected a whole number"],
    [["--test", "--scopes", "admin"], "must not include admin"],
    [["--plan", "nope"], 'plan "nope": is not the name of a plan; `netfacts plans list` lists all plans'],
    [["--label", ""], "label: must be 1 to 100 characters"],
    [["--colour", "red"], "unknown option '--colour'"],
  ])("refuses %j and makes no key", async (args, message) => {
    const ran = await run(dataDir, "keys", "create", "--label", "a", ...args);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain(message);
    expect((await run(dataDir, "keys", "list")).out).not.toContain("live");
  });

  test("tells every fault at once", async () => {
    const { err } = await run(dataDir, "keys", "create", "--label", "", "--rate", "0", "--month", "0", "--cidr", "x");
    expect(err.trim().split("\n")).toHaveLength(4);
  });
});

describe("list and show", () => {
  test("list prints a table, oldest first", async () => {
    await create("--rate", "50/10s", "--month", "9");
    await create("--test");
    const [titles, ...rows] = (await run(dataDir, "keys", "list")).out.trimEnd().split("\n");
    expect(titles).toMatch(/^ID +KIND +STATE +LABEL +SCOPES +RATE +MONTH +CREATED +EXPIRES$/);
    expect(rows).toEqual([
      expect.stringMatching(/^\w{8} +live +active +siem-prod +ip,.*batch +50\/10s +9 +20\d\d-.*Z +–$/),
      expect.stringMatching(/^\w{8} +test +active +siem-prod .* – +– +20/),
    ]);
  });

  test("show finds a key by id in any case, display form or whole key", async () => {
    const { id, display, secret, ...rest } = await create();
    for (const name of [String(id), String(id).toLowerCase(), String(display), String(secret)]) {
      expect(await runJson(dataDir, "keys", "show", name)).toEqual({ id, display, ...rest });
    }
    expect((await run(dataDir, "keys", "show", String(id))).out).toContain(
      `key          ${display}\nlabel        siem-prod\nstate        active\n`,
    );
  });

  test("an expired key is shown as expired", async () => {
    const { id } = await create();
    const store = await openSqliteStore(storeFile());
    await store.keys.update(String(id), 1, { expiresAt: now });
    await store.close();
    expect(await runJson(dataDir, "keys", "show", String(id))).toMatchObject({ state: "expired" });
  });

  test("what is not there is not found", async () => {
    const missing = await run(dataDir, "keys", "list");
    expect(missing).toMatchObject({ code: 3, out: "" });
    expect(missing.err).toMatch(/^netfacts: there is no store .*--data-dir.*\n$/);
    await create();
    for (const command of ["show", "disable", "enable", "revoke"]) {
      expect(await run(dataDir, "keys", command, "00000000")).toMatchObject({ code: 3, out: "" });
    }
    expect(await run(dataDir, "keys", "show", "what?")).toMatchObject({ code: 2 });
  });
});

describe("disable, enable, revoke", () => {
  test("change the state, and say when it was so already", async () => {
    const id = String((await create()).id);
    const said = async (command: string): Promise<string> => (await run(dataDir, "keys", command, id)).out;
    expect(await said("disable")).toBe(`Key ${id} (siem-prod) is now disabled.\n`);
    expect(await said("disable")).toBe(`Key ${id} (siem-prod) was already disabled.\n`);
    expect(await said("enable")).toBe(`Key ${id} (siem-prod) is now active.\n`);
    expect(await said("revoke")).toBe(`Key ${id} (siem-prod) is now revoked.\n`);
    expect(await runJson(dataDir, "keys", "revoke", id)).toMatchObject({ id, state: "revoked" });
  });

  test("revoked is final", async () => {
    const id = String((await create()).id);
    await run(dataDir, "keys", "revoke", id);
    expect(await run(dataDir, "keys", "enable", id)).toMatchObject({ code: 6, err: expect.stringContaining("revoked, which is final") });
  });

  test("enable says that a key is expired, which it does not change", async () => {
    const id = String((await create()).id);
    await run(dataDir, "keys", "rotate", id, "--overlap", "0");
    // By the clock of the machine, as rotate goes by it.
    const enable = () => runProcess(dataDir, "keys", "enable", id);
    expect(await enable()).toMatchObject({ code: 6, out: "", err: expect.stringContaining(`key ${id} (siem-prod) is expired: `) });
    await run(dataDir, "keys", "disable", id);
    expect(await enable()).toMatchObject({ code: 0, err: expect.stringContaining("the key is expired: ") });
  });

  test("the last active admin key stays unless forced", async () => {
    const id = String((await create("--scopes", "admin")).id);
    for (const command of ["disable", "revoke"]) expect(await run(dataDir, "keys", command, id)).toMatchObject({ code: 6, out: "" });
    expect(await run(dataDir, "keys", "revoke", id, "--force")).toMatchObject({ code: 0 });
  });
});

describe("a store in trouble", () => {
  test("damaged: one line, exit code 4", async () => {
    writeFileSync(storeFile(), "this is no database ".repeat(400));
    const ran = await run(dataDir, "keys", "list");
    expect(ran).toMatchObject({ code: 4, out: "" });
    expect(ran.err).toMatch(/^netfacts: store .*store\.sqlite: .*; restore it from a backup.*\n$/);
  });

  test("locked: waits, then one line, exit code 5", async () => {
    await create();
    const holder = new DatabaseSync(storeFile());
    holder.exec("BEGIN EXCLUSIVE");
    const ran = await run(dataDir, "keys", "list");
    holder.close();
    expect(ran).toMatchObject({ code: 5, out: "" });
    expect(ran.err.trim().split("\n")).toHaveLength(1);
  });
});

describe("the program", () => {
  test("creates in one process what another lists", async () => {
    const made = await runProcess(dataDir, "keys", "create", "--label", "a", "--json");
    expect(made).toMatchObject({ code: 0, err: `netfacts: made a new store ${storeFile()}\n` });
    const listed = await runProcess(dataDir, "keys", "list", "--json");
    const { secret, ...key } = JSON.parse(made.out) as Record<string, unknown>;
    expect(JSON.parse(listed.out)).toEqual({ keys: [key] });
    expect(listed.out).not.toContain(String(secret).slice(17, 40));
  });

  test("without --data-dir, works on the data folder of `make up`", async () => {
    const repository = join(import.meta.dirname, "../../..");
    expect(defaultDataDir({})).toBe(join(repository, ".netfacts"));
    expect(defaultDataDir({ NETFACTS_HOME: "" })).toBe(join(repository, ".netfacts"));
    expect(defaultDataDir({ NETFACTS_HOME: "../elsewhere" })).toBe(join(repository, "../elsewhere"));
    const { code, err } = await runProgram({ NETFACTS_HOME: dataDir }, "keys", "create", "--label", "a");
    expect([code, err]).toEqual([0, `netfacts: made a new store ${storeFile()}\n`]);
  });

  test.each([
    ["plans", "set", "team", "--rate", "5/1s", "--month", "5"],
    ["profiles", "override", "AS1", "--name", "A"],
    ["observations", "delete", "--address", "192.0.2.1"],
    ["observations", "import", "-", "--format", "ndjson"],
    ["keys", "revoke", "ABCDEFGH"],
  ])("%s %s makes no store where none is, and names the one it looked for", async (...args) => {
    const { code, out, err } = await run(dataDir, ...args);
    expect([code, out, err]).toEqual([3, "", expect.stringContaining(`there is no store ${storeFile()}: name the data folder`)]);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test("ends with its exit code and keeps standard output for results", async () => {
    expect(await runProcess(dataDir, "keys", "list")).toMatchObject({ code: 3, out: "" });
    expect(await runProcess(dataDir, "bogus")).toMatchObject({ code: 2, out: "" });
  });
});
