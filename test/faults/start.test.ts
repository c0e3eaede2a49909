/**
 * Starts under faults: each ends with one clear line, or goes on with what is there. A full disk is played by the limit of a
 * file's size (EFBIG in place of ENOSPC), as no test can fill a disk without being root.
 */

import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { request } from "../support/http.ts";
import {
  type Ended,
  endAll,
  failingStart,
  launchUnder,
  netfacts,
  ready,
  removeFolders,
  type Standalone,
  startStandalone,
  temporaryFolder,
} from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";

/** A folder that was served before, with two kept snapshots: NL, then SE. */
let served: string;
let sources: string;
let key: string;

beforeAll(async () => {
  served = temporaryFolder();
  sources = smallSources(temporaryFolder(), "NL");
  const first = await startStandalone(served, { SOURCES: sources });
  key = first.key;
  await first.stop();
  smallSources(join(sources, ".."), "SE");
  expect((await netfacts(served, "ingest", "run", "--sources", sources)).code).toBe(0);
});
afterAll(async () => {
  await endAll();
  removeFolders();
});

/** A copy of what was served, to be damaged. */
function copy(): string {
  const home = temporaryFolder();
  cpSync(served, home, { recursive: true });
  return home;
}

function expectOneLine({ code, out, err }: Ended, ...parts: (string | RegExp)[]): void {
  expect(err.trim().split("\n")).toHaveLength(1);
  for (const part of parts) expect(err).toMatch(part);
  expect(err).not.toMatch(/\n\s+at |Error:/);
  expect(code).toBe(1);
  expect(out).not.toContain("answers at");
}

async function countryOf({ url }: Standalone): Promise<string> {
  return (await request(`${url}/api/v1/ip/193.0.6.139`, { key })).json.allocation?.registration_country;
}

describe("what is taken", () => {
  test("a second instance on the same folder names the first, and harms it in nothing; what a killed instance left is taken over", async () => {
    const first = await startStandalone(copy());
    expectOneLine(await failingStart(first.home), first.home, `process ${first.pid}`, first.url, "NETFACTS_HOME=");
    expect((await request(`${first.url}/api/v1/status`)).json.ready).toBe(true);
    first.child.kill("SIGKILL");
    await first.ended;
    expect(existsSync(join(first.home, "owner.json"))).toBe(true);
    const next = await startStandalone(first.home);
    expect(await countryOf(next)).toBe("SE");
    expect((await next.stop()).code).toBe(0);
    expect(existsSync(join(first.home, "owner.json"))).toBe(false);
  });

  describe("a port", () => {
    let server: Server;
    let port: string;
    beforeAll(async () => {
      server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      port = String((server.address() as { port: number }).port);
    });
    afterAll(() => void server.close());

    test.each(["PORT", "TELEMETRY_PORT"])("that %s names and another program has: its owner is named", async (setting) => {
      const home = copy();
      expectOneLine(
        await failingStart(home, { [setting]: port }),
        `port ${port} of 127.0.0.1 is in use`,
        `by process ${process.pid}`,
        ` ${setting}=`,
      );
      expect(existsSync(join(home, "owner.json"))).toBe(false);
    });
  });
});

test("wrong settings are told all at once, of every service, and nothing is begun", async () => {
  const home = join(temporaryFolder(), "not-made");
  const wrong = { PORT: "80x", TELEMETRY_PORT: "70000", LOG_LEVEL: "loud", RDNS_SOCKETS: "99", DEFAULT_RATE_LIMIT: "0" };
  const { code, err } = await failingStart(home, wrong);
  expect(code).toBe(2);
  const lines = err.trim().split("\n");
  expect(lines.map((line) => line.split(" ")[0]).sort()).toEqual(Object.keys(wrong).sort());
  for (const [name, value] of Object.entries(wrong)) expect(lines).toContainEqual(expect.stringMatching(`^${name} must be .*"${value}"`));
  expect(existsSync(home)).toBe(false);
});

