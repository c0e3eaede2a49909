/** wrk (Debian package `wrk`), a load generator in C that leaves most processor time to the measured program. */

import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type FoundTool, findDebianTool } from "../../test/support/debian.ts";

export interface Load {
  readonly url: string;
  /** Paths that all connections together request in a cycle. */
  readonly paths: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Folder for the script of the run. */
  readonly folder: string;
}

export interface LoadResult {
  /** Number of answers with 200. */
  readonly answered: number;
  /** Number of requests with another answer, or none. */
  readonly failed: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const run = promisify(execFile);

/** Looks at `WRK` in the environment, then in PATH, the cache and the registry. */
export function findWrk(): Promise<FoundTool> {
  return findDebianTool({ name: "wrk", variable: "WRK", packageName: "wrk", binary: "usr/bin/wrk" });
}

export async function runWrk(tool: Extract<FoundTool, { found: true }>, load: Load): Promise<LoadResult> {
  const script = join(load.folder, "load.lua");
  await writeFile(script, scriptOf(load.paths));
  const headers = Object.entries(load.headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const args = ["-t1", `-c${load.connections}`, `-d${load.seconds}s`, "--timeout", "10s", "-s", script, ...headers, load.url];
  const { stdout } = await run(tool.command, args, { env: { ...process.env, ...tool.env } });
  const line = /^RESULT (.*)$/m.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result:\n${stdout}`);
  const [requests = 0, microseconds = 1, refused = 0, lost = 0, p50 = 0, p99 = 0] = line.split(" ").map(Number);
  const answered = requests - refused;
  return {
    answered,
    failed: refused + lost,
    requestsPerSecond: answered / (microseconds / 1e6),
    p50Ms: p50 / 1_000,
    p99Ms: p99 / 1_000,
  };
}

/** The script makes the requests before the load begins, so that wrk then only sends them. wrk itself counts the statuses. */
function scriptOf(paths: readonly string[]): string {
  return `local paths = {${paths.map((path) => JSON.stringify(path)).join(",")}}
local requests, at = {}, 0
init = function() for i, path in ipairs(paths) do requests[i] = wrk.format("GET", path) end end
request = function() at = at % #requests + 1; return requests[at] end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %d %d %d %d\\n", summary.requests, summary.duration, e.status,
    e.connect + e.read + e.write + e.timeout, latency:percentile(50), latency:percentile(99)))
end
`;
}
