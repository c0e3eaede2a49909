/**
 * P8 and P10: a gzip RIB → published snapshot, in a process of its own, beside `bgpdump -m` to /dev/null on the same file; and the same
 * again, over the history of the first import.
 * `scripts/run.sh bench/ingest-rib.ts [--peers 8 --limit 200000 (0: all, 8 M routes)] [--rounds 3]`
 */

import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readSources, runIngest } from "@netfacts/ingest/app";
import { openDataFolder } from "@netfacts/snapshot";
import { findBgpdump } from "../test/support/bgpdump.ts";
import { requireData } from "./support/data.ts";
import { makeRib } from "./support/modern.ts";
import { median } from "./support/rounds.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    peers: { type: "string", default: "8" },
    limit: { type: "string", default: "200000" },
    rounds: { type: "string", default: "3" },
  },
});
const self = fileURLToPath(import.meta.url);

interface Own {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peak_rss_bytes: number;
  readonly bytes: { readonly routes?: number; readonly history?: number };
}

const [ownFolder] = positionals;
if (ownFolder !== undefined) {
  // Our side, in a process of its own.
  const started = performance.now();
  const store = openDataFolder(join(ownFolder, "data"));
  const { stages, peak_rss_bytes, sections } = await runIngest({ config: await readSources(join(ownFolder, "sources.yaml")), store });
  const { user, system } = process.cpuUsage();
  const seconds = (performance.now() - started) / 1000;
  const manifest = await store.getManifest((await store.currentId()) as string);
  const bytes = { routes: manifest.sections.routes?.bytes, history: manifest.ingest_objects.history?.bytes };
  console.log(JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6, stages, peak_rss_bytes, sections, bytes }));
} else {
  await compare();
}

async function compare(): Promise<void> {
  const data = requireData();
  const bgpdump = await findBgpdump();
  if (!bgpdump.found) {
    console.log(`not run: ${bgpdump.remedy}`);
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
  try {
    const rib = join(folder, "rib.mrt.gz");
    makeRib(data, rib, Number(values.peers), Number(values.limit));
    await writeFile(join(folder, "sources.yaml"), `sources:\n  - {name: synthetic, section: routes, format: mrt, location: ${rib}}\n`);
    const seconds: Record<"bgpdump" | "netfacts", number[]> = { bgpdump: [], netfacts: [] };
    const own = () => spawnSync(process.execPath, ["--conditions=source", "--no-warnings", self, folder], { encoding: "utf8" }).stdout;
    const histories: { first: Own; again: Own }[] = [];
    let last = "";
    for (let round = 0; round < Number(values.rounds); round++) {
      const started = performance.now();
      spawnSync(bgpdump.command, ["-m", rib], { stdio: "ignore", env: { ...process.env, ...bgpdump.env } });
      seconds.bgpdump.push((performance.now() - started) / 1000);
      await rm(join(folder, "data"), { recursive: true, force: true });
      last = own();
      seconds.netfacts.push(JSON.parse(last).seconds);
      histories.push({ first: JSON.parse(last), again: JSON.parse(own()) });
    }
    const ratio = median(seconds.bgpdump.map((time, round) => time / (seconds.netfacts[round] as number)));
    const { stages, peak_rss_bytes } = JSON.parse(last);
    console.log(`P8, ${values.rounds} rounds, both sides in turn: medians`);
    console.log(`bgpdump -m > /dev/null       ${median(seconds.bgpdump).toFixed(2)} s`);
    console.log(
      `RIB → published snapshot     ${median(seconds.netfacts).toFixed(2)} s, ${ratio.toFixed(1)} × faster; stages ${JSON.stringify(stages)}`,
    );
    console.log(`P10, peak memory             ${Math.round(peak_rss_bytes / 2 ** 20)} MiB`);
    const cpu = (which: "first" | "again") => median(histories.map((round) => round[which].cpuSeconds)).toFixed(2);
    const { again } = histories.at(-1) as { again: Own };
    const mib = (bytes: number | undefined) => ((bytes ?? 0) / 2 ** 20).toFixed(1);
    console.log(`processor time               ${cpu("first")} s; again, over its history, ${cpu("again")} s`);
    console.log(`stored                       routes ${mib(again.bytes.routes)} MiB, history ${mib(again.bytes.history)} MiB`);
    console.log(`peak memory over a history   ${mib(again.peak_rss_bytes)} MiB`);
    console.log(JSON.stringify({ bench: "P8", seconds, ratio, stages, peak_rss_bytes, histories }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
