/** The cluster of `make test-cluster` ends with the run under `CI`, and what an earlier run left is no harm. The cluster tool is replaced by one that takes notes. */

import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { until } from "../support/http.ts";
import { type PlantedRun, PlantedSuite } from "./planted-suite.ts";

const root = resolve(import.meta.dirname, "../..");
/** Of etcd, where nobody looks for a cluster that runs. */
const port = "1";
const passing = 'import { test } from "@jest/globals"; test("passes", () => {});';

let planted: PlantedSuite;
let tool: string;
let notes: string;
let leftover: ChildProcess | undefined;
beforeEach(() => {
  planted = new PlantedSuite();
  tool = join(planted.root, "tool");
  notes = join(planted.root, "notes");
  for (const name of ["up.sh", "down.sh"]) {
    planted.write(`tool/${name}`, `#!/bin/sh\necho ${name} "$1" >>${notes}\nsleep 1\n`);
    chmodSync(join(tool, name), 0o755);
  }
  planted.write("test/cluster/support/tear-down.ts", "export default () => {};");
  planted.write("test/cluster/passes.test.ts", passing);
  setUp("");
});
afterEach(() => {
  leftover?.kill("SIGKILL");
  leftover = undefined;
  planted.remove();
});

/** What happens before the tests, with the support of the cluster's own. */
function setUp(lines: string): void {
  planted.write(
    "test/cluster/support/set-up.ts",
    `import { makeRoom } from ${JSON.stringify(join(root, "test/cluster/support/running-cluster.ts"))};
     import { writeFileSync } from "node:fs";
     export default async () => { ${lines} };`,
  );
}

/** What `up.sh` leaves in a folder. */
function store(folder: string): void {
  for (const name of ["bin/kube", "logs/etcd.log", "etcd/member", "env"]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "");
  }
}

/** A process that looks as etcd of a cluster in the folder does. */
async function startEtcd(folder: string): Promise<void> {
  const args = ["etcd", `--data-dir=${folder}/etcd`, `--listen-client-urls=http://127.0.0.1:${port}`];
  leftover = spawn(process.execPath, ["-e", "console.log(); setInterval(() => {}, 1_000)", "--", ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await new Promise((done) => leftover?.stdout?.once("data", done));
}

const noted = () => (existsSync(notes) ? readFileSync(notes, "utf8").trim().split("\n") : []);
const own = () => join(planted.root, ".cache/netfacts/cluster");
function run(env: Readonly<Record<string, string>>, started?: (run: ChildProcess) => void): Promise<PlantedRun> {
  return planted.run(["--cluster"], started, { NETFACTS_CLUSTER_TOOL: tool, CLUSTER_ETCD_PORT: port, ...env });
}

test("it ends with the run under CI, and only its programs and logs are kept", async () => {
  store(own());
  expect(await run({ CI: "true" })).toMatchObject({ line: "1 passed, 0 failed", status: 0 });
  expect(noted()).toEqual([`down.sh ${own()}`]);
  expect(readdirSync(own()).sort()).toEqual(["bin", "logs"]);
});

test("it ends with a run that is ended", async () => {
  store(own());
  const begun = join(planted.root, "begun");
  setUp(`writeFileSync(${JSON.stringify(begun)}, ""); await new Promise((done) => setTimeout(done, 300_000));`);
  const ran = run({ CI: "true" }, (child) => {
    const whenNoted = (isNoted: () => boolean) => until(isNoted, { timeoutMs: 60_000 }).then(() => child.kill("SIGTERM"));
    void whenNoted(() => existsSync(begun));
    // Under timeout, a signal comes by make and to the whole group.
    void whenNoted(() => noted().length === 1);
  });
  expect(await ran).toMatchObject({ line: "0 passed, 2 failed", status: 1 });
  expect(noted()).toEqual([`down.sh ${own()}`]);
  expect(readdirSync(own()).sort()).toEqual(["bin", "logs"]);
});

test.each([
  ["without CI", {}],
  ["when it is the one of KUBECONFIG", { CI: "true", KUBECONFIG: "/none" }],
])("it keeps running %s", async (_, env) => {
  store(own());
  expect(await run(env)).toMatchObject({ line: "1 passed, 0 failed", status: 0 });
  expect(noted()).toEqual([]);
});

test("one that an earlier run left in the cache of another user ends before the tests, under CI", async () => {
  const other = join(planted.root, "other/netfacts/cluster");
  store(other);
  await startEtcd(other);
  setUp("await makeRoom();");
  expect(await run({ CI: "true" })).toMatchObject({ line: "1 passed, 0 failed", status: 0 });
  expect(noted()).toEqual([`down.sh ${other}`]);
});

test.each([
  ["of somebody else", { CI: "true" }, "other/cluster"],
  ["of another user, without CI", {}, "other/netfacts/cluster"],
])("one %s is left alone, and the run says how to end it", async (_, env, path) => {
  const other = join(planted.root, path);
  store(other);
  await startEtcd(other);
  setUp("await makeRoom();");
  const { status, report } = await run(env);
  expect([status, report]).toEqual([1, expect.stringContaining(`end it with ${tool}/down.sh ${other}`)]);
  expect(noted()).toEqual([]);
});
