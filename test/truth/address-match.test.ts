/** Random and announced addresses of the sample: the prefix that answers is the one that looking at every length finds. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { formatIpv4, formatIpv6, parseAddress } from "@netfacts/address";
import { AnswerNotes, ipRecord } from "@netfacts/records";
import type { Generation } from "@netfacts/snapshot";
import { runs, seed } from "../support/runs.ts";
import { bitsOf } from "./support/by-length.ts";
import { Imported } from "./support/cli.ts";
import { MatchRule } from "./support/match-rule.ts";
import { seededRandom } from "./support/random.ts";

const count = runs(100_000);
const now = Date.UTC(2026, 10, 21);

let imported: Imported;
let generation: Generation;
let prefixes: string[];
let rule: MatchRule;

beforeAll(async () => {
  imported = await Imported.samples();
  generation = await imported.load();
  prefixes = [...new Set((await imported.dumpRoutes()).map((line) => line.slice(0, line.indexOf("\t"))))];
  // One full feed: any peer will do, so how many see a prefix does not matter.
  rule = new MatchRule(
    prefixes.map((prefix) => ({ prefix, full: 0 })),
    0,
  );
});

afterAll(() => imported?.remove());

/** What `/ip` answers about an address given as text. */
function answered(text: string): { prefix: string | null; announced: boolean | null; defaultOnly: boolean } {
  const address = parseAddress(text);
  if (address === null) throw new TypeError(`${text} is no address`);
  const notes = new AnswerNotes(generation, now);
  const { prefix, announced } = ipRecord(address, notes).routing;
  return { prefix, announced, defaultOnly: notes.warnings.some(({ code }) => code === "default_route_only") };
}

/** Addresses whose answer is not the rule's, and how many are announced. */
function compare(addresses: Iterable<string>, expectedOf: (address: string) => string | null): { wrong: string[]; announced: number } {
  const wrong: string[] = [];
  let announced = 0;
  for (const address of addresses) {
    const prefix = expectedOf(address);
    if (prefix !== null) announced++;
    const answer = answered(address);
    // A default route holds every address of its family, is nobody's match, and is no news beside a full feed. No peer of the sample has
    // a full feed of IPv6: that nobody announces an address there is not known.
    const unannounced = address.includes(":") ? null : false;
    if (answer.prefix !== prefix || answer.announced !== (prefix === null ? unannounced : true) || answer.defaultOnly)
      wrong.push(`${address}: ${JSON.stringify(answer)}, not ${prefix}`);
  }
  return { wrong: wrong.slice(0, 10), announced };
}

const byRule = (address: string) => rule.match(address).prefix;

function* randomAddresses(): Generator<string> {
  const random = seededRandom(seed(2014));
  const word = () => random.below(2 ** 32);
  for (let index = 0; index < count; index++) yield formatIpv4(word());
  // In IPv6 a random address is hardly ever announced: a tenth as many, all in global unicast space.
  for (let index = 0; index < count / 10; index++) yield formatIpv6(0x2000_0000 + random.below(2 ** 29), word(), word(), word());
}

/** The first, the last or a random address of a random prefix; every prefix of IPv6. */
function* announcedAddresses(): Generator<string> {
  const random = seededRandom(seed(6811));
  const ipv6 = prefixes.filter((prefix) => prefix.includes(":"));
  const inside = function* (prefix: string, kind: number): Generator<string> {
    const bits = bitsOf(prefix);
    if (bits.family === 4) {
      const size = 2 ** (32 - bits.length);
      yield formatIpv4(bits.value + (kind === 0 ? 0 : kind === 1 ? size - 1 : random.below(size)));
      return;
    }
    const host = (1n << BigInt(128 - bits.length)) - 1n;
    const noise = [0, 0, 0, 0].reduce((sum) => (sum << 32n) | BigInt(random.below(2 ** 32)), 0n);
    const value = bits.value | (kind === 0 ? 0n : kind === 1 ? host : noise & host);
    const word = (index: number) => Number((value >> BigInt(96 - index * 32)) & 0xffff_ffffn);
    yield formatIpv6(word(0), word(1), word(2), word(3));
  };
  for (let index = 0; index < count; index++) yield* inside(prefixes[random.below(prefixes.length)] as string, index % 3);
  for (const prefix of ipv6) for (let kind = 0; kind < 3; kind++) yield* inside(prefix, kind);
}

test(`${count} random IPv4 and ${count / 10} random IPv6 addresses have the match that the rule finds`, () => {
  const { wrong, announced } = compare(randomAddresses(), byRule);
  expect(wrong).toEqual([]);
  // Some 62 % of the IPv4 space was announced in 2014.
  expect(announced).toBeGreaterThan(count * 0.55);
  expect(announced).toBeLessThan(count * 0.7);
});

test(`${count} addresses of announced prefixes have the match that the rule finds`, () => {
  const { wrong, announced } = compare(announcedAddresses(), byRule);
  expect(wrong).toEqual([]);
  // All but those of the two default routes, which stand among the prefixes.
  expect(announced).toBeGreaterThan(count * 0.99);
});

test("the comparison finds one wrong match", () => {
  const { wrong } = compare(["193.0.6.139", "8.8.8.8"], (address) => (address === "8.8.8.8" ? "8.8.8.0/23" : byRule(address)));
  expect(wrong).toHaveLength(1);
});