test("a file of certificates that is missing is told with the other settings, and before an import", async () => {
  const home = join(temporaryFolder(), "not-made");
  const { code, err } = await failingStart(home, { FETCH_CA_FILE: "/none/fetch.pem", RDNS_TLS_CA_FILE: "/none/dns.pem", PORT: "80x" });
  expect(err.trim().split("\n")).toEqual([
    "FETCH_CA_FILE: /none/fetch.pem does not exist",
    expect.stringMatching(/^PORT must be/),
    "RDNS_TLS_CA_FILE: /none/dns.pem does not exist",
  ]);
  expect(code).toBe(2);
  expect(existsSync(home)).toBe(false);
});

describe("the state folder", () => {
  test("that is a file, or is inside one, is told", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    for (const home of [file, join(file, "inside")]) expectOneLine(await failingStart(home), home, "is a file", "NETFACTS_HOME=");
  });

  test("with a file in the place of a folder, or the other way round, is told with the path", async () => {
    const home = temporaryFolder();
    const places = ["netfacts.log", "snapshots"].map((name) => join(home, name)) as [string, string];
    mkdirSync(places[0]);
    expectOneLine(await failingStart(home), `${places[0]} is a folder`, "NETFACTS_HOME=");
    rmSync(places[0], { recursive: true });
    writeFileSync(places[1], "");
    expectOneLine(await failingStart(home), `${places[1]}/`, "is a file, or is inside one", "NETFACTS_HOME=");
  });

  test("that cannot be written is told", async () => {
    // The one folder in which not even root can make another.
    expectOneLine(await failingStart("/sys/netfacts"), /^\/sys\/netfacts (is not writable for this user|cannot be used)/, "NETFACTS_HOME=");
  });

  test("that can be made nowhere is told, also by the command line", async () => {
    // Where the system says of a new folder that its parent is missing.
    const home = "/proc/netfacts/inside";
    expectOneLine(
      await failingStart(home),
      /^\/proc\/netfacts\/inside (cannot be (created|used)|is not writable for this user)/,
      "NETFACTS_HOME=",
    );
    for (const args of [
      ["keys", "create", "--label", "none"],
      ["ingest", "run", "--sources", sources],
    ]) {
      const { code, out, err } = await netfacts(home, ...args);
      expect([code, out, err]).toEqual([5, "", expect.stringMatching(/^netfacts: .*\/proc\/netfacts\/inside.*\n$/)]);
    }
  });
});

describe("damage", () => {
  test("of the store is told with the file and what to do", async () => {
    const home = copy();
    writeFileSync(join(home, "store.sqlite"), "not a database, but long enough to be looked at as one".repeat(100));
    expectOneLine(await failingStart(home), join(home, "store.sqlite"), "restore it from a backup");
  });

  test("of the current snapshot leaves the one before it in service, and says so", async () => {
    const home = copy();
    damageCurrent(home);
    const standalone = await startStandalone(home);
    expect(standalone.out()).toMatch(/^rejected: snapshot .*section allocations: .*damaged; an older snapshot is in service$/m);
    expect(await countryOf(standalone)).toBe("NL");
    // Importing again mends it while it serves.
    expect((await netfacts(home, "ingest", "run", "--sources", sources)).code).toBe(0);
    await standalone.stop();
    const mended = await startStandalone(home);
    expect(mended.out()).not.toContain("refused");
    expect(await countryOf(mended)).toBe("SE");
    await mended.stop();
  });

  test("of every snapshot is told with what to do, which works", async () => {
    const home = copy();
    const objects = join(home, "snapshots", "objects");
    for (const object of readdirSync(objects)) truncateSync(join(objects, object), 100);
    expectOneLine(await failingStart(home), "100 bytes, but the manifest says", "import again with SOURCES=");
    const mended = await startStandalone(home, { SOURCES: sources });
    expect(await countryOf(mended)).toBe("SE");
    await mended.stop();
  });
});

