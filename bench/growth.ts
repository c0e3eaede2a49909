/**
 * What a larger routing table costs: import, snapshot, load, memory and lookups at 1 ×, 2 × and 4 × today's table, with random
 * more-specifics up to /24 and /48 added to it; VRPs, allocations and names stay as they are. Each step in a process of its own, loading
 * with either form of the IPv4 index. `scripts/run.sh bench/growth.ts [--times 1,2,4]`
 */

import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createGzip, gunzipSync } from "node:zlib";
import { comparePrefixes, formatPrefix, makePrefix, type Prefix, parsePrefix } from "@netfacts/address";
import { readSources, runIngest } from "@netfacts/ingest/app";
import { AnswerNotes, asnRecord, ipRecord } from "@netfacts/records";
import { type Generation, LoaderThreads, openDataFolder, SnapshotFollower, snapshotsFolder } from "@netfacts/snapshot";
import { loadInThread } from "../libs/snapshot/test/support/load-in-thread.ts";
import { requireData } from "./support/data.ts";
import { writeModernSources } from "./support/modern.ts";
import { seededRandom } from "./support/random.ts";
import { median } from "./support/rounds.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { times: { type: "string", default: "1,2,4" } } });
const self = fileURLToPath(import.meta.url);
const forms = ["direct", "compact"] as const;
const peers = 2;
const lookups = 200_000;
const [step, folder, form] = positionals;

interface Imported {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMib: number;
  readonly routesMib: number;
}

interface Loaded {
  readonly prefixes: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly mib: number;
  /** With a second snapshot loaded beside it, of which no section is the same. */
  readonly reloadPeakMib: number;
  readonly ipv4Ns: number;
  readonly ipv6Ns: number;
  readonly recordUs: number;
  readonly asnPageMs: number;
}

function read(text: string): Prefix {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(`no prefix: ${text}`);
  return reading.prefix;
}

/** A prefix of that length at a random place inside another. */
function inside({ version, w0, w1, w2, w3, length }: Prefix, to: number, random: () => number): Prefix {
  const word = (from: number, value: number) => {
    const free = Math.min(32, Math.max(0, 32 - (length - from)));
    return (value + Math.floor(random() * 2 ** free)) >>> 0;
  };
  return version === 4 ? makePrefix(4, word(0, w0), 0, 0, 0, to) : makePrefix(6, word(0, w0), word(32, w1), w2, w3, to);
}

/** Writes the table `times` as long, in order: random more-specifics, with the origin of a random prefix that has room for them. */
async function growTable(from: string, to: string, times: number): Promise<void> {
  const rows = gunzipSync(await readFile(from))
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [text = "", ...origin] = line.split("\t");
      return { prefix: read(text), text, origin: origin.join("\t") };
    });
  const longest = { 4: 24, 6: 48 };
  const roomy = rows.filter(({ prefix }) => prefix.length < longest[prefix.version]);
  const known = new Set(rows.map(({ text }) => text));
  const wanted = Math.round(rows.length * times);
  const random = seededRandom(times);
  while (rows.length < wanted) {
    const { prefix: outer, origin } = roomy[Math.floor(random() * roomy.length)] as (typeof rows)[number];
    // Most are as long as can be, as those of real tables are.
    const room = longest[outer.version] - outer.length;
    const prefix = inside(outer, outer.length + Math.ceil(random() ** 0.3 * room), random);
    const text = formatPrefix(prefix);
    if (prefix.length === outer.length || known.has(text)) continue;
    known.add(text);
    rows.push({ prefix, text, origin });
  }
  rows.sort((a, b) => comparePrefixes(a.prefix, b.prefix));
  const gzip = createGzip({ level: 1 });
  const written = pipeline(gzip, createWriteStream(to));
  for (let at = 0; at < rows.length; at += 10_000) {
    const lines = rows.slice(at, at + 10_000).map(({ text, origin }) => `${text}\t${origin}\n`);
    if (!gzip.write(lines.join(""))) await once(gzip, "drain");
  }
  gzip.end();
  await written;
}

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const mib = (bytes: number) => Math.round(bytes / 2 ** 20);

async function importGrown(at: string): Promise<Imported> {
  const started = performance.now();
  const store = openDataFolder(at);
  const { peak_rss_bytes } = await runIngest({ config: await readSources(join(at, "sources.yaml")), store });
  const manifest = await store.getManifest((await store.currentId()) as string);
  return {
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: cpuSeconds(),
    peakMib: mib(peak_rss_bytes),
    routesMib: mib(manifest.sections.routes?.bytes ?? 0),
  };
}

