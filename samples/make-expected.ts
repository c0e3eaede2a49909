/**
 * Makes `samples/expected`: what the sample's routes and their RPKI states are, from `bgpdump -m` and the obvious rules.
 * It shares no code with Netfacts on purpose. Usage: BGPDUMP=/path/to/bgpdump node samples/make-expected.ts
 */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";

const ribFile = "routeviews.route-views.jinx.ribs.1401487200.bz2";
const vrpsFile = "rpki-client.20250720T0931.slice.json.gz";
const data = join(import.meta.dirname, "data");
const target = join(import.meta.dirname, "expected");
const sampleEvery = 500;

type Family = "ipv4" | "ipv6";
type State = "valid" | "invalid" | "not-found";

/** A prefix as a number and a length: slow, and plain to see. */
interface Bits {
  family: Family;
  value: bigint;
  length: number;
}

const width = { ipv4: 32, ipv6: 128 } as const;
const feedLengths = { ipv4: [8, 24], ipv6: [16, 48] } as const;
const feedMin = { ipv4: 100_000, ipv6: 10_000 } as const;
const feedShare = 0.7;

function bitsOf(text: string): Bits {
  const [address = "", length] = text.split("/");
  const family = address.includes(":") ? "ipv6" : "ipv4";
  return { family, value: family === "ipv4" ? ipv4Value(address) : ipv6Value(address), length: Number(length) };
}

function ipv4Value(text: string): bigint {
  return text.split(".").reduce((value, byte) => value * 256n + BigInt(byte), 0n);
}

function ipv6Value(text: string): bigint {
  const [left = "", right] = text.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const head = groups(left);
  const tail = groups(right ?? "");
  const all = right === undefined ? head : [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
  return all.reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n);
}

/** Origin of a path (docs/design/semantics.md#which-routes-count). */
function originOf(path: string, peerAs: string): string {
  if (path === "" || /[)\]]$/.test(path)) return peerAs;
  const set = /\{([\d,]+)\}$/.exec(path);
  if (set === null) return path.slice(path.lastIndexOf(" ") + 1);
  const members = [...new Set((set[1] as string).split(",").map(Number))].sort((a, b) => a - b);
  return `{${members.join(",")}}`;
}

