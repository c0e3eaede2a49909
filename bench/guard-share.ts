/**
 * P5: what part of the gateway's processor time keys, limits, quota and usage take: a profile of its process under load, the samples with a
 * frame of these on their stack against all that were not idle. `scripts/run.sh bench/guard-share.ts [--seconds 10]`
 */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { addressTexts } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { type Backing, withBacking } from "./support/distributed.ts";
import { importModern } from "./support/modern.ts";
import { findWrk, runWrk } from "./support/wrk.ts";

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const { values } = parseArgs({ options: { seconds: { type: "string", default: "10" } } });
const guardFiles = /gateway-auth-quota\/(src|dist)\/(edge\/guard|keys\/|limits\/|usage\/)/;
const parts: [name: string, pattern: RegExp][] = [
  ["keys, limits and quota", guardFiles],
  ["log and metrics of a request", /edge\/observe|runtime\/(src|dist)\/log-destination/],
  ["asking over NATS", /lookups\/dispatcher|libs\/messaging|node_modules\/nats\//],
];
const data = requireData();
const wrk = await findWrk();
if (wrk.found) await withBacking(run);
else console.log(`not run: ${wrk.remedy}`);

async function run(backing: Backing): Promise<void> {
  const { folder, store, key } = backing;
  const { snapshot } = await importModern(data, folder, { store });
  await store.activate(snapshot as string);
  await backing.startPod("ip-routing").logged(/ready for requests/);
  const { url, process } = await backing.startGateway("gateway-auth-quota", ["--cpu-prof", `--cpu-prof-dir=${join(folder, "profile")}`]);
  const paths = addressTexts(data, 2_000).map((ip) => `/api/v1/ip/${ip}`);
  const load = { url, paths, folder, connections: 64, headers: { authorization: `Bearer ${key}` }, seconds: Number(values.seconds) };
  const { answered, failed } = await runWrk(wrk as Extract<typeof wrk, { found: true }>, load);
  await process.stop();
  const [file = ""] = globSync(join(folder, "profile/*.cpuprofile"));
  const shares = sharesOf(JSON.parse(readFileSync(file, "utf8")));
  console.log(`\nP5, ${answered} requests (${failed} failed), share of the gateway's processor time`);
  for (const [name, share] of Object.entries(shares)) console.log(`${name.padEnd(34)}${(share * 100).toFixed(1).padStart(8)} %`);
  console.log(JSON.stringify({ bench: "P5", answered, failed, shares }));
}

/** Only samples of requests count: those below the event loop's callbacks, from the first frame of the guard on. */
function sharesOf({ nodes, samples, timeDeltas }: Profile): Record<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const stackUrls = new Map<number, string[]>();
  for (const { id } of nodes) {
    const urls: string[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) urls.push(byId.get(at)?.callFrame.url ?? "");
    stackUrls.set(id, urls);
  }
  const has = (sample: number, pattern: RegExp) => stackUrls.get(sample)?.some((url) => pattern.test(url)) ?? false;
  const first = samples.findIndex((sample) => has(sample, guardFiles) && has(sample, /edge\/guard/));
  let all = 0;
  const sums = parts.map(() => 0);
  for (let index = first; index < samples.length; index++) {
    const sample = samples[index] as number;
    if (byId.get(sample)?.callFrame.functionName === "(idle)") continue;
    const time = timeDeltas[index] as number;
    all += time;
    for (const [part, [, pattern]] of parts.entries()) if (has(sample, pattern)) sums[part] = (sums[part] as number) + time;
  }
  return Object.fromEntries(parts.map(([name], part) => [name, (sums[part] as number) / all]));
}