async function load(at: string, ipv4Index: (typeof forms)[number]): Promise<Loaded> {
  const source = { kind: "folder", path: join(at, snapshotsFolder) } as const;
  const follower = new SnapshotFollower(openDataFolder(at), new LoaderThreads(source), {}, { ipv4Index });
  const [started, cpuBefore] = [performance.now(), cpuSeconds()];
  await follower.start();
  follower.stop();
  const generation = follower.current() as Generation;
  const loaded = {
    prefixes: generation.routes?.prefixes.base.size ?? 0,
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: cpuSeconds() - cpuBefore,
    mib: mib(process.memoryUsage.rss()),
  };
  const asked = { ...loaded, ...lookUp(generation) };
  const second = await loadInThread(source, generation.id, { ipv4Index });
  const reloadPeakMib = Math.round(process.resourceUsage().maxRSS / 1024);
  if (second.manifest.id !== generation.id) throw new Error("another snapshot");
  return { ...asked, reloadPeakMib };
}

/** Random addresses of random announced prefixes: nothing is near what was read before. */
function lookUp(generation: Generation): Pick<Loaded, "ipv4Ns" | "ipv6Ns" | "recordUs" | "asnPageMs"> {
  const { routes } = generation;
  if (routes === null) throw new Error("no routes");
  const trie = routes.prefixes.base;
  const random = seededRandom(9808);
  const addresses = (first: number, count: number) =>
    Array.from({ length: lookups }, () => {
      const outer = trie.prefixAt(first + Math.floor(random() * count));
      return inside(outer, outer.version === 4 ? 32 : 128, random);
    });
  const [ipv4, ipv6] = [addresses(0, trie.ipv4Count), addresses(trie.ipv4Count, trie.ipv6Count)];
  let sum = 0;
  const matches = (list: readonly Prefix[]) => () => {
    for (const address of list) sum += trie.longest(address);
    return list.length;
  };
  const nowMs = Date.now();
  const records = () => {
    for (let index = 0; index < 5_000; index++)
      sum += JSON.stringify(ipRecord(ipv4[index] as Prefix, new AnswerNotes(generation, nowMs))).length;
    return 5_000;
  };
  const page = () => {
    sum += JSON.stringify(
      asnRecord({ asn: 9808, family: null, rpki: null, aggregate: false, limit: 100 }, new AnswerNotes(generation, nowMs)),
    ).length;
    return 1;
  };
  const result = {
    ipv4Ns: each(matches(ipv4)) * 1e9,
    ipv6Ns: each(matches(ipv6)) * 1e9,
    recordUs: each(records) * 1e6,
    asnPageMs: each(page) * 1e3,
  };
  if (sum === 0) throw new Error("nothing was found");
  return result;
}

/** Seconds of processor time for one, the median of seven rounds after a first that does not count. */
function each(run: () => number): number {
  const times: number[] = [];
  for (let round = 0; round < 8; round++) {
    const before = cpuSeconds();
    const count = run();
    if (round > 0) times.push((cpuSeconds() - before) / count);
  }
  return median(times);
}

if (step === "import" && folder !== undefined) console.log(JSON.stringify(await importGrown(folder)));
else if (step === "load" && folder !== undefined)
  console.log(JSON.stringify(await load(folder, form === "compact" ? "compact" : "direct")));
else await compare();

async function compare(): Promise<void> {
  const data = requireData();
  const made = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
  try {
    await writeModernSources(data, made, { peers });
    const child = (...args: string[]) => {
      const { stdout } = spawnSync(process.execPath, ["--conditions=source", "--no-warnings", self, ...args], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      });
      return JSON.parse(stdout);
    };
    const table = join(data, "modern/prefix-origin.tsv.gz");
    const results: object[] = [];
    for (const times of values.times.split(",").map(Number)) {
      if (times !== 1) {
        const grown = join(made, "grown.tsv.gz");
        await growTable(table, grown, times);
        const maker = join(data, "../tools/synth-mrt.mjs");
        execFileSync(process.execPath, [maker, "--table", grown, "--peers", String(peers), "--out", join(made, "rib.mrt.gz")], {
          stdio: "ignore",
        });
      }
      const ribMib = mib((await stat(join(made, "rib.mrt.gz"))).size);
      await rm(join(made, snapshotsFolder), { recursive: true, force: true });
      const imported: Imported = child("import", made);
      console.log(
        `\n${times} ×: import of ${ribMib} MiB gz ${imported.seconds.toFixed(1)} s (processor ${imported.cpuSeconds.toFixed(1)} s), ` +
          `peak ${imported.peakMib} MiB; section routes ${imported.routesMib} MiB`,
      );
      for (const name of forms) {
        const loaded: Loaded = child("load", made, name);
        console.log(
          `  ${name.padEnd(8)} ${loaded.prefixes} prefixes; load ${loaded.seconds.toFixed(2)} s (processor ${loaded.cpuSeconds.toFixed(2)} s), ` +
            `${loaded.mib} MiB, at a reload ${loaded.reloadPeakMib} MiB; processor time of a match: IPv4 ${loaded.ipv4Ns.toFixed(0)} ns, ` +
            `IPv6 ${loaded.ipv6Ns.toFixed(0)} ns; of a record ${loaded.recordUs.toFixed(1)} µs; first page of AS9808 ${loaded.asnPageMs.toFixed(1)} ms`,
        );
        results.push({ times, form: name, ...imported, ...loaded });
      }
    }
    console.log(JSON.stringify({ bench: "growth", results }));
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}
