/**
 * From the request that overrides a profile to the first answer that has it, with the full table in one process. Each override starts a run of two sections,
 * and the pod loads what it publishes.
 * `scripts/run.sh bench/override.ts [--overrides 12] [--bundle FOLDER (runs from a bundle, as images do)]`
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { requireData } from "./support/data.ts";
import { keyOf } from "./support/data-folder-key.ts";
import { writeModernSources } from "./support/modern.ts";
import { median } from "./support/rounds.ts";
import { residentMib, startProcess } from "./support/service-process.ts";

const { values } = parseArgs({ options: { overrides: { type: "string", default: "12" }, bundle: { type: "string" } } });
/** Between two answers to the same question. */
const askMs = 10;
/** What an override starts has ended by then. */
const restMs = 3_000;

const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
try {
  await measure(await writeModernSources(requireData(), folder));
} finally {
  await rm(folder, { recursive: true });
}

async function measure(sources: string): Promise<void> {
  const home = join(folder, "home");
  const program = "services/standalone/src/main";
  const child = startProcess(values.bundle === undefined ? `${program}.ts` : join(resolve(values.bundle), `${program}.js`), {
    name: "standalone",
    folder,
    env: { NETFACTS_HOME: home, SOURCES: sources, OPERATOR_PORT: "0", RESOLVERS: "127.0.0.1:9" },
  });
  try {
    await child.logged(/^ready/m);
    const [, url = ""] = await child.logged(/answers at (\S+) /);
    const [, operatorUrl = ""] = await child.logged(/^Operator API: (\S+)\/docs/m);
    const secret = keyOf(home, "--scopes", "admin");
    const key = keyOf(home, "--rate", "100000/60s");
    const admin = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const before = residentMib(child.pid);
    const delays: number[] = [];
    for (let at = 0; at < Number(values.overrides); at++) {
      await sleep(restMs);
      const name = `OVERRIDDEN ${at}`;
      const since = performance.now();
      const put = await fetch(`${operatorUrl}/admin/v1/profiles/AS3333`, { method: "PUT", headers: admin, body: JSON.stringify({ name }) });
      if (!put.ok) throw new Error(`the override was refused: ${await put.text()}`);
      while ((await nameOf(url, key)) !== name) await sleep(askMs);
      delays.push(performance.now() - since);
    }
    const memory = residentMib(child.pid);
    const rounded = delays.map(Math.round);
    console.log(`ms from request to answer: median ${Math.round(median(delays))}, of ${rounded.join(", ")}`);
    console.log(`memory of the process, MiB: ${before.now} before, ${memory.now} after, ${memory.peak} at most`);
    console.log(JSON.stringify({ bench: "override", delays: rounded, before, memory }));
  } finally {
    await child.stop();
  }
}

async function nameOf(url: string, key: string): Promise<string | null> {
  const response = await fetch(`${url}/api/v1/asn/AS3333?limit=1`, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`the question was refused: ${await response.text()}`);
  return ((await response.json()) as { name: string | null }).name;
}
