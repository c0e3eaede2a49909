/** `make dev` as a developer has it: the table, the line that works, and that nothing is left of it however it ends. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeEach, expect, test } from "@jest/globals";
import { until } from "../support/http.ts";
import { removeFolders, temporaryFolder } from "../support/processes.ts";
import { runFolderVariable } from "../support/run-folder.ts";
import { smallSources, smallSourcesWithRoute } from "../support/small-sources.ts";

const root = resolve(import.meta.dirname, "../..");
const startMsMax = 150_000;
/** Lets `make dev` take its services from the bundle of the run. The first test starts them from the sources, as a developer does. */
const fromBundle = { [runFolderVariable]: process.env[runFolderVariable] ?? "" };

/** Somebody else's. */
const taken = createServer();
let folder: string;
let dev: ChildProcess;
let printed: string;
let ended: Promise<unknown[]>;

beforeEach(() => {
  folder = temporaryFolder();
  printed = "";
});
afterEach(async () => {
  if (dev.exitCode !== null) return;
  await stopAtOnce();
});
afterAll(removeFolders);

function start(settings: Readonly<Record<string, string>> = {}): void {
  const args = ["--conditions=source", join(root, "scripts/dev.ts")];
  const { PATH, HOME, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env;
  const env = {
    PATH,
    HOME,
    NODE_NO_WARNINGS: "1",
    TMPDIR: folder,
    // Beside whatever runs on this machine.
    DEV_PORT: "0",
    ...(XDG_CACHE_HOME !== undefined && { XDG_CACHE_HOME }),
    // What make keeps of the sources from one start to the next.
    ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
    ...settings,
  };
  dev = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], env });
  ended = once(dev, "close");
  for (const stream of [dev.stdout, dev.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  }
}

async function stopAtOnce(): Promise<void> {
  dev.kill("SIGINT");
  // Two signals of which nobody heard the first are one.
  await untilPrinted("stopping;");
  dev.kill("SIGINT");
  await ended;
}

async function untilPrinted(text: string | RegExp): Promise<void> {
  const isThere = () => (typeof text === "string" ? printed.includes(text) : text.test(printed));
  await until(() => isThere() || dev.exitCode !== null, { timeoutMs: startMsMax });
  if (!isThere()) throw new Error(`ended before it printed ${text}:\n${printed}`);
}

/** Rows of the table by name: the process number, and the rest of the line. */
function table(): Map<string, { pid: number; rest: string }> {
  const rows = [...printed.matchAll(/^([a-z][\w-]+) +(\d+) +(\S.*)$/gm)];
  return new Map(rows.map(([, name = "", pid, rest = ""]) => [name, { pid: Number(pid), rest }]));
}

/** Command lines of living processes that have this run's folder in their arguments or environment. */
function alive(): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const [command, environment] = ["cmdline", "environ"].map((file) => readFileSync(`/proc/${pid}/${file}`, "utf8"));
      return `${command}${environment}`.includes(folder) ? [`${pid} ${command?.replaceAll("\0", " ")}`] : [];
    } catch {
      // It ended while we looked, or is another user's.
      return [];
    }
  });
}

/** A setting of the living process of a service. */
function settingOf(service: string, name: string): string | undefined {
  const [pid = ""] =
    alive()
      .find((line) => line.includes(`services/${service}/src/main`))
      ?.split(" ") ?? [];
  const settings = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  return settings.find((setting) => setting.startsWith(`${name}=`))?.slice(name.length + 1);
}

