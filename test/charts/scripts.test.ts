/** The programs that the chart `netfacts` runs once, on running services: the first import, and the question of `helm test`. */

import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { request, until } from "../support/http.ts";
import { madeOrigin } from "../support/made-origin.ts";
import { accessOf } from "../support/nats-users.ts";
import { endAll, netfactsJsonWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { programArgs } from "../support/programs.ts";
import { smallSources } from "../support/small-sources.ts";

const files = resolve(import.meta.dirname, "../../charts/netfacts/files");
const token = "t".repeat(40);
const folder = temporaryFolder();
const tokenFile = join(folder, "proxy-token");
const sources = join(folder, "sources/sources.yaml");
let all: Distributed;

beforeAll(async () => {
  writeFileSync(tokenFile, `${token}\n`);
  // A list that names a file which is not there: the leader's own import fails.
  mkdirSync(join(folder, "sources"));
  writeFileSync(sources, "sources:\n  - {name: ripencc, section: allocations, format: delegated, location: none.txt}\n");
  all = await startDistributed({
    replicas: { "asn-prefix": 0, "rdns-resolver": 0, ingest: 1 },
    settings: { PROXY_TOKEN: token, LOG_LEVEL: "warn" },
    settingsOf: (service) => (service === "ingest" ? { SOURCES: sources } : {}),
    snapshot: null,
  });
}, 120_000);
afterAll(async () => {
  await all?.stop();
  await endAll();
  removeFolders();
});

/** One run of a script; what it prints, and its status. */
async function run(script: string, env: Record<string, string>): Promise<{ status: number; text: string }> {
  const options = { env: { PATH: process.env.PATH, ...env }, timeout: 60_000 };
  return await promisify(execFile)(process.execPath, [join(files, script)], options).then(
    ({ stdout, stderr }) => ({ status: 0, text: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ status: code, text: stdout + stderr }),
  );
}

const firstImport = (settings: Record<string, string> = {}) =>
  run("first-import.mjs", {
    INGEST_URL: all.services.ingest[0]?.url ?? "",
    PROXY_TOKEN_FILE: tokenFile,
    TIMEOUT_SECONDS: "50",
    SOURCES: sources,
    ...settings,
  });

const ask = () =>
  run("ask.mjs", { ...all.env, NETFACTS: programArgs("cli").join(" "), API_URL: all.gateways[0]?.url ?? "", IP: "193.0.6.139" });

test("the first import fails with the run's reason, and starts another run when the list is right", async () => {
  const failed = await firstImport();
  expect(failed).toEqual({ status: 1, text: expect.stringMatching(/^(waiting .*\n)*started run \S+\nrun \S+ failed: .*none\.txt/) });
  smallSources(join(folder, "sources"), "NL");
  expect(await firstImport()).toEqual({
    status: 0,
    text: expect.stringMatching(/started run (\S+)\nrun \1 succeeded: its data are in service\n$/),
  });
  expect(await firstImport()).toEqual({ status: 0, text: expect.stringMatching(/^run \S+ succeeded: its data are in service\n$/) });
}, 120_000);

test("after a change of the list, an earlier run is not enough: a list that cannot be used fails with its reason", async () => {
  const right = readFileSync(sources, "utf8");
  const change = async (text: string): Promise<{ status: number; text: string }> => {
    writeFileSync(sources, text);
    return await firstImport();
  };
  expect(await change(`${right}  - {name: more, section: allocations, formt: delegated, location: more.txt}\n`)).toEqual({
    status: 1,
    text: expect.stringMatching(
      /^the list of sources has errors: .*sources\.yaml:3:40: unknown key "formt" in a source; did you mean "format"\?\n$/,
    ),
  });
  writeFileSync(join(folder, "sources/page.json"), "<html>");
  const page = "  - {name: page, section: vrps, format: rpki-client-json, location: page.json}\n";
  const missing = "  - {name: missing, section: as_names, format: autnums, location: none.txt}\n";
  expect(await change(right + missing + page)).toEqual({
    status: 1,
    text: expect.stringMatching(
      /^(waiting for ingest: source missing was not checked yet\n)?source missing cannot be used: \S*none\.txt: no such file\n$/,
    ),
  });
  // A run shows that it is not what its format says.
  expect(await change(right + page)).toEqual({
    status: 1,
    text: expect.stringMatching(/^(waiting for ingest: source page was not checked yet\n)?source page cannot be used: .*page\.json.*\n$/),
  });
  // The list that ingest has is another one than the Job's.
  const other = join(folder, "other.yaml");
  writeFileSync(other, "sources: []\n");
  expect(await firstImport({ SOURCES: other, TIMEOUT_SECONDS: "0" })).toEqual({
    status: 1,
    text: expect.stringMatching(
      /^waiting for ingest: it does not have this list of sources yet\nno run succeeded within 0 s; see the log of ingest\n$/,
    ),
  });
  expect(await change(right)).toEqual({ status: 0, text: expect.stringMatching(/run \S+ succeeded: its data are in service\n$/) });
}, 240_000);

test("the first import says whom it waits for, ends in time, and does not try on where ingest refuses it", async () => {
  const away = await firstImport({ INGEST_URL: "http://127.0.0.1:9", TIMEOUT_SECONDS: "0" });
  expect(away).toEqual({
    status: 1,
    text: expect.stringMatching(/^waiting for ingest: .+\nno run succeeded within 0 s; see the log of ingest\n$/),
  });
  writeFileSync(tokenFile, "another");
  expect(await firstImport()).toEqual({ status: 1, text: expect.stringMatching(/^ingest refuses the request: 401 invalid_api_key: /) });
});

test("a gateway's pod makes a key, as the chart's notes say, and writes nothing to its folder", async () => {
  const own = join(folder, "pod");
  mkdirSync(own);
  const env = { ...all.env, ...accessOf("gateway-auth-quota"), PATH: process.env.PATH };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...programArgs("cli"), "keys", "create", "--label", "me"], {
    cwd: own,
    env,
  });
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^ {2}nf_live_\w+$/m), ""]);
  expect(readdirSync(own)).toEqual([]);
});

test("the question of `helm test` fails without a route, is answered with one, and leaves no key that works", async () => {
  expect(await ask()).toEqual({ status: 1, text: expect.stringContaining("193.0.6.139 has no route in these data: set test.ip") });
  await all.publish(await madeOrigin(join(folder, "origin")));
  // Pods go over to it a moment after it was published.
  await until(async () => Boolean((await request(`${all.gateways[0]?.url}/api/v1/status`)).json.sections?.routes), { timeoutMs: 60_000 });
  expect(await ask()).toEqual({ status: 0, text: "193.0.6.139 is in 193.0.0.0/21\n" });
  const { keys } = await netfactsJsonWith<{ keys: { label: string; state: string }[] }>(all.env, folder, "keys", "list");
  expect(keys.map(({ label, state }) => [label, state]).sort()).toEqual([
    ["helm test", "revoked"],
    ["helm test", "revoked"],
    ["me", "active"],
  ]);
}, 120_000);
