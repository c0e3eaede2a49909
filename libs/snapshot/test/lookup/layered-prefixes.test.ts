/** Base and overlay read as one, against a plain map of prefixes to which the changes are applied. */

import { describe, expect, jest, test } from "@jest/globals";
import { type Address, comparePrefixes, containsAddress, containsPrefix, formatPrefix, type Prefix } from "@netfacts/address";
import { PrefixTrie } from "@netfacts/prefix-trie";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { anyPrefix, edgesOf } from "../../../prefix-trie/test/arbitraries.ts";
import { matchRoute, RouteTable } from "../../src/index.ts";
import { type MadeOrigin, type MadeRoute, madeRoutes, route } from "../support/made-sections.ts";
import { address, prefix } from "../support/text.ts";

/** A complete route, or null for its withdrawal. */
type Change = MadeRoute | { readonly prefix: Prefix; readonly origins: null };

const origin: fc.Arbitrary<MadeOrigin> = fc.record({
  origin: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 64500, max: 64505 }) },
    { weight: 1, arbitrary: fc.constant([64501, 64502]) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  full: fc.nat(4),
  partial: fc.nat(2),
});
const origins = fc.uniqueArray(origin, { minLength: 1, maxLength: 3, selector: (one) => String(one.origin) });
const madeRoute: fc.Arbitrary<MadeRoute> = fc.record({ prefix: anyPrefix, origins });
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 2, arbitrary: madeRoute },
  { weight: 1, arbitrary: fc.record({ prefix: anyPrefix, origins: fc.constant(null) }) },
);
const byPrefix = { selector: (one: { prefix: Prefix }) => formatPrefix(one.prefix) };

/** Routes, and changes of which half are to prefixes that are there. */
const layers = fc
  .tuple(
    fc.uniqueArray(madeRoute, { ...byPrefix, maxLength: 40 }),
    fc.uniqueArray(change, { ...byPrefix, maxLength: 20 }),
    fc.array(fc.nat(39), { maxLength: 10 }),
  )
  .map(([base, changes, taken]) => {
    const onto = taken.flatMap((at) => base[at % Math.max(1, base.length)]?.prefix ?? []);
    const moved = changes.map((one, at) => ({ ...one, prefix: onto[at] ?? one.prefix }));
    const unique = new Map(moved.map((one) => [formatPrefix(one.prefix), one as Change]));
    return { base, changes: [...unique.values()] };
  });

function tableOf(base: readonly MadeRoute[], changes: readonly Change[]): RouteTable {
  const layer = (routes: readonly MadeRoute[]) => {
    const columns = madeRoutes(routes);
    const prefixes = {
      ipv4: { address: columns.v4_address, length: columns.v4_length },
      ipv6: { words: columns.v6_words, length: columns.v6_length },
    };
    return { columns, trie: PrefixTrie.build(prefixes) };
  };
  const sorted = [...changes].sort((a, b) => comparePrefixes(a.prefix, b.prefix));
  const removed = Uint8Array.from(sorted, (one) => (one.origins === null ? 1 : 0));
  const overlay = layer(sorted.map((one) => (one.origins === null ? { prefix: one.prefix, origins: [] } : one)));
  return new RouteTable(layer(base), changes.length === 0 ? null : { ...overlay, removed });
}

/** The routes after the changes, ascending. */
function applied(base: readonly MadeRoute[], changes: readonly Change[]): MadeRoute[] {
  const routes = new Map(base.map((one) => [formatPrefix(one.prefix), one]));
  for (const one of changes) {
    routes.delete(formatPrefix(one.prefix));
    if (one.origins !== null) routes.set(formatPrefix(one.prefix), one);
  }
  return [...routes.values()].sort((a, b) => comparePrefixes(a.prefix, b.prefix));
}

const longestOf = (routes: readonly MadeRoute[]): MadeRoute | null =>
  routes.reduce<MadeRoute | null>((best, one) => (best === null || one.prefix.length > best.prefix.length ? one : best), null);
const textOf = (one: MadeRoute | null): string | null => (one === null ? null : formatPrefix(one.prefix));
const fullOf = (one: MadeRoute): number => Math.max(...one.origins.map(({ full = 0 }) => full));