function damageCurrent(home: string): void {
  const snapshots = join(home, "snapshots");
  const id = readFileSync(join(snapshots, "current"), "utf8").trim();
  const manifest = JSON.parse(readFileSync(join(snapshots, "manifests", `${id}.json`), "utf8"));
  const path = join(snapshots, "objects", manifest.sections.allocations.object);
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

describe("sources that fail", () => {
  const failing = (text: string) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "broken.txt"), "no file of a registry\n");
    const path = join(folder, "sources.yaml");
    writeFileSync(path, text);
    return path;
  };
  const broken = "sources:\n  - {name: a, section: allocations, format: delegated, location: broken.txt}\n";

  test.each([
    ["a file that cannot be trusted", broken, /broken\.txt.*\nthe previous data remain in service/],
    [
      "a list with faults, each with its line",
      "sources:\n  - {name: a, section: nothing}\nsurprise: 1\n",
      /:2:.*\n(.*\n)*.*:3:.*\nthe previous data/,
    ],
  ])("over data that are there, %s is told, and they go on serving", async (_what, text, told) => {
    const standalone = await startStandalone(copy(), { SOURCES: failing(text) });
    expect(standalone.out()).toMatch(told);
    expect(standalone.out().match(/not a delegated/g) ?? []).toHaveLength(text === broken ? 1 : 0);
    expect(await countryOf(standalone)).toBe("SE");
    await standalone.stop();
  });

  test("with nothing to serve it ends, and a start with the samples is not in its way", async () => {
    const home = temporaryFolder();
    const { out, err, ...ended } = await failingStart(home, { SOURCES: failing(broken) });
    expectOneLine({ ...ended, out, err }, "broken.txt");
    expect(`${out}${err}`.match(/not a delegated/g)).toHaveLength(1);
    const list = join(home, "none.yaml");
    expectOneLine(await failingStart(home, { SOURCES: list }), list);
    const standalone = await startStandalone(home, { SOURCES: sources });
    expect(standalone.key).not.toBe("");
    await standalone.stop();
  });
});

describe("a full disk", () => {
  test("at the first moment is told of the folder", async () => {
    const home = join(temporaryFolder(), "home");
    expectOneLine(
      await launchUnder('ulimit -f 0; exec "$@"', home).ended,
      home,
      "is on a full disk; free some space on it, or choose another folder with NETFACTS_HOME=",
    );
  });

  test("at the store is told of the store", async () => {
    const home = temporaryFolder();
    expectOneLine(await launchUnder('ulimit -f 8; exec "$@"', home).ended, join(home, "store.sqlite"));
  });

  test("in an import publishes nothing and leaves nothing half; what is there goes on serving", async () => {
    const big = temporaryFolder();
    const lines = Array.from(
      { length: 40_000 },
      (_, index) => `ripencc|FR|ipv4|${62 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}.0|256|19930901|assigned`,
    );
    mkdirSync(big, { recursive: true });
    writeFileSync(join(big, "ripencc.txt"), `2|ripencc|20261121|${lines.length}|19930901|20261120|+0000\n${lines.join("\n")}\n`);
    cpSync(sources, join(big, "sources.yaml"));
    const home = copy();
    const before = readdirSync(join(home, "snapshots"), { recursive: true }).sort();
    const standalone = await ready(launchUnder('ulimit -f 1000; exec "$@"', home, { SOURCES: join(big, "sources.yaml") }));
    expect(standalone.out()).toMatch(/import failed: .*(disk is full|too large).*\nthe previous data remain in service/);
    expect(await countryOf(standalone)).toBe("SE");
    await standalone.stop();
    expect(readdirSync(join(home, "snapshots"), { recursive: true }).sort()).toEqual(before);
    expect(statSync(join(home, "store.sqlite")).size).toBeGreaterThan(0);
  });
});