/** Peers by (address, AS) with the prefixes of feed length each carries; routes by prefix and origin with their peers. */
async function readRoutes(
  bgpdump: string,
): Promise<{ routes: Map<string, Map<string, Set<string>>>; feeds: Record<Family, Map<string, Set<string>>>; lines: number }> {
  const routes = new Map<string, Map<string, Set<string>>>();
  const feeds = { ipv4: new Map<string, Set<string>>(), ipv6: new Map<string, Set<string>>() };
  let lines = 0;
  const child = spawn(bgpdump, ["-m", join(data, ribFile)], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise<void>((done, failed) => child.on("error", failed).on("close", () => done()));
  for await (const line of createInterface({ input: child.stdout })) {
    const [, , , peerAddress = "", peerAs = "", prefix = "", path = ""] = line.split("|");
    lines++;
    const peer = `${peerAddress} ${peerAs}`;
    const origins = routes.get(prefix) ?? new Map<string, Set<string>>();
    routes.set(prefix, origins);
    const origin = originOf(path, peerAs);
    origins.set(origin, (origins.get(origin) ?? new Set()).add(peer));
    const family = prefix.includes(":") ? "ipv6" : "ipv4";
    const length = Number(prefix.slice(prefix.indexOf("/") + 1));
    const [shortest, longest] = feedLengths[family];
    if (length < shortest || length > longest) continue;
    feeds[family].set(peer, (feeds[family].get(peer) ?? new Set()).add(prefix));
  }
  await ended;
  return { routes, feeds, lines };
}

/** Special-purpose space is not taken off the counts; that no decision could hang on it is checked instead. */
function fullFeeds(family: Family, feeds: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const specialMax = 1_000;
  const largest = Math.max(...[...feeds.values()].map((prefixes) => prefixes.size));
  const isFull = (count: number, most: number) => count >= feedMin[family] && count >= most * feedShare;
  const full: string[] = [];
  for (const [peer, prefixes] of feeds) {
    const most = isFull(prefixes.size, largest - specialMax);
    if (most !== isFull(prefixes.size - specialMax, largest)) throw new Error(`${peer} is too near the bound for this script`);
    if (most) full.push(peer);
  }
  return full.sort();
}

interface Vrp {
  asn: number;
  prefix: string;
  maxLength: number;
}

/** RFC 6811, by looking at every shorter prefix there could be. */
function validator(vrps: readonly Vrp[]): (prefix: string, origin: string) => State {
  const byPrefix = new Map<string, Vrp[]>();
  const keyOf = ({ family, value, length }: Bits) => `${family} ${value} ${length}`;
  for (const vrp of vrps) {
    const key = keyOf(bitsOf(vrp.prefix));
    byPrefix.set(key, [...(byPrefix.get(key) ?? []), vrp]);
  }
  return (prefix, origin) => {
    const { family, value, length } = bitsOf(prefix);
    let state: State = "not-found";
    for (let shorter = 0; shorter <= length; shorter++) {
      const rest = BigInt(width[family] - shorter);
      for (const vrp of byPrefix.get(keyOf({ family, value: (value >> rest) << rest, length: shorter })) ?? []) {
        if (length <= vrp.maxLength && vrp.asn !== 0 && origin === String(vrp.asn)) return "valid";
        state = "invalid";
      }
    }
    return state;
  };
}

async function main(): Promise<void> {
  const { routes, feeds, lines: read } = await readRoutes(process.env.BGPDUMP ?? "bgpdump");
  const full = { ipv4: fullFeeds("ipv4", feeds.ipv4), ipv6: fullFeeds("ipv6", feeds.ipv6) };
  const vrps = (JSON.parse(gunzipSync(readFileSync(join(data, vrpsFile))).toString()) as { roas: Vrp[] }).roas;
  const stateOf = validator(vrps);
  const prefixes = { ipv4: 0, ipv6: 0 };
  const states: Record<Family, Record<State, number>> = {
    ipv4: { valid: 0, invalid: 0, "not-found": 0 },
    ipv6: { valid: 0, invalid: 0, "not-found": 0 },
  };
  const lines: string[] = [];
  let asSets = 0;
  let moas = 0;
  for (const [prefix, origins] of routes) {
    const family = prefix.includes(":") ? "ipv6" : "ipv4";
    prefixes[family]++;
    if ([...origins.keys()].filter((origin) => !origin.startsWith("{")).length > 1) moas++;
    for (const [origin, peers] of origins) {
      const seeing = full[family].filter((peer) => peers.has(peer)).length;
      const state = stateOf(prefix, origin);
      states[family][state]++;
      if (origin.startsWith("{")) asSets++;
      lines.push(`${prefix}\t${origin}\t${seeing}\t${peers.size}\t${state}`);
    }
  }
  lines.sort(byBytes);
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const summary = {
    about:
      "One line per prefix and origin: prefix, origin or {a,b}, full-feed peers seeing, all peers seeing, RPKI state; joined by tabs, each line ended by a line feed, sorted by bytes.",
    rib: { file: ribFile, sha256: sha256OfFile(join(data, ribFile)), routes: read },
    vrps: { file: vrpsFile, count: vrps.length },
    prefixes,
    lines: lines.length,
    as_set_origins: asSets,
    moas_prefixes: moas,
    full_feed_peers: { ipv4: full.ipv4, ipv6: full.ipv6 },
    states,
    sha256_of_all_columns: sha256(`${lines.join("\n")}\n`),
    sha256_without_states: sha256(
      lines
        .map((line) => `${line.slice(0, line.lastIndexOf("\t"))}\n`)
        .sort(byBytes)
        .join(""),
    ),
    sample: { file: "jinx-routes.sample.tsv", every: sampleEvery },
  };
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, "jinx-routes.json"), `${JSON.stringify(summary, null, 2)}\n`);
  writeFileSync(join(target, summary.sample.file), `${lines.filter((_, index) => index % sampleEvery === 0).join("\n")}\n`);
  console.log(JSON.stringify({ ...summary, about: undefined }, null, 2));
}

function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sha256OfFile(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

await main();