/** The rule of docs/design/semantics.md#which-routes-count, by looking at every route. */
function slowMatch(routes: readonly MadeRoute[], at: Address, peersMin: number) {
  const holding = routes.filter((one) => containsAddress(one.prefix, at));
  const real = holding.filter((one) => one.prefix.length > 0);
  const seen = longestOf(real.filter((one) => peersMin === 0 || fullOf(one) >= peersMin));
  const match = seen ?? longestOf(real);
  const low =
    seen === null ? [] : real.filter((one) => one.prefix.length > seen.prefix.length).sort((a, b) => b.prefix.length - a.prefix.length);
  return { match: textOf(match), low: low.map(textOf), defaultOnly: real.length === 0 && holding.length > 0 };
}

test("reads as a plain map to which the changes were applied", () => {
  fc.assert(
    fc.property(layers, fc.array(anyPrefix, { maxLength: 5 }), ({ base, changes }, asked) => {
      const table = tableOf(base, changes);
      const routes = applied(base, changes);
      const { prefixes } = table;
      const text = (entry: number) => (entry < 0 ? null : formatPrefix(prefixes.prefixAt(entry)));
      const questions = [...asked, ...base.map((one) => one.prefix), ...changes.map((one) => one.prefix)];
      for (const question of questions) {
        const covering = routes.filter((one) => containsPrefix(one.prefix, question));
        const exact = routes.find((one) => comparePrefixes(one.prefix, question) === 0) ?? null;
        expect(text(prefixes.exact(question))).toBe(textOf(exact));
        expect(text(prefixes.covering(question))).toBe(textOf(longestOf(covering)));
        const inside = routes.filter((one) => containsPrefix(question, one.prefix) && one !== exact);
        expect(Array.from(prefixes.moreSpecifics(question), text)).toEqual(inside.map(textOf));
        for (let skipped = 0; skipped <= inside.length + 1; skipped++)
          expect(Array.from(prefixes.moreSpecifics(question, skipped), text)).toEqual(inside.slice(skipped).map(textOf));
        expect(prefixes.countMoreSpecifics(question)).toBe(inside.length);
        const outermost = inside.filter((one) => !inside.some((other) => other !== one && containsPrefix(other.prefix, one.prefix)));
        const share = outermost.reduce((sum, one) => sum + 2 ** (question.length - one.prefix.length), 0);
        expect(prefixes.coveredShare(question)).toBeCloseTo(share, 12);
        const chain: (string | null)[] = [];
        for (let entry = prefixes.covering(question); entry >= 0; entry = prefixes.parent(entry)) {
          chain.push(text(entry));
          expect(prefixes.lengthAt(entry)).toBe(prefixes.prefixAt(entry).length);
        }
        expect(chain).toEqual([...covering].sort((a, b) => b.prefix.length - a.prefix.length).map(textOf));
        for (const edge of edgesOf(question))
          expect(text(prefixes.longest(edge))).toBe(textOf(longestOf(routes.filter((one) => containsAddress(one.prefix, edge)))));
      }
    }),
    { seed: seed(4632), numRuns: runs(600) },
  );
});

test("gives the origins, counts and prefixes of every AS as the map has them", () => {
  fc.assert(
    fc.property(layers, ({ base, changes }) => {
      const table = tableOf(base, changes);
      const routes = applied(base, changes);
      for (const one of routes) {
        const entry = table.prefixes.exact(one.prefix);
        const found = table.origins(entry).map(({ asn, asSet, full, partial }) => ({ origin: asn ?? asSet, full, partial }));
        expect(found).toHaveLength(one.origins.length);
        expect(found).toEqual(expect.arrayContaining(one.origins.map((made) => ({ ...made }))));
        expect(found.map(({ full }) => full)).toEqual(found.map(({ full }) => full).sort((a, b) => b - a));
        expect(table.prefixCounts(entry)).toEqual({
          full: fullOf(one),
          partial: Math.max(...one.origins.map(({ partial = 0 }) => partial)),
        });
        expect(table.prefixFull(entry)).toBe(fullOf(one));
        expect(table.originCount(entry)).toBe(one.origins.filter(({ origin: value }) => !Array.isArray(value)).length);
        expect(table.hasOrigin(entry, 64500)).toBe(one.origins.some(({ origin: value }) => value === 64500));
      }
      for (let asn = 64499; asn <= 64506; asn++) {
        const expected = routes.flatMap((one) => {
          const own = one.origins.find((made) => made.origin === asn);
          return own === undefined || one.prefix.length === 0 ? [] : [{ prefix: textOf(one), full: own.full, partial: own.partial }];
        });
        const { entry, full, partial } = table.originatedBy(asn);
        const found = Array.from(entry, (at, row) => ({
          prefix: formatPrefix(table.prefixes.prefixAt(at)),
          full: full[row],
          partial: partial[row],
        }));
        expect(found).toEqual(expected);
      }
    }),
    { seed: seed(4271), numRuns: runs(600) },
  );
});

