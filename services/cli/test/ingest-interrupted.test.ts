/** `netfacts ingest run` and the signals that end it. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "@jest/globals";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { programArgs } from "../../../test/support/programs.ts";
import { startHostileServer } from "../../ingest/test/support/hostile-server.ts";
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
