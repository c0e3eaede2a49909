/** Where things are drawn: neighbours around an AS, and address space on the Hilbert curve. */

import { expect, test } from "@jest/globals";
import { containsPrefix, formatPrefix, makePrefix, type Prefix, parsePrefix } from "@netfacts/address";
import { examples } from "@netfacts/contracts";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { addressMap, cellsOf, orderOf, originGroupsMax, squareOf } from "../src/domain/address-map.ts";
import { areaOf, bitsOf, blockAt, cellAt, placeAt } from "../src/domain/hilbert.ts";
import { drawnMax, neighbourGraph, shortened } from "../src/domain/neighbour-graph.ts";

test("neighbours stand on their side inside the drawing, at any width, and lines are as thick as their share", () => {
  const [sample] = examples.asn.neighbours?.items ?? [];
  if (sample === undefined) throw new Error("the example has a neighbour");
  const items = Array.from({ length: 40 }, (_, at) => ({
    ...sample,
    asn: at,
    position: at % 3 === 0 ? ("right" as const) : ("left" as const),
    share: at / 40,
  }));
  for (const width of [240, 320, 700, 2_000]) {
    const { left, right, middle, height } = neighbourGraph("AS3333", { items }, width);
    expect([left.length, right.length]).toEqual([drawnMax, drawnMax]);
    const beginOf = (line: string) => Number(/^M([\d.]+) /.exec(line)?.[1]);
    for (const { x, line } of left) expect([x, beginOf(line)].every((at) => at < middle.x)).toBe(true);
    for (const { x, line } of right) expect([x, beginOf(line)].every((at) => at > middle.x)).toBe(true);
    for (const { x, y } of [...left, ...right]) {
      expect(x > 0 && x < width).toBe(true);
      expect(y > 0 && y < height).toBe(true);
    }
    const widths = left.map(({ lineWidth }) => lineWidth);
    expect(widths).toEqual([...widths].sort((a, b) => a - b));
  }
  expect(neighbourGraph("AS3333", { items: [] }, 300)).toMatchObject({ left: [], right: [] });
  expect([shortened("ripe-ncc-as", 11), shortened("ripe-ncc-as", 10), shortened("😀😀😀", 2)]).toEqual([
    "ripe-ncc-as",
    "ripe-ncc-…",
    "😀…",
  ]);
  // Capitals are wider.
  expect([shortened("RIPE-NCC-AS", 14), shortened("RIPE-NCC-AS", 11)]).toEqual(["RIPE-NCC-AS", "RIPE-NC…"]);
});

test("the curve visits every cell once, from one to the next beside it, and cells know their place", () => {
  for (let order = 0; order <= 7; order++) {
    const side = 2 ** order;
    const cells = Array.from({ length: side * side }, (_, place) => cellAt(order, place));
    expect(new Set(cells.map(({ x, y }) => y * side + x)).size).toBe(side * side);
    for (const [place, cell] of cells.entries()) {
      expect(placeAt(order, cell)).toBe(place);
      const next = cells[place + 1];
      if (next !== undefined) expect(Math.abs(next.x - cell.x) + Math.abs(next.y - cell.y)).toBe(1);
    }
  }
});

const parse = (text: string): Prefix => {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(text);
  return reading.prefix;
};

/** The cells of a prefix one by one, by the places of the line that it holds. */
function slowCells(whole: Prefix, order: number, inner: Prefix): Set<string> {
  const cells = new Set<string>();
  for (let place = 0; place < 4 ** order; place++) {
    const block = blockAt(whole, order, place);
    if (!containsPrefix(inner, block) && !containsPrefix(block, inner)) continue;
    const { x, y } = cellAt(order, place);
    cells.add(`${x},${y}`);
  }
  return cells;
}

test("a prefix of 2k bits below the whole is a square, one of 2k + 1 is two of them, and both hold exactly their blocks", () => {
  const order = 4;
  const inputs = fc.tuple(fc.constantFrom("0.0.0.0/0", "10.0.0.0/8", "2001:db8::/32", "2001:db8:0:2::/63"), fc.nat(), fc.nat(10));
  fc.assert(
    fc.property(inputs, ([text, bits, below]) => {
      const whole = parse(text);
      const length = whole.length + below;
      const block = blockAt(whole, 5, bits % 1_024);
      const inner = makePrefix(whole.version, block.w0, block.w1, block.w2, block.w3, length);
      const area = areaOf(whole, order, inner);
      const drawn = new Set<string>();
      for (let x = area.x; x < area.x + area.width; x++) for (let y = area.y; y < area.y + area.height; y++) drawn.add(`${x},${y}`);
      expect([formatPrefix(inner), drawn]).toEqual([formatPrefix(inner), slowCells(whole, order, inner)]);
      if (below % 2 === 0) expect(area.width).toBe(area.height);
      else if (below < 2 * order) expect(Math.max(area.width, area.height)).toBe(2 * Math.min(area.width, area.height));
    }),
    { numRuns: runs(2_000), seed: seed(2) },
  );
});

