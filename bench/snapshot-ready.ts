/**
 * P6: a full-size snapshot → ready to answer, as a pod does it, in a process of its own: seconds and resident memory. Once from the sources,
 * and once as images run: bundled, with Node's compile cache. Beside it the obvious design on the same data: `dump routes` read into a Map of
 * prefix texts. Then `ip-routing` itself, from its sources and as the container image runs it, which loads it from JetStream: from the start of
 * its process to taking questions, and the loading alone.
 * `scripts/run.sh bench/snapshot-ready.ts`
 */

import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../scripts/bundle.ts";
import { publishSnapshot } from "../test/support/publish-snapshot.ts";
import { requireData } from "./support/data.ts";
import { withBacking } from "./support/distributed.ts";
import { imageForm } from "./support/image-form.ts";
import { importModern } from "./support/modern.ts";
import { median } from "./support/rounds.ts";
import { residentMib, type ServiceProcess } from "./support/service-process.ts";

const rounds = 5;
const program = "bench/support/snapshot-sides";
const source = fileURLToPath(new URL(`../${program}.ts`, import.meta.url));

interface Round {
  readonly ms: number;
  readonly mib: number;
  /** Prefixes. */
  readonly held: number;
}

function measured(args: readonly string[], env = process.env): Round {
  return JSON.parse(spawnSync(process.execPath, ["--no-warnings", ...args], { encoding: "utf8", env }).stdout);
}

const data = requireData();
const made = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
try {
  const report = await importModern(data, made);
  for (const { name, counts } of report.sections) console.log(`${name}: ${JSON.stringify(counts)}`);
  const cli = fileURLToPath(new URL("../services/cli/src/main.ts", import.meta.url));
  const dump = `"${process.execPath}" --conditions=source "${cli}" dump routes --data-dir "${made}" > "${join(made, "routes.tsv")}"`;
  spawnSync("sh", ["-c", dump], { stdio: ["ignore", "inherit", "inherit"] });
  const bundled = await bundle(made, { further: { [program]: `${program}.ts` } });
  const env = { ...process.env, NODE_COMPILE_CACHE: join(made, "compiled") };
  const sides = {
    sources: () => measured(["--conditions=source", source, "snapshot", made]),
    bundled: () => measured([join(bundled.folder, `${program}.js`), "snapshot", made], env),
    map: () => measured(["--conditions=source", source, "map", made]),
  };
  // Fills the cache.
  sides.bundled();
  const results: Record<keyof typeof sides, Round[]> = { sources: [], bundled: [], map: [] };
  for (let round = 0; round < rounds; round++) {
    results.sources.push(sides.sources());
    results.bundled.push(sides.bundled());
    results.map.push(sides.map());
  }
  console.log(`\nP6, ${rounds} rounds, each in a new process, all sides in turn: medians`);
  for (const [name, list] of Object.entries(results)) {
    const of = (pick: (item: (typeof list)[number]) => number) => Math.round(median(list.map(pick)));
    console.log(`${name.padEnd(10)} ${of(({ ms }) => ms)} ms, ${of(({ mib }) => mib)} MiB resident, ${of(({ held }) => held)} prefixes`);
  }
  const pods = await measurePods(made);
  for (const [form, list] of Object.entries(pods)) {
    const middle = (pick: (pod: PodRound) => number) => Math.round(median(list.map(pick)));
    console.log(
      `ip-routing from JetStream, ${form}: ${middle(({ ms }) => ms)} ms from its start to taking questions, ${middle(({ loadMs }) => loadMs)} ms of it loading, ` +
        `${middle(({ mib }) => mib)} MiB resident, ${middle(({ peakMib }) => peakMib)} MiB at most`,
    );
  }
  console.log(JSON.stringify({ bench: "P6", results, pods }));
} finally {
  await rm(made, { recursive: true, force: true });
}

interface PodRound {
  /** From the start of the process to taking questions. */
  readonly ms: number;
  /** As the pod tells it: from the manifest to a snapshot that can answer. */
  readonly loadMs: number;
  readonly mib: number;
  readonly peakMib: number;
}

/** One pod after the other, each with nothing of the snapshot yet, both forms in turn. */
async function measurePods(origin: string): Promise<Record<string, PodRound[]>> {
  const lists: Record<string, PodRound[]> = {};
  await withBacking(async (backing) => {
    const { natsUrl, startPod } = backing;
    await publishSnapshot(natsUrl, "netfacts-snapshots", origin);
    const startAsImage = await imageForm(backing);
    const forms: Record<string, (name: string) => ServiceProcess> = {
      sources: (name) => startPod("ip-routing", name),
      image: (name) => startAsImage("ip-routing", name),
    };
    for (let round = 0; round < rounds; round++)
      for (const [form, start] of Object.entries(forms)) {
        const started = performance.now();
        const pod = start(`${form}-${round}`);
        await pod.logged(/"msg":"ready for requests"/);
        const ms = performance.now() - started;
        const [, loadMs] = await pod.logged(/"load_ms":(\d+),"msg":"snapshot in service"/);
        const { now: mib, peak: peakMib } = residentMib(pod.pid);
        lists[form] = [...(lists[form] ?? []), { ms, loadMs: Number(loadMs), mib, peakMib }];
        await pod.stop();
      }
  });
  return lists;
}
