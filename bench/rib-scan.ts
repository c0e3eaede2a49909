/**
 * P8's floor: a gzip RIB read for prefix, peer and origin, beside `bgpdump -m` to /dev/null on the same file. Our side runs in this process,
 * as an import does. `scripts/run.sh bench/rib-scan.ts [--input FILE.gz | --peers 8 --limit 200000 (0: all)] [--rounds 5]`
 */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openContent } from "@netfacts/content";
import { type RibSink, readPathOrigin, scanRib } from "@netfacts/mrt";
import { findBgpdump } from "../test/support/bgpdump.ts";
import type { FoundTool } from "../test/support/debian.ts";
import { requireData } from "./support/data.ts";
import { interleave, printResults } from "./support/rounds.ts";

const { values } = parseArgs({
  options: {
    input: { type: "string" },
    peers: { type: "string", default: "8" },
    limit: { type: "string", default: "200000" },
    rounds: { type: "string", default: "5" },
  },
});
const rounds = Number(values.rounds);

/** Reads every prefix, peer and origin, and sums them up, so that nothing is optimised away. */
async function scan(input: string): Promise<{ routes: number; bytes: number; sum: number }> {
  let sum = 0;
  const sink: RibSink = {
    peerIndex: (peers) => {
      sum += peers.length;
    },
    prefix: (_version, w0, w1, _w2, _w3, length) => {
      sum = (sum + w0 + w1 + length) | 0;
    },
    route: (peer, _originatedAt, path, start, end) => {
      sum = (sum + peer + readPathOrigin(path, start, end)) | 0;
    },
  };
  const { routes, bytes } = await scanRib(openContent(input).stream, sink, { name: input });
  return { routes: routes.ipv4 + routes.ipv6, bytes, sum };
}

async function compare(input: string, bgpdump: Extract<FoundTool, { found: true }>): Promise<void> {
  const { routes, bytes, sum } = await scan(input);
  const env = { ...process.env, ...bgpdump.env };
  const results = await interleave(
    [
      {
        name: "bgpdump -m > /dev/null",
        run() {
          execFileSync(bgpdump.command, ["-m", input], { stdio: "ignore", env });
          return routes;
        },
      },
      {
        name: "scanRib",
        async run() {
          const again = await scan(input);
          if (again.sum !== sum) throw new Error("two scans of one file differ");
          return again.routes;
        },
      },
      {
        name: "unpacking alone",
        async run() {
          let left = bytes;
          for await (const chunk of openContent(input).stream) left -= chunk.length;
          if (left !== 0) throw new Error("two readings of one file differ");
          return routes;
        },
      },
    ],
    rounds,
  );
  const machine = {
    node: process.version,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    date: new Date().toISOString().slice(0, 10),
  };
  printResults("rib-scan", "routes per second", results, { routes, bytes, rounds, machine });
}

/** The full-size table with synthetic paths, in a temporary folder. */
async function compareMade(bgpdump: Extract<FoundTool, { found: true }>): Promise<void> {
  const maker = join(requireData(), "../tools/synth-mrt.mjs");
  if (!existsSync(maker)) {
    console.log(`not run: ${maker} is missing, which makes the RIB; name one with --input`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "netfacts-rib-scan-"));
  try {
    const input = join(folder, "rib.mrt.gz");
    const size = ["--peers", values.peers, "--limit", values.limit];
    execFileSync(process.execPath, [maker, ...size, "--out", input], { stdio: "ignore" });
    await compare(input, bgpdump);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const bgpdump = await findBgpdump();
if (!bgpdump.found) console.log(`not run: needs bgpdump: ${bgpdump.remedy}`);
else if (values.input !== undefined) await compare(values.input, bgpdump);
else await compareMade(bgpdump);
