/** A table made here, with everything that makes counting hard: dump, match and RPKI states are what was meant. Needs no data. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { formatIpv4, formatIpv6, parseAddress } from "@netfacts/address";
import { AnswerNotes, ipRecord } from "@netfacts/records";
import { runs, seed } from "../support/runs.ts";
import { bitsOf } from "./support/by-length.ts";
import { Imported } from "./support/cli.ts";
import { fullPeers, type MadeTable, makeTable } from "./support/made-table.ts";
import { MatchRule } from "./support/match-rule.ts";
import { linearState } from "./support/origin-rule.ts";
import { seededRandom } from "./support/random.ts";
import { differences, differencesWhenAltered, noDifferences } from "./support/table-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-made-"));
let imported: Imported;
let made: MadeTable;

beforeAll(async () => {
  made = makeTable(20261121);
  writeFileSync(join(folder, "made.mrt"), made.rib);
  writeFileSync(join(folder, "vrps.json"), made.vrpsJson);
  const location = (name: string) => JSON.stringify(join(folder, name));
  imported = await Imported.of(`full_feed_min: {ipv4: 100, ipv6: 100}
sources:
  - {name: made, section: routes, format: mrt, location: ${location("made.mrt")}, stale_after: never}
  - {name: vrps, section: vrps, format: rpki-client-json, location: ${location("vrps.json")}, stale_after: never, bad_records_max: 20%}
`);
});

afterAll(() => {
  imported?.remove();
  rmSync(folder, { recursive: true });
});

test("every line of the dump is what was written, states by the linear rule", async () => {
  const vrps = made.vrps.map((vrp) => ({ vrp, bits: bitsOf(vrp.prefix) }));
  const expected = made.lines.map((line) => {
    const [prefix = "", origin = ""] = line.split("\t");
    return `${line}\t${linearState(vrps, prefix, origin)}`;
  });
  const dumped = await imported.dumpRoutes();
  expect(differences(dumped, expected)).toEqual(noDifferences);
  for (const { count } of differencesWhenAltered(dumped, expected)) expect(count).toBeGreaterThan(0);
  for (const state of ["valid", "invalid", "not-found"])
    expect(expected.filter((line) => line.endsWith(`\t${state}`)).length).toBeGreaterThan(100);
});

test("the match of an address is the longest prefix that two full feeds see; longer ones are told as of low visibility", async () => {
  const generation = await imported.load();
  expect([generation.peersTotal(4), generation.peersTotal(6)]).toEqual([fullPeers, fullPeers]);
  const rule = new MatchRule(made.prefixes, 2);
  const random = seededRandom(seed(4));
  // Of IPv6's default route nearly every address is one that no other prefix holds: once is enough.
  const asked = made.prefixes.map(({ prefix }) => prefix).filter((prefix) => prefix !== "::/0");
  const questions = runs(10_000);
  let low = 0;
  for (let question = 0; question < questions; question++) {
    const text = question === 0 ? "2001:4860::1" : addressInside(asked[random.below(asked.length)] as string, random.below(2 ** 32));
    const address = parseAddress(text);
    if (address === null) throw new TypeError(`${text} is no address`);
    const { prefix, low_visibility_matches } = ipRecord(address, new AnswerNotes(generation, 0)).routing;
    const answer = { prefix, lowVisibility: low_visibility_matches.map((match) => match.prefix) };
    const expected = rule.match(text);
    if (expected.lowVisibility.length > 0) low++;
    expect({ text, ...answer }).toEqual({ text, ...expected });
  }
  expect(low).toBeGreaterThan(questions / 20);
});

/** An address that the prefix holds; the last 32 bits of it are those of `noise` where the prefix leaves them free. */
function addressInside(prefix: string, noise: number): string {
  const bits = bitsOf(prefix);
  if (bits.family === 4) return formatIpv4(bits.value + (bits.length === 0 ? noise : noise % 2 ** (32 - bits.length)));
  const word = (index: number) => Number((bits.value >> BigInt(96 - index * 32)) & 0xffff_ffffn);
  return formatIpv6(word(0), word(1), word(2), noise);
}
