/**
 * `netfacts mrt cat` beside `bgpdump -m`, both as programs with their lines to /dev/null, on the same files: a RIB of 2014 (bzip2) and a day of one
 * peer's updates (gzip). `scripts/run.sh bench/mrt-cat.ts [--input FILE] [--rounds 3]`
 */

import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { openContent } from "@netfacts/content";
import { bgpdumpLines, readRecords } from "@netfacts/mrt";
import { findBgpdump } from "../test/support/bgpdump.ts";
import type { FoundTool } from "../test/support/debian.ts";
import { requireData } from "./support/data.ts";
import { interleave, printResults } from "./support/rounds.ts";

const { values } = parseArgs({ options: { input: { type: "string" }, rounds: { type: "string", default: "3" } } });
const rounds = Number(values.rounds);
const main = join(import.meta.dirname, "../services/cli/src/main.ts");

/** Ends well, or throws. */
function toNowhere(command: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const nowhere = openSync("/dev/null", "w");
  try {
    const { status, stderr } = spawnSync(command, args, { stdio: ["ignore", nowhere, "pipe"], env });
    if (status !== 0) throw new Error(`${basename(command)} ended with status ${status}: ${stderr}`);
  } finally {
    closeSync(nowhere);
  }
}

async function countLines(input: string): Promise<number> {
  let lines = 0;
  for await (const batch of readRecords(openContent(input).stream)) {
    for (const reading of batch)
      if (!("fault" in reading)) for (const piece of bgpdumpLines(reading)) lines += piece.split("\n").length - 1;
  }
  return lines;
}

async function compare(input: string, bgpdump: Extract<FoundTool, { found: true }>): Promise<void> {
  const lines = await countLines(input);
  const results = await interleave(
    [
      {
        name: "bgpdump -m > /dev/null",
        run() {
          toNowhere(bgpdump.command, ["-m", input], { ...process.env, ...bgpdump.env });
          return lines;
        },
      },
      {
        name: "netfacts mrt cat > /dev/null",
        run() {
          toNowhere(process.execPath, ["--conditions=source", main, "mrt", "cat", input], { ...process.env, NODE_OPTIONS: "" });
          return lines;
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
  printResults(`mrt-cat ${basename(input)}`, "lines per second", results, { lines, rounds, machine });
}

const bgpdump = await findBgpdump();
if (!bgpdump.found) console.log(`not run: needs bgpdump: ${bgpdump.remedy}`);
else if (values.input !== undefined) await compare(values.input, bgpdump);
else {
  const data = requireData();
  await compare(join(data, "real-2014/routeviews.route-views.jinx.ribs.1401487200.bz2"), bgpdump);
  await compare(join(data, "mrt-edge/bgpdump-testdata.updates.et-header.2015.gz"), bgpdump);
}
