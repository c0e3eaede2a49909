/**
 * Observations → published snapshot, in a process of its own: rows a second, memory, seconds to aggregate, and bytes in a pod.
 * `scripts/run.sh bench/observations.ts [--rows 1000000 (10000000: 1.5 GB of disk)] [--prefixes 0.3 (of the rows, different ones)]`
 */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readSources, runIngest } from "@netfacts/ingest/app";
import { openDataFolder } from "@netfacts/snapshot";
import { seeded } from "../test/support/random.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: "string", default: "1000000" }, prefixes: { type: "string", default: "0.3" } },
});
const [side, ownFolder] = positionals;
if (side === "ingest" && ownFolder !== undefined) await ingest(ownFolder);
else await compare(Number(values.rows), Number(values.prefixes));

interface Measured {
  readonly stages: Readonly<Record<string, number>>;
  /** Of reading. */
  readonly seconds: number;
  readonly peakMiB: number;
  readonly prefixes: number;
  /** Of the section. */
  readonly bytes: number;
}

/** In a process of its own, whose memory is that of the import alone. */
async function ingest(folder: string): Promise<void> {
  const config = await readSources(join(folder, "sources.yaml"));
  const store = openDataFolder(join(folder, "data"));
  const report = await runIngest({ config, store });
  const { sections } = await store.getManifest(report.snapshot ?? "");
  const measured: Measured = {
    stages: report.stages,
    seconds: report.sources[0]?.seconds ?? 0,
    peakMiB: report.peak_rss_bytes / 2 ** 20,
    prefixes: sections.locations?.counts.observed ?? 0,
    bytes: sections.locations?.bytes ?? 0,
  };
  console.log(JSON.stringify(measured));
}

async function compare(rows: number, different: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
  try {
    const file = join(folder, "observations.ndjson");
    await makeObservations(file, rows, Math.max(1, Math.round(rows * different)));
    const { size } = await stat(file);
    const source = `{name: made, section: locations, format: observations, location: ${file}, bytes_max: 16GiB}`;
    await writeFile(join(folder, "sources.yaml"), `sources:\n  - ${source}\n`);
    const started = performance.now();
    for await (const _ of createReadStream(file));
    const reading = (performance.now() - started) / 1000;
    const node = ["--conditions=source", "--no-warnings", fileURLToPath(import.meta.url), "ingest", folder];
    const { stdout, status } = spawnSync(process.execPath, node, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    if (status !== 0) throw new Error(`the import ended with ${status}`);
    const measured = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Measured;
    const { stages, seconds, peakMiB, prefixes, bytes } = measured;
    console.log(
      `${rows} observations of ${prefixes} prefixes, ${(size / 2 ** 20).toFixed(0)} MiB; the file is read from disk in ${reading.toFixed(1)} s`,
    );
    console.log(`read       ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s`);
    for (const [stage, took] of Object.entries(stages)) console.log(`${stage.padEnd(10)} ${took.toFixed(1)} s`);
    console.log(`peak       ${peakMiB.toFixed(0)} MiB`);
    console.log(`section    ${(bytes / 2 ** 20).toFixed(1)} MiB, ${(bytes / prefixes).toFixed(0)} bytes a prefix`);
    console.log(JSON.stringify({ rows, fileBytes: size, ...measured }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Addresses that stay in a city of a hundred; a tenth of the observations are of another one. */
async function makeObservations(file: string, rows: number, prefixes: number): Promise<void> {
  const random = seeded(14);
  const out = createWriteStream(file);
  const newest = Date.parse("2026-11-20T00:00:00Z");
  const countries = ["NL", "DE", "FR", "US", "JP", "BR", "ZA", "AU", "IN", "SE"];
  let text = "";
  for (let row = 0; row < rows; row++) {
    const at = random(prefixes);
    const place = random(10) === 0 ? random(100) : at % 100;
    const ip = `${11 + (at >>> 24)}.${(at >>> 16) & 255}.${(at >>> 8) & 255}.${at & 255}`;
    const [lat, lon] = [60 - place, (place * 7) % 180];
    const time = new Date(newest - random(300 * 86_400) * 1000).toISOString();
    text += `{"ip":"${ip}","lat":${lat + random(100) / 1000},"lon":${lon + random(100) / 1000},"accuracy_km":10,"country":"${countries[place % 10]}","observed_at":"${time}"}\n`;
    if (text.length > 1 << 20) {
      if (!out.write(text)) await once(out, "drain");
      text = "";
    }
  }
  out.end(text);
  await once(out, "close");
}
