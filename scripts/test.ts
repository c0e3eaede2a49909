/**
 * `make test`: checks the tools, runs Jest, and prints the slowest files, the time, what failed, and the count. Takes Jest's arguments (paths, `-t NAME`);
 * without any, it runs all tests. An option may precede them: `--unit` leaves out the files that start processes, run alone or have large inputs,
 * and tries a quarter of the inputs of each property; `--long` tries all inputs of every property, from new seeds; `--cluster` runs only the files of
 * test/cluster, on a Kubernetes cluster. If CI is set and KUBECONFIG is not, our cluster is stopped after the run.
 * If TEST_COUNT is set, the count is also written to the file of that name, as `passed failed`, and below it what failed.
 */

import { spawn, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { endCluster } from "../test/cluster/support/running-cluster.ts";
import { longVariable, quickVariable, seedVariable } from "../test/support/runs.ts";
import { filesMax } from "../test/support/start-gate.ts";
import { makeTemporaryFolder } from "../test/support/temporary-folder.ts";
import { type Count, countLine, countReport, failedLines, type JestReport, slowestLines, timeLine } from "./test-report.ts";

const root = resolve(process.env.TEST_ROOT ?? join(import.meta.dirname, ".."));
const jest = join(import.meta.dirname, "..", "node_modules", "jest", "bin", "jest.js");
/** `test/support/start-gate.ts` lets more than three or four of them work only while processors are idle. Tests of deadlines run alone. */
const workers = filesMax();
/** They work at the same time, because a file that starts no process waits for its own time-outs for more than half of its time. */
const unitWorkers = 5;
/** Longest run of a suite, which ends a hanging one. On two idle processors it takes a third of this. */
const minutesMax = 45;
/** Of Node in Jest's processes: garbage is collected less often, and by one thread, since all processors have work. This takes a tenth less time. */
const garbageOptions = ["--max-semi-space-size=32", "--single-threaded-gc"];
/** The same with all inputs of every property. */
const longMinutesMax = 240;
/** Longest time from Jest's report to its exit: if it takes longer, a test left something open. */
const endSecondsMax = 15;

interface Tier {
  /** Number of files that run at the same time. */
  readonly workers: number;
  /** Options of Jest. */
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly minutesMax: number;
}

const unitTier: Tier = {
  workers: unitWorkers,
  options: [`--filter=${join(import.meta.dirname, "../test/support/unit-files.js")}`],
  env: { [quickVariable]: "1" },
  minutesMax,
};
const gateTier: Tier = { workers, options: [], env: {}, minutesMax };
/** One worker, because the cluster needs both processors. The first build takes long. Its images are too large for a folder in memory. */
const clusterTier: Tier = {
  workers: 1,
  options: [`--config=${join(import.meta.dirname, "../test/cluster/jest.config.mjs")}`],
  env: { TMPDIR: tmpdir() },
  minutesMax: 90,
};

function longTier(): Tier {
  const seed = process.env[seedVariable] || `${Date.now() % 1_000_000_000}`;
  console.log(`to repeat: ${seedVariable}=${seed} make test-long`);
  return { workers, options: [], env: { [longVariable]: "1", [seedVariable]: seed }, minutesMax: longMinutesMax };
}

/** Runs Jest, with its temporary files in `folder`. `report` is null if Jest wrote none. */
async function runJest(
  { workers, options, env, minutesMax }: Tier,
  args: readonly string[],
  folder: string,
): Promise<{ report: JestReport | null; fault: string | null }> {
  const reportPath = join(folder, "report.json");
  const child = spawn(
    process.execPath,
    [
      ...garbageOptions,
      "--conditions=source",
      jest,
      `--rootDir=${root}`,
      `--maxWorkers=${workers}`,
      "--json",
      `--outputFile=${reportPath}`,
      ...options,
      ...args,
    ],
    {
      cwd: root,
      // A separate process group, so that it can be killed with the servers that tests started.
      detached: true,
      // Jest also prints its report to standard output. People read standard error.
      stdio: ["ignore", "ignore", "inherit"],
      env: {
        ...process.env,
        TMPDIR: folder,
        ...env,
        NODE_OPTIONS: "--conditions=source --disable-warning=ExperimentalWarning",
        // Not in the folder of other programs: tests are compiled anew in each run, and 50 MB of them would stay there.
        NODE_COMPILE_CACHE: join(folder, "compiled"),
      },
    },
  );
  let fault: string | null = null;
  const end = (reason: string): void => {
    fault ??= reason;
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  };
  const tooLong = setTimeout(() => end(`not done within ${minutesMax} minutes`), minutesMax * 60_000);
  let ending: NodeJS.Timeout | undefined;
  const watch = setInterval(() => {
    if (ending === undefined && readReport(reportPath) !== null)
      ending = setTimeout(() => end("did not end by itself: a test left something open"), endSecondsMax * 1_000);
  }, 500);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => end(`ended by ${signal}`));

  await new Promise((resolveEnd) => child.once("close", resolveEnd));
  clearTimeout(tooLong);
  clearTimeout(ending);
  clearInterval(watch);
  return { report: readReport(reportPath), fault };
}

function readReport(path: string): JestReport | null {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

function countOf(report: JestReport | null, fault: string | null, isSelected: boolean): Count {
  const count = report === null ? { passed: 0, failed: 1 } : countReport(report, isSelected);
  return fault === null ? count : { ...count, failed: count.failed + 1 };
}

const folder = makeTemporaryFolder();
try {
  const [first, ...others] = process.argv.slice(2);
  const tier = first === "--unit" ? unitTier : first === "--long" ? longTier() : first === "--cluster" ? clusterTier : gateTier;
  const args = tier === gateTier ? process.argv.slice(2) : others;
  if (tier !== unitTier && tier !== clusterTier) spawnSync(join(import.meta.dirname, "doctor.sh"), { stdio: "inherit" });
  const began = performance.now();
  const { report, fault } = await runJest(tier, args, folder);
  const seconds = (performance.now() - began) / 1_000;
  if (report !== null) console.log(`\nslowest files:\n${slowestLines(report, root).join("\n")}\n\n${timeLine(report, seconds)}`);
  if (fault !== null) console.log(`Jest: ${fault}`);
  else if (report === null) console.log("Jest wrote no report");
  const isSelected = args.some((arg) => /^(?:-t|--testNamePattern(?:=|$))/.test(arg));
  const failed = report === null ? [] : failedLines(report, root, isSelected);
  if (failed.length > 0) console.log(`\nfailed:\n${failed.join("\n")}\n`);
  const count = countOf(report, fault, isSelected);
  if (isSelected && report !== null && count.passed === 0) console.log("no test of this name passed");
  if (process.env.TEST_COUNT) writeFileSync(process.env.TEST_COUNT, `${[`${count.passed} ${count.failed}`, ...failed].join("\n")}\n`);
  console.log(countLine(count));
  process.exitCode = count.failed === 0 ? 0 : 1;
  if (tier === clusterTier && process.env.CI && !process.env.KUBECONFIG) await endCluster();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