test("matches every address as the slow rule does, whatever the number of peers that it asks for", () => {
  fc.assert(
    fc.property(layers, fc.nat(5), ({ base, changes }, peersMin) => {
      const table = tableOf(base, changes);
      const routes = applied(base, changes);
      const text = (entry: number) => (entry < 0 ? null : formatPrefix(table.prefixes.prefixAt(entry)));
      for (const one of [...base, ...changes])
        for (const edge of edgesOf(one.prefix)) {
          const { entry, lowVisibility, defaultOnly } = matchRoute(table, edge, peersMin);
          expect({ match: text(entry), low: lowVisibility.map(text), defaultOnly }).toEqual(slowMatch(routes, edge, peersMin));
        }
    }),
    { seed: seed(6890), numRuns: runs(600) },
  );
});

describe("the match of an address", () => {
  const table = tableOf(
    [
      route("0.0.0.0/0", [1, 9]),
      route("192.0.0.0/16", [2, 9]),
      route("192.0.2.0/24", [3, 1]),
      route("192.0.2.1/32", [4, 0, 5]),
      route("198.51.100.0/24", [5, 1]),
      route("::/0", [1, 9]),
    ],
    [],
  );
  const match = (text: string, peersMin: number) => {
    const { entry, lowVisibility, defaultOnly } = matchRoute(table, address(text), peersMin);
    const texts = [entry, ...lowVisibility].map((one) => (one < 0 ? "none" : formatPrefix(table.prefixes.prefixAt(one))));
    return [...texts, ...(defaultOnly ? ["default only"] : [])].join(" ");
  };

  test("is the longest when any peer will do", () => {
    expect(match("192.0.2.1", 0)).toBe("192.0.2.1/32");
  });

  test("passes over what too few full-feed peers see, the longest first", () => {
    expect(match("192.0.2.1", 2)).toBe("192.0.0.0/16 192.0.2.1/32 192.0.2.0/24");
    expect(match("192.0.2.1", 1)).toBe("192.0.2.0/24 192.0.2.1/32");
  });

  test("is the longest of all when too few peers see every one of them, never the default route", () => {
    expect(match("198.51.100.1", 2)).toBe("198.51.100.0/24");
  });

  test("is none where only a default route holds the address, of its own family", () => {
    expect(match("203.0.113.1", 2)).toBe("none default only");
    expect(match("2001:db8::1", 0)).toBe("none default only");
  });
});

test("an overlay without entries is none", () => {
  const { prefixes } = new RouteTable(
    {
      columns: madeRoutes([]),
      trie: PrefixTrie.build({
        ipv4: { address: new Uint32Array(0), length: new Uint8Array(0) },
        ipv6: { words: new Uint32Array(0), length: new Uint8Array(0) },
      }),
    },
    {
      columns: madeRoutes([]),
      trie: PrefixTrie.build({
        ipv4: { address: new Uint32Array(0), length: new Uint8Array(0) },
        ipv6: { words: new Uint32Array(0), length: new Uint8Array(0) },
      }),
      removed: new Uint8Array(0),
    },
  );
  expect(prefixes.overlay).toBeNull();
  expect(prefixes.longest(address("192.0.2.1"))).toBe(-1);
  expect([...prefixes.moreSpecifics(prefix("::/0"))]).toEqual([]);
});

test("counts and skips the many prefixes of a short one without looking at each", () => {
  const many = Array.from({ length: 4_096 }, (_, at) => route(`10.${at >> 8}.${at & 255}.0/24`, [1, 1]));
  const { prefixes } = tableOf(many, [route("11.0.0.0/24", [1, 1]), { prefix: prefix("10.0.0.0/24"), origins: null }]);
  const looks = jest.spyOn(PrefixTrie.prototype, "prefixAt");
  expect(prefixes.countMoreSpecifics(prefix("0.0.0.0/0"))).toBe(4_096);
  expect([...prefixes.moreSpecifics(prefix("0.0.0.0/0"), 4_095)]).toEqual([4_097]);
  expect(looks.mock.calls.length).toBeLessThan(100);
  looks.mockRestore();
});
