/**
 * P6: a full-size snapshot → ready to answer, as a pod does it, in a process of its own: seconds and resident memory. Beside it the
 * obvious design on the same data: `dump routes` read into a Map of prefix texts. Then `ip-routing` itself, from its sources and as the
 * container image runs it, which loads it from JetStream: from the start of its process to taking questions, and the loading alone.
 * `scripts/run.sh bench/snapshot-ready.ts`
 */

import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LoaderThreads, openDataFolder, SnapshotFollower, snapshotsFolder } from "@netfacts/snapshot";
import { publishSnapshot } from "../test/support/publish-snapshot.ts";
import { requireData } from "./support/data.ts";
import { withBacking } from "./support/distributed.ts";
import { imageForm } from "./support/image-form.ts";
import { importModern } from "./support/modern.ts";
import { median } from "./support/rounds.ts";
import { residentMib, type ServiceProcess } from "./support/service-process.ts";

const rounds = 5;
const self = fileURLToPath(import.meta.url);
const [, , side, folder] = process.argv;

/** One side in a process of its own: prints milliseconds, resident MiB, and how much it holds. */
async function measure(run: () => Promise<number>): Promise<void> {
  const started = performance.now();
  const held = await run();
  const ms = performance.now() - started;
  console.log(JSON.stringify({ ms, mib: process.memoryUsage.rss() / 2 ** 20, held }));
}

if (side === "snapshot" && folder !== undefined) {
  await measure(async () => {
    const follower = new SnapshotFollower(
      openDataFolder(folder),
      new LoaderThreads({ kind: "folder", path: join(folder, snapshotsFolder) }),
    );
    await follower.start();
    follower.stop();
    return follower.current()?.routes?.prefixes.base.size ?? 0;
  });
} else if (side === "map" && folder !== undefined) {
  await measure(async () => {
    const map = new Map<string, { origin: string; full: number; all: number; state: string }[]>();
    for (const line of (await readFile(join(folder, "routes.tsv"), "utf8")).split("\n")) {
      const [prefix, origin, full, all, state] = line.split("\t");
      if (prefix === undefined || origin === undefined || state === undefined) continue;
      const origins = map.get(prefix);
      const item = { origin, full: Number(full), all: Number(all), state };
      if (origins === undefined) map.set(prefix, [item]);
      else origins.push(item);
    }
    return map.size;
  });
} else {
  const data = requireData();
  const made = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
  try {
    const report = await importModern(data, made);
    for (const { name, counts } of report.sections) console.log(`${name}: ${JSON.stringify(counts)}`);
    const cli = fileURLToPath(new URL("../services/cli/src/main.ts", import.meta.url));
    const dump = `"${process.execPath}" --conditions=source "${cli}" dump routes --data-dir "${made}" > "${join(made, "routes.tsv")}"`;
    spawnSync("sh", ["-c", dump], { stdio: ["ignore", "inherit", "inherit"] });
    const results: Record<string, { ms: number; mib: number; held: number }[]> = { snapshot: [], map: [] };
    for (let round = 0; round < rounds; round++)
      for (const [name, list] of Object.entries(results)) {
        const { stdout } = spawnSync(process.execPath, ["--conditions=source", "--no-warnings", self, name, made], { encoding: "utf8" });
        list.push(JSON.parse(stdout));
      }
    console.log(`\nP6, ${rounds} rounds, each in a new process, both sides in turn: medians`);
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
