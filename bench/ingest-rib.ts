/**
 * P8 and P10: a gzip RIB → published snapshot, in a process of its own, beside `bgpdump -m` to /dev/null on the same file.
 * `node --conditions=source bench/ingest-rib.ts [--peers 8 --limit 200000 (0: all, 8 M routes)] [--rounds 3]`
 */

import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openDataFolder } from "@netfacts/dataset";
import { readSources, runIngest } from "@netfacts/ingest/app";
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

const [ownFolder] = positionals;
if (ownFolder !== undefined) {
  // Our side, in a process of its own.
  const started = performance.now();
  const { stages, peak_rss_bytes, sections } = await runIngest({
    config: await readSources(join(ownFolder, "sources.yaml")),
    store: openDataFolder(join(ownFolder, "data")),
  });
  console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, stages, peak_rss_bytes, sections }));
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
    let last = "";
    for (let round = 0; round < Number(values.rounds); round++) {
      const started = performance.now();
      spawnSync(bgpdump.command, ["-m", rib], { stdio: "ignore", env: { ...process.env, ...bgpdump.env } });
      seconds.bgpdump.push((performance.now() - started) / 1000);
      await rm(join(folder, "data"), { recursive: true, force: true });
      last = spawnSync(process.execPath, ["--conditions=source", "--no-warnings", self, folder], { encoding: "utf8" }).stdout;
      seconds.netfacts.push(JSON.parse(last).seconds);
    }
    const ratio = median(seconds.bgpdump.map((time, round) => time / (seconds.netfacts[round] as number)));
    const { stages, peak_rss_bytes } = JSON.parse(last);
    console.log(`P8, ${values.rounds} rounds, both sides in turn: medians`);
    console.log(`bgpdump -m > /dev/null       ${median(seconds.bgpdump).toFixed(2)} s`);
    console.log(
      `RIB → published snapshot     ${median(seconds.netfacts).toFixed(2)} s, ${ratio.toFixed(1)} × faster; stages ${JSON.stringify(stages)}`,
    );
    console.log(`P10, peak memory             ${Math.round(peak_rss_bytes / 2 ** 20)} MiB`);
    console.log(JSON.stringify({ bench: "P8", seconds, ratio, stages, peak_rss_bytes }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
