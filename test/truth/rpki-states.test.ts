/** Real route tables against every VRP of the five registries: each state is what RFC 6811, applied by hand, says. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parsePrefix } from "@netfacts/address";
import { AnswerNotes, validationRecord, validationState } from "@netfacts/records";
import { thinnedExports } from "../support/rpki-export.ts";
import { isLong, runs, seed } from "../support/runs.ts";
import { type Bits, bitsOf } from "./support/by-length.ts";
import { Imported, samples } from "./support/cli.ts";
import { type ExpiringVrp, readExport } from "./support/modern-vrps.ts";
import { linearState, OriginRule, type PlainState } from "./support/origin-rule.ts";
import { seededRandom } from "./support/random.ts";
import { testDataOrNotRun } from "./support/test-data.ts";
import { thinnedMrt } from "./support/thinned-mrt.ts";

const paths = testDataOrNotRun("RPKI states of whole tables", [
  "modern/rpki-client.20250720T0931.json.bz2",
  "modern/rpki-client.20250720T1001.json.bz2",
  "modern/prefix-origin.tsv.gz",
]);
const rib = join(samples, "data/routeviews.route-views.jinx.ribs.1401487200.bz2");
/** Routes of each table that are held against every single VRP. */
const linearRoutes = runs(100, 20);
/** Of the modern table, with its million routes: every route, or every tenth. */
const step = isLong ? 1 : 10;

const folder = mkdtempSync(join(tmpdir(), "netfacts-rpki-states-"));
let imported: Imported | null = null;
/** Those that had not expired when the export was made. */
let vrps: readonly ExpiringVrp[] = [];
let rule: OriginRule;
/** For the linear rule. */
let all: readonly { readonly vrp: ExpiringVrp; readonly bits: Bits }[];

beforeAll(async () => {
  if (paths === null) return;
  const exported = isLong ? paths[0] : await someOf([paths[0], paths[1]]);
  imported = await Imported.of(`sources:
  - {name: route-views.jinx, section: routes, format: mrt, location: ${JSON.stringify(await thinnedMrt(rib, folder))}, stale_after: never}
  - {name: rpki-client, section: vrps, format: rpki-client-json, location: ${JSON.stringify(exported)}, stale_after: never}
`);
  const whole = await readExport(exported);
  expect(whole.vrps).toHaveLength(isLong ? 723_521 : 206_868);
  vrps = whole.vrps.filter(({ expires }) => expires > whole.builtAt);
  rule = new OriginRule(vrps);
  all = vrps.map((vrp) => ({ vrp, bits: bitsOf(vrp.prefix) }));
});

afterAll(() => {
  imported?.remove();
  rmSync(folder, { recursive: true });
});

/**
 * What an ordinary run reads of the export: all VRPs that cover a route of 2014, which are those of the samples, every tenth of the others, and
 * those that the next export has not.
 */
async function someOf(whole: readonly [string, string]): Promise<string> {
  const { paths } = await thinnedExports(whole, folder);
  const lines = readFileSync(paths[0], "latin1").split("\n");
  const has = new Set(lines);
  const slice = gunzipSync(readFileSync(join(samples, "data/rpki-client.20250720T0931.slice.json.gz"))).toString("latin1");
  const more = slice.split("\n").filter((line) => line.includes('"maxLength"') && line.endsWith(",") && !has.has(line));
  const first = lines.findIndex((line) => line.includes('"maxLength"'));
  const path = join(folder, "rpki-client.json");
  writeFileSync(path, [...lines.slice(0, first), ...more, ...lines.slice(first)].join("\n"), "latin1");
  return path;
}

/** One route and the state that Netfacts gives it. */
interface Judged {
  readonly prefix: string;
  readonly origin: string;
  readonly state: string | null;
}

/** Counts states; lists the routes whose state is not the rule's. */
function compare(judged: Iterable<Judged>): { wrong: string[]; counts: Record<PlainState, number> } {
  const counts = { valid: 0, invalid: 0, "not-found": 0 };
  const wrong: string[] = [];
  for (const { prefix, origin, state } of judged) {
    const expected = rule.state(prefix, origin);
    counts[expected]++;
    if (state !== expected) wrong.push(`${prefix} ${origin}: ${state}, not ${expected}`);
  }
  return { wrong: wrong.slice(0, 10), counts };
}

/** Holds some routes against all VRPs one after the other, as the rule by length is itself only a short cut. */
function compareLinearly(judged: readonly Judged[]): string[] {
  const random = seededRandom(seed(6811));
  const some = Array.from({ length: linearRoutes }, () => judged[random.below(judged.length)] as Judged);
  return some.filter(({ prefix, origin, state }) => state !== linearState(all, prefix, origin)).map(({ prefix }) => prefix);
}

test("ingest takes every VRP that had not expired when the export was made", () => {
  if (imported === null) return;
  expect(imported.report?.sections.find(({ name }) => name === "vrps")?.counts.vrps).toBe(vrps.length);
});

test("the routes of the 2014 table have the states of the rule, and of each state as many as were counted without our code", async () => {
  if (imported === null) return;
  const lines = await imported.dumpRoutes();
  const judged = lines.map((line): Judged => {
    const [prefix = "", origin = "", , , state = ""] = line.split("\t");
    return { prefix, origin, state };
  });
  const { wrong, counts } = compare(judged);
  expect(wrong).toEqual([]);
  expect(compareLinearly(judged)).toEqual([]);
  console.log(`route-views.jinx 2014, ${lines.length} origins: ${JSON.stringify(counts)}`);
  // The slice in samples/ keeps every VRP that covers a route, so its states are those of the whole export.
  const slice = JSON.parse(readFileSync(join(samples, "expected/jinx-routes.json"), "utf8")) as {
    states: Record<"ipv4" | "ipv6", Record<PlainState, number>>;
  };
  const sum = (state: PlainState) => slice.states.ipv4[state] + slice.states.ipv6[state];
  const ofAll = { valid: sum("valid"), invalid: sum("invalid"), "not-found": sum("not-found") };
  // An ordinary run counts those of the whole table in jinx-table.test.ts.
  expect(counts).toEqual(isLong ? ofAll : { valid: 15_209, invalid: 9_473, "not-found": 25_060 });
  // One wrong state is found.
  const [first, ...rest] = judged as [Judged, ...Judged[]];
  expect(compare([{ ...first, state: "valid" }, ...rest.slice(0, 10)]).wrong).toHaveLength(1);
});

test("the routes of the modern table have the states of the rule", async () => {
  if (imported === null || paths === null) return;
  const generation = await imported.load();
  const table = gunzipSync(readFileSync(paths[2])).toString("latin1").trimEnd().split("\n");
  const judged = table
    .filter((_, at) => at % step === 0)
    .map((line): Judged => {
      const [text = "", origin = ""] = line.split("\t");
      const reading = parsePrefix(text);
      if (!reading.ok) throw new TypeError(`${text}: ${reading.fault}`);
      // The state alone and the state with its reasons are found in two ways: both must be the rule's.
      const { state } = validationState(generation, reading.prefix, Number(origin));
      const explained = validationRecord(new AnswerNotes(generation, 0), reading.prefix, Number(origin), false).state;
      return { prefix: text, origin, state: state === explained ? state : `${state}, explained as ${explained}` };
    });
  const { wrong, counts } = compare(judged);
  expect(wrong).toEqual([]);
  expect(compareLinearly(judged)).toEqual([]);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(1_000);
  console.log(`modern, ${judged.length} routes: ${JSON.stringify(counts)}`);
});
