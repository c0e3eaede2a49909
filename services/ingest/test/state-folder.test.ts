/** A state folder that cannot be written: ingest is not ready, says which setting is at fault, and leads once it can. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { limitFiles } from "../../../test/support/full-disk.ts";
import { until } from "../../../test/support/http.ts";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import { type NatsServer, startNatsServer } from "../../../test/support/nats-server.ts";
import { programArgs } from "../../../test/support/programs.ts";
import { smallSources } from "../../../test/support/small-sources.ts";
import { StateFolder, type StateFolderDeps } from "../src/state-folder.ts";
import { endAllProcesses, launch } from "./support/launch.ts";

let nats: NatsServer;
let mongodb: Mongodb;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-state-"));
  [nats, mongodb] = await Promise.all([startNatsServer({ jetstream: true }), startMongodb()]);
});
afterAll(async () => {
  await endAllProcesses();
  await Promise.all([nats?.stop(), mongodb?.stop()]);
  rmSync(folder, { recursive: true });
});

test("a file in its place, then a directory, then a full disk: readiness and log follow, with the setting's name", async () => {
  const state = join(folder, "state");
  writeFileSync(state, "a file");
  const ingest = await launch(programArgs("ingest"), {
    NATS_URL: nats.url,
    MONGODB_URI: mongodb.database(`state_folder_${process.pid}`),
    SNAPSHOT_BUCKET: `state-folder-${process.pid}`,
    SOURCES: smallSources(join(folder, "sources"), "NL"),
    INGEST_STATE_DIR: state,
  });
  const { operations_url } = await ingest.said("started");
  const readiness = async () => {
    const answer = await fetch(`${operations_url}/readyz`);
    return `${answer.status} ${(await answer.text()).trim()}`;
  };
  expect(await readiness()).toBe(`503 not ready\nINGEST_STATE_DIR: ${state} cannot be written: it is not a directory`);
  expect(await ingest.said("INGEST_STATE_DIR cannot be written; ingest is not ready")).toMatchObject({ level: "error", folder: state });
  expect(ingest.lines().filter(({ msg }) => msg === "operator API is listening")).toMatchObject([{ leads: false }]);

  rmSync(state);
  mkdirSync(state);
  await until(async () => (await readiness()) === "200 ready", { timeoutMs: 30_000 });
  await ingest.said("run succeeded", 60_000);

  if (!limitFiles(ingest.child.pid as number, 0)) return;
  await until(async () => (await readiness()).startsWith(`503 not ready\nINGEST_STATE_DIR: ${state} cannot be written: `), {
    timeoutMs: 30_000,
  });
  limitFiles(ingest.child.pid as number, "unlimited");
  await until(async () => (await readiness()) === "200 ready", { timeoutMs: 30_000 });
});

test("a leader that can no longer write it gives the lease up, with the reason, and a standby leads", async () => {
  const bucket = `state-folder-lead-${process.pid}`;
  const start = (name: string) =>
    launch(programArgs("ingest"), {
      NATS_URL: nats.url,
      MONGODB_URI: mongodb.database(`state_folder_lead_${process.pid}`),
      SNAPSHOT_BUCKET: bucket,
      SOURCES: smallSources(join(folder, `sources-${name}`), "NL"),
      INGEST_STATE_DIR: join(folder, name),
    });
  const leads = "this process is now the leader";
  const first = await start("first");
  await first.said("run succeeded", 60_000);
  const second = await start("second");
  expect(second.lines().some(({ msg }) => msg === leads)).toBe(false);
  const state = join(folder, "first");
  rmSync(state, { recursive: true });
  writeFileSync(state, "a file");
  const reason = `INGEST_STATE_DIR: ${state} cannot be written: it is not a directory`;
  expect(await first.said("this process is no longer the leader", 60_000)).toMatchObject({ reason });
  await second.said(leads, 60_000);
  const { operations_url } = await first.said("started");
  expect(await (await fetch(`${operations_url}/readyz`)).text()).toBe(`not ready\n${reason}\n`);
  await second.end("SIGTERM");
  rmSync(state);
  await until(async () => first.lines().filter(({ msg }) => msg === leads).length === 2, { timeoutMs: 60_000 });
});

test("one look that finds a fault is not enough", async () => {
  const path = join(folder, "flickers");
  const told: string[] = [];
  const log = { info: () => undefined, error: () => undefined } as unknown as StateFolderDeps["log"];
  const explained: (string | null)[] = [];
  const explain = (reason: string | null) => {
    explained.push(reason);
    // Whole again before the next look.
    if (reason !== null && explained.length === 1) {
      rmSync(path);
      mkdirSync(path);
    }
  };
  mkdirSync(path);
  const state = new StateFolder({ folder: path, log, explain, lookMs: 20 });
  await state.start(
    async () => void told.push("writable"),
    async (fault) => void told.push(fault),
  );
  const spoil = () => {
    rmSync(path, { recursive: true });
    writeFileSync(path, "a file");
  };
  spoil();
  await until(async () => explained.length === 2);
  expect(told).toEqual(["writable"]);
  spoil();
  await until(async () => told.length === 2);
  rmSync(path);
  await until(async () => told.length === 3);
  state.stop();
  expect(told).toEqual(["writable", `INGEST_STATE_DIR: ${path} cannot be written: it is not a directory`, "writable"]);
});

test.each([
  ["/proc/netfacts/state", /^INGEST_STATE_DIR: \/proc\/netfacts\/state cannot be written: (ENOENT|this user|the file system)/],
  ["/dev/null", /^INGEST_STATE_DIR: \/dev\/null cannot be written: it is not a directory$/],
])("%s cannot be written", async (path, fault) => {
  const logged: string[] = [];
  const explained: (string | null)[] = [];
  const write = (_fields: unknown, message?: unknown) => void logged.push(`${message}`);
  const log = { info: write, error: write } as unknown as StateFolderDeps["log"];
  const state = new StateFolder({ folder: path, log, explain: (reason) => void explained.push(reason) });
  let led = false;
  await state.start(
    async () => {
      led = true;
    },
    async () => undefined,
  );
  state.stop();
  expect([led, logged]).toEqual([false, ["INGEST_STATE_DIR cannot be written; ingest is not ready"]]);
  expect(explained).toEqual([expect.stringMatching(fault)]);
});
