/**
 * P16: search over 120,000 names, in process. The names are real ones of 2014 and 2026, some of them twice; every AS of 2014 whose name has an organisation has
 * that as its organisation. Questions: words of the names as somebody types them, letter by letter, misspelt ones, and the worst ones that
 * we know. Beside it a linear scan of the texts by the same rules, folded before. Each time is the least of three. `scripts/run.sh bench/search.ts`
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { AnswerNotes, finish, searchSteps } from "@netfacts/records";
import { foldedWords, isOneEdit, mayBeMisspelt } from "@netfacts/snapshot";
import { madeNames, madeProfiles } from "../libs/snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../libs/snapshot/test/support/made-snapshot.ts";
import { pick, seeded } from "../test/support/random.ts";
import { requireData } from "./support/data.ts";

const rows = 120_000;
const questionsOfEach = 2_000;
const scansOfEach = 30;
const random = seeded(16);

const data = requireData();
const linesOf = (file: string, encoding: BufferEncoding): string[] =>
  gunzipSync(readFileSync(join(data, file)))
    .toString(encoding)
    .split("\n");
const old = linesOf("real-2014/autnums-potaroo.20140524.txt.gz", "latin1").flatMap((line) => nameOf(line.slice(2)));
const recent = linesOf("modern/as-names.20260527.tsv.gz", "utf8").flatMap(nameOf);
const known = [...new Map([...recent, ...old])].slice(0, rows);
/** There are fewer: the rest are names of 2026 once more, under private numbers. */
const listed = [...known, ...recent.slice(0, rows - known.length).map(([, name], at) => [4_200_000_000 + at, name] as const)];
const organisations = Object.fromEntries(
  listed.flatMap(([asn, name]) => (name.includes(" - ") ? [[asn, { organisation: name.slice(name.indexOf(" - ") + 3) }] as const] : [])),
);
const generation = madeGeneration({ names: madeNames(Object.fromEntries(listed)), profiles: madeProfiles(organisations) });

function nameOf(line: string): [number, string][] {
  const [, asn, name] = /^(\d+)\s+(.*\S)/.exec(line) ?? [];
  return name === undefined ? [] : [[Number(asn), name]];
}

const word = (): string => pick(random, foldedWords(pick(random, listed)[1])).text;
const cases: Record<string, () => string> = {
  "whole word": word,
  "typed so far": () => word().slice(0, 1 + random(6)),
  "two words": () => `${word()} ${word().slice(0, 3)}`,
  misspelt: () => {
    const whole = word();
    const at = random(whole.length);
    return `${whole.slice(0, at)}${pick(random, ["e", "n", "r"])}${whole.slice(at + 1)}`;
  },
  "AS number": () => String(pick(random, listed)[0]).slice(0, 1 + random(6)),
  "one letter": () => pick(random, [..."abcdefghijklmnopqrstuvwxyz"]),
  "eight letters": () => "a s n i c t e l",
  "aaaa…": () => "a".repeat(100),
};

function ask(q: string): number {
  const notes = new AnswerNotes(generation, Date.now());
  return finish(searchSteps({ q, limit: 10 }, notes)).results.total;
}

/** The number of names and organisations that match: each text is looked at. */
const scanned = [...listed.map(([, name]) => name), ...new Set(Object.values(organisations).map(({ organisation }) => organisation))].map(
  (text) => foldedWords(text).map((found) => found.text),
);
function scan(q: string): number {
  const asked = [...new Set(foldedWords(q).map(({ text }) => text))].slice(0, 8);
  return scanned.filter((texts) =>
    asked.every((each) => texts.some((text) => text.startsWith(each) || (mayBeMisspelt(each) && isOneEdit(each, text)))),
  ).length;
}

/** The least of three times, as a busy machine adds its own pauses. */
function timed(run: () => unknown): number {
  return Math.min(
    ...Array.from({ length: 3 }, () => {
      const start = performance.now();
      run();
      return performance.now() - start;
    }),
  );
}

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0;
const heap = (): number => {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return (heapUsed + Math.max(external, arrayBuffers)) / 2 ** 20;
};

const buildMs: number[] = [];
let [longestMs, bytes] = [0, 0];
for (const table of [generation.names, generation.profiles]) {
  if (table === null) throw new Error("the generation lacks its names");
  const steps = table.words();
  const start = performance.now();
  for (let before = start; ; ) {
    const { done, value } = steps.next();
    const now = performance.now();
    longestMs = Math.max(longestMs, now - before);
    before = now;
    if (done !== true) continue;
    bytes += value.bytes;
    buildMs.push(now - start);
    break;
  }
}
const before = heap();
ask("warm");
const scratchMib = Math.max(0, heap() - before);
console.log(
  `${listed.length} names, ${Object.keys(organisations).length} organisations: index ${(bytes / 2 ** 20).toFixed(1)} MiB, built in ${buildMs.map((ms) => ms.toFixed(0)).join(" + ")} ms, longest step ${longestMs.toFixed(1)} ms\n`,
);
console.log("question        p50 ms   p99 ms   max ms   linear scan p50 ms");
const result: Record<string, unknown> = {
  rows: listed.length,
  index_mib: bytes / 2 ** 20,
  scratch_mib: scratchMib,
  build_ms: buildMs,
  longest_step_ms: longestMs,
};
for (let round = 0; round < 200; round++) for (const question of Object.values(cases)) ask(question());
const all: number[] = [];
for (const [name, question] of Object.entries(cases)) {
  const questions = Array.from({ length: questionsOfEach }, question);
  const times = questions.map((q) => timed(() => ask(q)));
  const scans = questions.slice(0, scansOfEach).map((q) => timed(() => scan(q)));
  all.push(...times);
  const row = [quantile(times, 0.5), quantile(times, 0.99), Math.max(...times), quantile(scans, 0.5)];
  console.log(`${name.padEnd(14)}${row.map((ms) => ms.toFixed(3).padStart(9)).join("")}`);
  result[name] = { p50_ms: row[0], p99_ms: row[1], scan_p50_ms: row[3] };
}
console.log(`\nall: p99 ${quantile(all, 0.99).toFixed(3)} ms`);
console.log(JSON.stringify({ bench: "search", ...result }));
