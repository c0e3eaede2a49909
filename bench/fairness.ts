/**
 * P15: a polite key at 50 requests/s, alone and beside a caller who does his worst in one way after the other, at one gateway and at
 * several: p50 and p99 of the polite key and how much of it was refused. Every abuse has quiet before and after it, and its ratio is to
 * these; with several rounds it is the median of their ratios. The longest turns of the event loops, in processor time, tell what a process
 * itself holds up, whatever else runs on the machine.
 *
 * Each caller is a process of its own, and all share this machine. A real abuser brings his own: here he runs at the lowest priority,
 * so that his client takes only what the services leave. The control of an abuse shows what the scheduler alone does: for each process
 * that the abuse kept busy another process uses as much processor time beside idle services, at the same priority, and sends nothing. What the
 * abuse has beyond its control is the work of the product: queues, turns and order.
 * `scripts/run.sh bench/fairness.ts [--gateways 1,4] [--seconds 10] [--rounds 1] [--abuse NAME] [--rate 60000] [--folder DIR]`:
 * the abuser's key has so many units a minute (default: far more than this machine can do); DIR keeps the imported data for the next run.
 */

import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createKey } from "@netfacts/keys";
import { openMongoStore } from "@netfacts/storage/mongo";
import { addressTexts } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { type Backing, withBacking } from "./support/distributed.ts";
import { copySnapshot, importModern } from "./support/modern.ts";
import { type Measurement, requestsPerSecond, type Seen } from "./support/polite.ts";
import { median } from "./support/rounds.ts";
import { cpuSeconds, type ServiceProcess } from "./support/service-process.ts";

