/**
 * P9: a bzip2 RIB → published snapshot, in a process of its own, beside `lbzip2 -dc` to /dev/null on the same file, which only unpacks it.
 * Seconds by the clock and of processor time. `scripts/run.sh bench/ingest-bz2.ts [--peers 8 --limit 200000 (0: all)] [--rounds 3]`
 */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openContent } from "@netfacts/content";
import { readSources, runIngest } from "@netfacts/ingest/app";
import { openDataFolder } from "@netfacts/snapshot";
import { findDebianTool } from "../test/support/debian.ts";
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

interface Took {
  readonly seconds: number;
  /** Processor time of all threads. */
  readonly cpuSeconds: number;
}

/** A side in a process of its own: what it does, and the processor time that it used. */
async function measure(run: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  await run();
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, cpuSeconds: (user + system) / 1e6 }));
}

const [side, ownFolder] = positionals;
if (side === "ingest" && ownFolder !== undefined) {
  await measure(async () =>
    runIngest({ config: await readSources(join(ownFolder, "sources.yaml")), store: openDataFolder(join(ownFolder, "data")) }),
  );
} else if (side === "unpack" && ownFolder !== undefined) {
  await measure(async () => {
    for await (const _bytes of openContent(join(ownFolder, "rib.mrt.bz2")).stream);
  });
} else {
  await compare();
}

async function compare(): Promise<void> {
  const data = requireData();
  const tool = (name: string, variable: string) => findDebianTool({ name, variable, packageName: name, binary: `usr/bin/${name}` });
  const [lbzip2, bzip2] = [await tool("lbzip2", "LBZIP2"), await tool("bzip2", "BZIP2")];
  for (const found of [lbzip2, bzip2]) if (!found.found) console.log(`not run: ${found.remedy}`);
  if (!lbzip2.found || !bzip2.found) return;
  const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
  try {
    const rib = join(folder, "rib.mrt");
    makeRib(data, `${rib}.gz`, Number(values.peers), Number(values.limit));
    execFileSync("gunzip", [`${rib}.gz`]);
    const plainBytes = (await stat(rib)).size;
    execFileSync(bzip2.command, [rib], { env: { ...process.env, ...bzip2.env } });
    await writeFile(join(folder, "sources.yaml"), `sources:\n  - {name: synthetic, section: routes, format: mrt, location: ${rib}.bz2}\n`);
    const ours = (name: string): Took => {
      const { stdout } = spawnSync(process.execPath, ["--conditions=source", "--no-warnings", self, name, folder], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      });
      return JSON.parse(stdout) as Took;
    };
    const sides: Record<string, () => Took> = {
      "lbzip2 -dc > /dev/null": () => viaLbzip2({ ...process.env, ...lbzip2.env }, lbzip2.command, `${rib}.bz2`),
      "unpacking alone": () => ours("unpack"),
      "RIB → published snapshot": () => ours("ingest"),
    };
    const took: Record<string, Took[]> = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
    for (let round = 0; round < Number(values.rounds); round++) {
      await rm(join(folder, "data"), { recursive: true, force: true });
      for (const [name, run] of Object.entries(sides)) took[name]?.push(run());
    }
    const packedBytes = (await stat(`${rib}.bz2`)).size;
    const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
    console.log(`P9: ${mib(packedBytes)} packed, ${mib(plainBytes)} plain; ${values.rounds} rounds, all sides in turn: medians`);
    const [first] = Object.values(took) as [Took[]];
    for (const [name, list] of Object.entries(took)) {
      const of = (pick: (one: Took) => number) => ({
        middle: median(list.map(pick)).toFixed(2),
        ratio: median(list.map((one, round) => pick(one) / pick(first[round] as Took))).toFixed(2),
      });
      const [clock, cpu] = [of(({ seconds }) => seconds), of(({ cpuSeconds }) => cpuSeconds)];
      console.log(`${name.padEnd(26)} ${clock.middle} s, ${clock.ratio} ×; processor ${cpu.middle} s, ${cpu.ratio} ×`);
    }
    console.log(JSON.stringify({ bench: "P9", packedBytes, plainBytes, took }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function viaLbzip2(env: NodeJS.ProcessEnv, command: string, path: string): Took {
  const started = performance.now();
  // `times` tells the processor time of the shell, then that of its children.
  const script = `"$1" -d -c -n ${availableParallelism()} "$2" > /dev/null && times`;
  const { stdout } = spawnSync("sh", ["-c", script, "sh", command, path], { encoding: "utf8", env, stdio: ["ignore", "pipe", "inherit"] });
  const seconds = (performance.now() - started) / 1000;
  const parts = [...(stdout.split("\n")[1] ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  return { seconds, cpuSeconds: parts.reduce((sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest), 0) };
}