test("starts everything, prints where it is and a line that works, and a Ctrl-C stops it all", async () => {
  start({ SOURCES: smallSourcesWithRoute(temporaryFolder(), "NL") });
  await untilPrinted(/^ready/m);
  const rows = table();
  const services = ["ip-routing-0", "ip-routing-1", "asn-prefix-0", "rdns-resolver-0", "ingest-0", "gateway-auth-quota-0"];
  expect([...rows.keys()]).toEqual(expect.arrayContaining(["nats-server", ...services, "gateway-auth-quota-1"]));
  expect(new Set([...rows.values()].map(({ pid }) => pid)).size).toBe(rows.size);
  expect(printed).toMatch(/^Reverse DNS asks /m);
  for (const name of services) expect(printed).toMatch(new RegExp(`^${name} +\\| \\{"level":"info"`, "m"));
  for (const name of services) {
    const operations = rows.get(name)?.rest.split(/\s+/).at(-1);
    expect((await fetch(`${operations}/readyz`)).status).toBe(200);
  }

  const line = /^curl .*$/m.exec(printed)?.[0] ?? "";
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", line]);
  expect(JSON.parse(stdout)).toMatchObject({ ip: "193.0.6.139", routing: { prefix: "193.0.0.0/21" } });
  expect(printed.match(/nf_live_\w{47}/g)).toHaveLength(2);
  const settings = /^(.+) bin\/netfacts keys list$/m.exec(printed)?.[1];
  const keys = await promisify(execFile)("/bin/sh", ["-c", `${settings} exec bin/netfacts keys list`], { cwd: root });
  expect(keys.stdout).toContain("dev");

  dev.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
  expect(printed.trimEnd()).toMatch(/\nstopped$/);
  expect(alive()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
  // Those who ask first.
  const stopped = [...printed.matchAll(/^(\S+) +\| stopped$/gm)].map(([, name]) => name);
  expect(stopped.slice(0, 2).sort()).toEqual(["gateway-auth-quota-0", "gateway-auth-quota-1"]);
  expect(stopped).toHaveLength(7);
});

test("with sources of one's own: when one process is killed it says which with its last lines, and stops all others", async () => {
  const from = 19_000 + (process.pid % 900);
  start({ ...fromBundle, SOURCES: smallSources(temporaryFolder(), "NL"), DEV_PORT: `${from}` });
  await untilPrinted(/^ready/m);
  const at = (name: string) => new URL(table().get(name)?.rest.split(/\s+/)[0] ?? "").port;
  const [nats, ...others] = ["nats-server", "gateway-auth-quota-0", "gateway-auth-quota-1", "ingest-0"].map(at);
  expect([nats, ...others]).toEqual([from + 5, from, from + 1, from + 4].map(String));
  const line = /^curl .*$/m.exec(printed)?.[0] ?? "";
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", line]);
  expect(JSON.parse(stdout)).toMatchObject({ ip: "193.0.6.139", allocation: { registration_country: "NL" }, routing: { announced: null } });
  const { pid } = table().get("ip-routing-1") ?? { pid: Number.NaN };
  process.kill(pid, "SIGKILL");
  expect(await ended).toEqual([1, null]);
  const lines = printed.trimEnd().split("\n");
  expect(lines.at(-1)).toBe(
    `make dev ended: ip-routing-1 (process ${pid}) ended unexpectedly by SIGKILL; all other processes were stopped`,
  );
  expect(lines[lines.indexOf("last lines of ip-routing-1:") + 1]).toMatch('"service":"ip-routing"');
  expect(alive()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test("a second Ctrl-C ends it at once, also while it starts to import the samples", async () => {
  start(fromBundle);
  await untilPrinted(/^ip-routing-0 +\| /m);
  expect(settingOf("ingest", "SOURCES")).toBe(join(root, "samples/sources.yaml"));
  await stopAtOnce();
  expect(await ended).toEqual([130, null]);
  expect(alive()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ["a port that is in use", () => `port ${(taken.address() as AddressInfo).port} of 127.0.0.1 is in use`, "choose another with DEV_PORT="],
  ["a port that is none", () => "DEV_PORT must be 0 or a port from 1 to", '"70000"'],
])("%s is told by the last line, with the setting", async (name, reason, remedy) => {
  taken.listen(0, "127.0.0.1");
  await once(taken, "listening");
  start({ DEV_PORT: name.includes("in use") ? `${(taken.address() as AddressInfo).port}` : "70000" });
  const expected = `make dev ended: ${reason()}`;
  expect(await ended).toEqual([1, null]);
  taken.close();
  await once(taken, "close");
  const last = printed.trimEnd().split("\n").at(-1);
  expect([last?.slice(0, expected.length), last?.includes(remedy)]).toEqual([expected, true]);
  expect(alive()).toEqual([]);
});