const { values } = parseArgs({
  options: {
    gateways: { type: "string", default: "1,4" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "1" },
    abuse: { type: "string", default: "" },
    rate: { type: "string", default: "1000000" },
    folder: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const quietSeconds = Math.ceil(seconds / 2);
/** Before it is measured, so that abuse is under way; and after it, so that it is over. */
const leadMs = 1_500;
const [abuser, polite, burner] = ["abuser.ts", "polite.ts", "burner.ts"].map((file) => join(import.meta.dirname, "support", file)) as [
  string,
  string,
  string,
];
/** Starts a program at the lowest priority. */
const nicely = ["nice", "-n", "19", process.execPath] as const;
/** Of a core: what uses less needs no control. */
const shareMin = 0.02;
const loopGap = ["--import", join(import.meta.dirname, "support/loop-gap.ts")];
const nodeArgs = ["--conditions=source", "--no-warnings"];

/** One abuse in one round. */
interface Row {
  readonly seen: Seen;
  readonly quiet: Seen;
  /** Beside processes that use as much processor time as the abuse and send nothing. */
  readonly control: Seen;
  /** Processor time in cores: of the abuser, and of all services beyond what the polite key costs. */
  readonly abuserCores: number;
  readonly serviceCores: number;
  /** Longest turns of the event loops, in ms of processor time. */
  readonly gatewayMs: number;
  readonly podMs: number;
}

/** How often each process was asked for its longest turn. */
const signals = new Map<ServiceProcess, number>();

const data = requireData();
await withBacking(compare);

async function compare(backing: Backing): Promise<void> {
  const folder = values.folder ?? backing.folder;
  if (!existsSync(join(folder, "snapshots"))) await importModern(data, folder);
  await backing.store.activate((await copySnapshot(folder, backing.store)).id);
  const pods = (["ip-routing", "asn-prefix"] as const).map((service) => backing.startPod(service, service, loopGap));
  for (const pod of pods) await pod.logged(/ready for requests/);
  const store = await openMongoStore(backing.env.MONGODB_URI as string, { appName: "bench" });
  const limitsOf = (units: number) => ({ rate: { limit: units, windowSeconds: 60 }, month: { limit: 1_000_000_000 } });
  const scopes = ["ip", "routing", "asn", "prefix", "batch"] as const;
  const { secret: key } = await createKey(store, { label: "polite", scopes: [...scopes], ...limitsOf(1_000_000) });
  const { secret: greedy } = await createKey(store, { label: "greedy", scopes: [...scopes], ...limitsOf(Number(values.rate)) });
  await store.close();
  const addresses = addressTexts(data, 5_000);
  const caller = fork(polite, { execArgv: nodeArgs });
  backing.own({ stop: async () => void caller.kill() });
  const known = execFileSync(process.execPath, [...nodeArgs, abuser], { encoding: "utf8" })
    .trim()
    .split("\n");
  const abuses = known.filter((name) => name.includes(values.abuse));
  const urls: string[] = [];
  const gateways: ServiceProcess[] = [];
  for (const count of values.gateways.split(",").map(Number)) {
    while (urls.length < count) {
      const { url, process } = await backing.startGateway(`gateway-${urls.length + 1}`, loopGap);
      urls.push(url);
      gateways.push(process);
    }
    const rows = new Map<string, Row[]>(abuses.map((name) => [name, []]));
    const quietly = (lasts: number) => measure(caller, { urls, key, addresses, seconds: lasts });
    await quietly(quietSeconds);
    let before = await quietly(quietSeconds);
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [name, seen] of rows) {
        const all = [...gateways.map(({ pid }) => pid), ...pods.map(({ pid }) => pid), backing.natsPid, backing.mongodbPid];
        const lasts = seconds + leadMs / 1_000;
        const worst = beginNicely([abuser, name, `${lasts}`, greedy, ...urls]);
        await sleep(leadMs);
        await Promise.all([longestTurn(gateways), longestTurn(pods)]);
        const used = coresOf([worst.pid, ...all]);
        const beside = await measure(caller, { urls, key, addresses, seconds });
        const [ofAbuser = 0, ...ofServices] = used.map((cores) => cores());
        const [gatewayMs, podMs] = await Promise.all([longestTurn(gateways), longestTurn(pods)]);
        await worst.ended;
        await sleep(leadMs);
        const politely = coresOf(all);
        const after = await quietly(quietSeconds);
        const added = politely.map((cores, index) => Math.max(0, (ofServices[index] ?? 0) - cores()));
        const burners = added.filter((share) => share > shareMin).map((share) => begin([burner, `${share}`, `${lasts}`]));
        if (ofAbuser > shareMin) burners.push(beginNicely([burner, `${ofAbuser}`, `${lasts}`]));
        await sleep(leadMs);
        const control = await quietly(seconds);
        await Promise.all(burners.map(({ ended }) => ended));
        seen.push({
          seen: beside,
          quiet: joined([before, after]),
          control,
          abuserCores: ofAbuser,
          serviceCores: added.reduce((sum, cores) => sum + cores, 0),
          gatewayMs,
          podMs,
        });
        before = after;
      }
    }
    print(urls.length, rows);
  }
}

async function measure(caller: ChildProcess, wanted: Measurement): Promise<Seen> {
  const answer = once(caller, "message");
  caller.send(wanted);
  const [seen] = await answer;
  return seen as Seen;
}

interface Begun {
  readonly pid: number;
  readonly ended: Promise<unknown>;
}

function begin(args: readonly string[], [program, ...before]: readonly [string, ...string[]] = [process.execPath]): Begun {
  const child = spawn(program, [...before, ...nodeArgs, ...args], { stdio: "inherit" });
  return { pid: child.pid as number, ended: once(child, "exit") };
}

function beginNicely(args: readonly string[]): Begun {
  return begin(args, nicely);
}

/** Functions that return how many cores each of the processes used since this call. */
function coresOf(pids: readonly number[]): (() => number)[] {
  const since = performance.now();
  return pids.map((pid) => {
    const before = cpuSeconds(pid);
    return () => (1_000 * (cpuSeconds(pid) - before)) / (performance.now() - since);
  });
}

/** The longest turn of any of the processes since the last call, in ms of processor time. */
async function longestTurn(processes: readonly ServiceProcess[]): Promise<number> {
  const turns = processes.map(async (of) => {
    const number = (signals.get(of) ?? 0) + 1;
    signals.set(of, number);
    process.kill(of.pid, "SIGUSR2");
    const [, gap = ""] = await of.logged(new RegExp(`^loop gap ${number} (.*)$`, "m"));
    return (JSON.parse(gap) as { readonly cpuMs: number }).cpuMs;
  });
  return Math.max(...(await Promise.all(turns)));
}

function print(gateways: number, rows: ReadonlyMap<string, readonly Row[]>): void {
  console.log(
    `\nP15, ${gateways} gateways: a polite key at ${requestsPerSecond} requests/s beside`.padEnd(56),
    ["p50", "p99", "services", "quiet p50", "quiet p99", "p99 ratio", "control", "cores", "abuser", "gateway", "pods", "refused"]
      .map((head) => head.padStart(10))
      .join(""),
  );
  const found = [...rows].map(([abuse, rounds]) => {
    const [seen, quiet] = [joined(rounds.map((row) => row.seen)), joined(rounds.map((row) => row.quiet))];
    const ratioOf = (which: "seen" | "control") =>
      median(rounds.map((row) => quantile(row[which].latencies, 0.99) / quantile(row.quiet.latencies, 0.99)));
    const [ratio, controlRatio] = [ratioOf("seen"), ratioOf("control")];
    const cores = [median(rounds.map(({ serviceCores }) => serviceCores)), median(rounds.map(({ abuserCores }) => abuserCores))];
    const refused = Object.values(seen.refused).reduce((sum, count) => sum + count, 0);
    const ms = [
      quantile(seen.latencies, 0.5),
      quantile(seen.latencies, 0.99),
      quantile(seen.upstream, 0.99),
      quantile(quiet.latencies, 0.5),
      quantile(quiet.latencies, 0.99),
    ];
    const why = Object.entries(seen.refused).map(([reason, count]) => `${count} × ${reason}`);
    const turns = [median(rounds.map(({ gatewayMs }) => gatewayMs)), median(rounds.map(({ podMs }) => podMs))];
    const figures =
      [...ms, ratio, controlRatio, ...cores, ...turns].map((figure) => figure.toFixed(1).padStart(10)).join("") + `${refused}`.padStart(10);
    console.log(abuse.padEnd(56), figures, why.length === 0 ? "" : `(${why.join(", ")})`);
    return {
      gateways,
      abuse,
      p50: ms[0],
      p99: ms[1],
      quietP99: ms[4],
      ratio,
      controlRatio,
      cores,
      gatewayMs: turns[0],
      podMs: turns[1],
      refused,
    };
  });
  console.log(JSON.stringify({ bench: "fairness", rows: found }));
}

function joined(all: readonly Seen[]): Seen {
  const refused: Record<string, number> = {};
  for (const seen of all) for (const [reason, count] of Object.entries(seen.refused)) refused[reason] = (refused[reason] ?? 0) + count;
  return { latencies: all.flatMap((seen) => seen.latencies), upstream: all.flatMap((seen) => seen.upstream), refused };
}

function quantile(of: readonly number[], share: number): number {
  const sorted = [...of].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
