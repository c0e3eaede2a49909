/** Signals that end a command while it works. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "@jest/globals";
import { openSqliteStore } from "@netfacts/storage";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { until } from "../../../test/support/http.ts";
import { programArgs } from "../../../test/support/programs.ts";
import { answer, startHostileServer } from "../../ingest/test/support/hostile-server.ts";
import { delegatedFile } from "../../ingest/test/support/made-files.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { run, temporaryFolder } from "./support/run.ts";

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true }));

test("a signal ends a run by this signal, with its report and without a snapshot", async () => {
  const asked = Promise.withResolvers<void>();
  // Never answers.
  const server = await startHostileServer(() => asked.resolve());
  const sources = join(folder, "sources.yaml");
  writeFileSync(
    sources,
    `sources:\n  - {name: ripe, section: allocations, format: delegated, location: "${server.url}/ripe", allow_private: true, stale_after: never}\n`,
  );
  const args = [...programArgs("cli"), "--data-dir", folder, "ingest", "run", "--sources", sources];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...compileCache }, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, exit] = [text(child.stdout), text(child.stderr), once(child, "exit")];
  await asked.promise;
  child.kill("SIGTERM");
  expect(await exit).toEqual([null, "SIGTERM"]);
  expect(await out).toContain("peak memory");
  expect(await err).toContain("netfacts: stopped; nothing was published\n");
  expect((await run(folder, "snapshot", "list")).code).toBe(exitCodes.notFound);
  await server.stop();
});

test("a run whose messages nobody reads any more goes on to its end", async () => {
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const server = await startHostileServer(async (_request, socket) => {
    asked.resolve();
    await closed.promise;
    answer(socket, 200, {}, delegatedFile());
  });
  const home = join(folder, "unread");
  const sources = join(folder, "unread.yaml");
  writeFileSync(
    sources,
    `sources:\n  - {name: ripe, section: allocations, format: delegated, location: "${server.url}/ripe", allow_private: true, stale_after: never}\n`,
  );
  const args = [...programArgs("cli"), "--data-dir", home, "--json", "ingest", "run", "--sources", sources];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...compileCache }, stdio: ["ignore", "pipe", "pipe"] });
  const [out, exit] = [text(child.stdout), once(child, "exit")];
  await asked.promise;
  child.stderr.destroy();
  closed.resolve();
  expect(await exit).toEqual([0, null]);
  expect(JSON.parse(await out)).toMatchObject({ error: null });
  await server.stop();
});

test("the next run ends one that was killed, and none of a service", async () => {
  const asked = Promise.withResolvers<void>();
  const server = await startHostileServer(() => asked.resolve());
  const home = join(folder, "killed");
  const listOf = (location: string) => {
    const path = join(folder, "killed.yaml");
    const source = `{name: ripe, section: allocations, format: delegated, location: ${location}, stale_after: never}`;
    writeFileSync(path, `sources:\n  - ${source}\n`);
    return ["ingest", "run", "--sources", path];
  };
  const args = [...programArgs("cli"), "--data-dir", home, ...listOf(`"${server.url}/ripe", allow_private: true`)];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...compileCache }, stdio: "ignore" });
  const exit = once(child, "exit");
  await asked.promise;
  child.kill("SIGKILL");
  await exit;
  await server.stop();
  const store = await openSqliteStore(join(home, "store.sqlite"));
  const [killed] = await store.runs.list(1);
  expect(killed).toMatchObject({ state: "running", report: { started_by: expect.stringMatching(/^cli:/) } });
  await store.runs.save({ id: "of-a-service", startedAt: 1, endedAt: null, state: "running", report: { started_by: "schedule" } });
  writeFileSync(join(folder, "delegated"), delegatedFile());
  expect((await run(home, ...listOf(join(folder, "delegated")))).code).toBe(exitCodes.ok);
  const states = new Map((await store.runs.list(3)).map(({ id, state }) => [id, state]));
  expect([states.get(killed?.id ?? ""), states.get("of-a-service"), [...states.values()].sort()]).toEqual([
    "failed",
    "running",
    ["failed", "running", "succeeded"],
  ]);
  await store.close();
});

test("a signal ends an import of standard input, and its copy is removed", async () => {
  const temporary = join(folder, "temporary");
  mkdirSync(temporary);
  const args = [...programArgs("cli"), "--data-dir", folder, "observations", "import", "-", "--format", "ndjson"];
  const env = { ...process.env, ...compileCache, TMPDIR: temporary };
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "ignore", "inherit"] });
  const exit = once(child, "exit");
  child.stdin.write('{"address":"192.0.2.1"}\n');
  await until(() => readdirSync(temporary, { recursive: true }).length === 2);
  child.kill("SIGINT");
  expect(await exit).toEqual([null, "SIGINT"]);
  expect(readdirSync(temporary)).toEqual([]);
});
