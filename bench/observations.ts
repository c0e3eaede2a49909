/**
 * Observations → published snapshot, in a process of its own: rows a second, memory, seconds to aggregate, and bytes in a pod.
 * `scripts/run.sh bench/observations.ts [--rows 1000000 (10000000: 1.5 GB of disk)] [--prefixes 0.3 (of the rows, different ones)]`
 * `[--store sqlite|mongodb]`: uploaded over HTTP into a store, and aggregated from there. Without it a run reads the file.
 */

import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, readFileSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type IngestRun, ingestPath, internalHeaders, type ObservationUpload } from "@netfacts/contracts";
import { readSources, runIngest } from "@netfacts/ingest/app";
import { openDataFolder } from "@netfacts/snapshot";
import { type Mongodb, startMongodb } from "../test/support/mongodb.ts";
import { seeded } from "../test/support/random.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: "string", default: "1000000" }, prefixes: { type: "string", default: "0.3" }, store: { type: "string" } },
});
const [side, ownFolder] = positionals;
if (side === "ingest" && ownFolder !== undefined) await ingest(ownFolder);
else if (values.store === undefined) await compare(Number(values.rows), Number(values.prefixes));
else await upload(Number(values.rows), Number(values.prefixes), values.store);

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

/** Into a process of its own, whose memory is that of the uploads and of the run. */
async function upload(rows: number, different: number, store: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
  const mongo: Mongodb | null = store === "mongodb" ? await startMongodb({ own: true }) : null;
  const file = join(folder, "observations.ndjson");
  await makeObservations(file, rows, Math.max(1, Math.round(rows * different)));
  const { size } = await stat(file);
  // A run needs a list, and the stored rows are beside it.
  await writeFile(join(folder, "names"), "1\tONE\n");
  const source = `{name: names, section: as_names, format: name-list, location: ${join(folder, "names")}, stale_after: never}`;
  await writeFile(join(folder, "sources.yaml"), `sources:\n  - ${source}\n`);
  const program = fileURLToPath(new URL("./support/observation-server.ts", import.meta.url));
  const args = [folder, ...(mongo === null ? [] : [mongo.database("bench")])];
  const server = fork(program, args, { execArgv: ["--conditions=source", "--no-warnings"] });
  try {
    const [{ url, proxyToken }] = (await once(server, "message")) as [{ url: string; proxyToken: string }];
    const ask = async (path: string, init: RequestInit & { duplex?: "half" } = {}) => {
      const response = await fetch(url + ingestPath + path, {
        ...init,
        headers: { [internalHeaders.proxyToken]: proxyToken, ...init.headers },
      });
      return { status: response.status, json: (await response.json()) as never };
    };
    const peakMiB = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
    const idle = peakMiB();
    const started = performance.now();
    const body = ReadableStream.from(createReadStream(file, { highWaterMark: 1 << 18 }));
    const sent = await ask("/observations?upload=bench", {
      method: "POST",
      body,
      duplex: "half",
      headers: { "content-type": "application/x-ndjson" },
    });
    const seconds = (performance.now() - started) / 1_000;
    const { rows: stored, bad }: ObservationUpload = sent.json;
    if (stored !== rows) throw new Error(`${stored} of ${rows} rows were stored, ${bad} are bad: ${JSON.stringify(sent)}`);
    const uploading = peakMiB();
    let run: { readonly status: number; readonly json: IngestRun } = await ask("/runs", { method: "POST" });
    while (run.status === 409) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      run = await ask("/runs", { method: "POST" });
    }
    const { id } = run.json;
    while (run.json.state === undefined || run.json.state === "running") {
      await new Promise((resolve) => setTimeout(resolve, 200));
      run = await ask(`/runs/${id}`);
    }
    const { report, error } = run.json as IngestRun & { error: string | null };
    if (report === null || error !== null) throw new Error(`the run failed: ${error}`);
    const manifest = await openDataFolder(folder).getManifest(report.snapshot ?? "");
    const { bytes = 0, counts = {} } = manifest.sections.locations ?? {};
    const prefixes = counts.observed ?? 0;
    console.log(`${rows} observations of ${prefixes} prefixes, ${(size / 2 ** 20).toFixed(0)} MiB, over HTTP into ${store}`);
    console.log(
      `stored     ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s; peak ${uploading.toFixed(0)} MiB, ${idle.toFixed(0)} MiB before`,
    );
    for (const [stage, took] of Object.entries(report.stages)) console.log(`${stage.padEnd(10)} ${took.toFixed(1)} s`);
    console.log(`peak       ${peakMiB().toFixed(0)} MiB with the run`);
    console.log(`section    ${(bytes / 2 ** 20).toFixed(1)} MiB, ${(bytes / prefixes).toFixed(0)} bytes a prefix`);
    const memory = { idleMiB: idle, uploadingMiB: uploading, peakMiB: peakMiB() };
    console.log(JSON.stringify({ store, rows, fileBytes: size, seconds, ...memory, stages: report.stages, prefixes, bytes }));
  } finally {
    server.kill("SIGKILL");
    await mongo?.stop();
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
