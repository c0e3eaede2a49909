/**
 * A snapshot that another process publishes into the folder of a process that serves.
 *
 * @alone It asserts a deadline.
 */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "@jest/globals";
import { median, request, until } from "../support/http.ts";
import { endAll, netfacts, netfactsJson, removeFolders, startStandalone, temporaryFolder } from "../support/processes.ts";
import { isLong } from "../support/runs.ts";
import { smallSources } from "../support/small-sources.ts";

/** Each is an import by a program of its own. */
const rounds = isLong ? 5 : 3;

afterAll(async () => {
  await endAll();
  removeFolders();
});

test("a snapshot that another process publishes answers within a second, and no question fails meanwhile", async () => {
  const home = temporaryFolder();
  const sources = smallSources(temporaryFolder(), "NL");
  const { url, stop } = await startStandalone(home, { SOURCES: sources });
  const { secret: key } = await netfactsJson<{ secret: string }>(home, "keys", "create", "--label", "load", "--rate", "1000000/60s");
  const get = (path: string) => request(`${url}/api/v1${path}`, { key });
  await until(async () => (await get("/me")).status === 200);
  const pointer = () => readFileSync(join(home, "snapshots", "current"), "utf8");
  const country = async () => (await get("/ip/193.0.6.139")).json.allocation.registration_country as string;
  let stopped = false;
  const failed: number[] = [];
  let asked = 0;
  const load = Array.from({ length: 2 }, async () => {
    while (!stopped) {
      const { status } = await get(`/ip/193.0.${asked & 7}.1`);
      asked += 1;
      if (status !== 200) failed.push(status);
      await sleep(15);
    }
  });
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const next = round % 2 === 0 ? "SE" : "FI";
    smallSources(dirname(sources), next);
    const before = pointer();
    const run = netfacts(home, "ingest", "run", "--sources", sources);
    await until(() => pointer() !== before, { timeoutMs: 30_000 });
    times.push(await until(async () => (await country()) === next, { timeoutMs: 10_000 }));
    expect((await run).code).toBe(0);
  }
  stopped = true;
  await Promise.all(load);
  await stop();
  expect(median(times)).toBeLessThan(1_000);
  expect(asked).toBeGreaterThan(50);
  expect(failed).toEqual([]);
});