test("blocks are told by the bits of their place", () => {
  expect(formatPrefix(blockAt(parse("10.0.0.0/8"), 4, 255))).toBe("10.255.0.0/16");
  expect(formatPrefix(blockAt(parse("2001:db8::/32"), 8, 258))).toBe("2001:db8:102::/48");
  expect(bitsOf(parse("2001:db8:102::/48"), 32, 16)).toBe(258);
  expect(bitsOf(parse("0.0.0.0/0"), 0, 24)).toBe(0);
});

const names = { unknown: "unknown", rest: "other origins" };
const item = (prefix: string, rpki: string | null = "valid", origin = "AS64500") => ({ prefix, rpki, origin });

test("the square of a map is the smallest prefix of even length that holds all prefixes", () => {
  const square = (...prefixes: string[]) => {
    const whole = squareOf(prefixes.map(parse));
    return whole === null ? null : formatPrefix(whole);
  };
  expect(square("193.0.0.0/21")).toBe("193.0.0.0/20");
  expect(square("10.0.0.0/24", "10.0.1.0/24")).toBe("10.0.0.0/22");
  expect(square("1.0.0.0/24", "223.0.0.0/8")).toBe("0.0.0.0/0");
  expect(square("2001:67c:2e8::/48", "2001:610:240::/42")).toBe("2001:600::/24");
  expect(square()).toBeNull();
  expect([orderOf(parse("10.0.0.0/8"), 9), orderOf(parse("10.0.0.0/28"), 9), orderOf(parse("10.0.0.0/32"), 9)]).toEqual([9, 2, 0]);
});

test("groups of a map are all RPKI states, or the origins with the most prefixes and the rest", () => {
  const items = [
    item("10.0.0.0/16"),
    item("10.1.0.0/16", "invalid"),
    item("10.2.0.0/16", null),
    item("2001:db8::/32"),
    ...Array.from({ length: 21 }, (_, at) => item(`10.${at + 8}.0.0/16`, "valid", `AS${Math.floor(Math.sqrt(at))}`)),
  ];
  expect(addressMap(items, 4, "rpki", names).groups).toEqual([
    { name: "valid", prefixes: 22 },
    { name: "invalid", prefixes: 1 },
    { name: "not-found", prefixes: 0 },
    { name: "unknown", prefixes: 1 },
  ]);
  const { groups, prefixes } = addressMap(items, 4, "origin", names);
  expect(groups.map(({ name }) => name)).toEqual(["AS3", "AS2", "AS4", "AS64500", "AS1", "other origins"]);
  expect(groups).toHaveLength(originGroupsMax + 1);
  for (const [index, group] of groups.entries()) expect(prefixes.filter((each) => each.group === index)).toHaveLength(group.prefixes);
  expect(addressMap(items, 6, "rpki", names).prefixes).toHaveLength(1);
});

test("a cell tells the nearest prefix around it and the smaller ones inside, as a slow count does", () => {
  const block = fc.tuple(fc.nat(65_535), fc.integer({ min: 6, max: 20 }));
  fc.assert(
    fc.property(
      fc.uniqueArray(block, {
        maxLength: 30,
        selector: ([bits, length]) => formatPrefix(makePrefix(4, (10 << 24) + (bits << 8), 0, 0, 0, length)),
      }),
      (blocks) => {
        const sorted = blocks
          .map(([bits, length]) => makePrefix(4, (10 << 24) + (bits << 8), 0, 0, 0, length))
          .sort((a, b) => a.w0 - b.w0 || a.length - b.length);
        const map = addressMap(
          sorted.map((prefix) => item(formatPrefix(prefix), prefix.w0 & 256 ? "valid" : "invalid")),
          4,
          "rpki",
          names,
        );
        const whole = parse("10.0.0.0/8");
        for (const cell of cellsOf(whole, 2, map)) {
          const around = map.prefixes
            .filter(({ prefix }) => containsPrefix(prefix, cell.block))
            .sort((a, b) => a.prefix.length - b.prefix.length);
          const inside = map.prefixes.filter(({ prefix }) => prefix.length > cell.block.length && containsPrefix(cell.block, prefix));
          expect({
            around: map.prefixes[cell.around] ?? null,
            inside: cell.inside,
            first: map.prefixes[cell.first] ?? null,
          }).toEqual({
            around: around.at(-1) ?? null,
            inside: map.groups.map((_, group) => inside.filter((each) => each.group === group).length),
            first: inside[0] ?? null,
          });
        }
      },
    ),
    { numRuns: runs(1_000), seed: seed(3) },
  );
});
