/** Lists of records: each can be read to its end by its cursors, warns for itself, and hides no origin. */

import { describe, expect, test } from "@jest/globals";
import {
  type AsnQuestion,
  decodeCursor,
  type Meta,
  type OriginValidation,
  type PrefixQuestion,
  type View,
  wholeRecord,
} from "@netfacts/contracts";
import { linkSeen } from "@netfacts/snapshot";
import { madeAllocations, madeRoutes, madeVrps, route } from "../../snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { prefix } from "../../snapshot/test/support/text.ts";
import { AnswerNotes, asnRecord, listText, prefixRecord, shownAnswer } from "../src/index.ts";
import { ask, now } from "./support/checked.ts";

const slash24s = Array.from({ length: 7 }, (_, index) => `20.0.${index}.0/24`);
const generation = madeGeneration({
  ...world,
  routes: madeRoutes(
    [...slash24s.map((text) => route(text, [3333, 9])), route("20.0.16.0/24", [[300, 301], 5]), route("20.0.17.0/24", [7, 5], [[8, 9], 5])],
    Array.from({ length: 7 }, (_, index) => [3333, 500 + index, 9 - index, linkSeen.ipv4 | linkSeen.within] as const),
  ),
  // Every second one authorises no route.
  vrps: madeVrps(Array.from({ length: 14 }, (_, index) => ({ prefix: `20.0.${index >> 1}.0/24`, asn: index % 2 === 0 ? 3333 : 9 }))),
  allocations: madeAllocations(
    slash24s.map((_, index) => ({ start: `20.0.${index}.0`, end: `20.0.${index}.255`, holder: "h1" })),
    [{ first: 3333, holder: "h1" }],
  ),
});

const asn: AsnQuestion = { asn: 3333, family: null, rpki: null, aggregate: false, limit: 3 };
const inside: PrefixQuestion = { prefix: prefix("20.0.0.0/16"), limit: 3 };

interface Shown {
  readonly items: readonly unknown[];
  readonly next: string | null | undefined;
}

const readers = {
  prefixes: (view: View): Shown => {
    const { prefixes } = asnRecord(asn, new AnswerNotes(generation, now, view));
    return { items: prefixes.items, next: prefixes.next_cursor };
  },
  allocations: (view: View): Shown => {
    const { allocations } = asnRecord(asn, new AnswerNotes(generation, now, view));
    return { items: allocations.items, next: allocations.next_cursor };
  },
  neighbours: (view: View): Shown => {
    const { neighbours } = asnRecord(asn, new AnswerNotes(generation, now, view));
    return { items: neighbours?.items ?? [], next: neighbours?.next_cursor };
  },
  more_specifics: (view: View): Shown => {
    const { more_specifics } = prefixRecord(inside, new AnswerNotes(generation, now, view));
    return { items: more_specifics.items, next: more_specifics.next_cursor };
  },
  "vrps.unannounced": (view: View): Shown => {
    const { vrps } = prefixRecord(inside, new AnswerNotes(generation, now, view));
    return { items: vrps?.unannounced ?? [], next: vrps?.next_cursor };
  },
  "allocation.blocks": (view: View): Shown => {
    const { allocation } = prefixRecord(inside, new AnswerNotes(generation, now, view));
    return { items: allocation.blocks, next: allocation.next_cursor };
  },
};

test.each([
  ["prefixes", [3, 3, 1]],
  ["allocations", [3, 3, 1]],
  ["neighbours", [3, 3, 1]],
  ["more_specifics", [3, 3, 3]],
  ["vrps.unannounced", [3, 3, 1]],
  ["allocation.blocks", [3, 3, 1]],
] as const)("%s is read to its end by its cursors, each item once", (list, sizes) => {
  const pages: (readonly unknown[])[] = [];
  for (let page: View["page"] = null; ; ) {
    const { items, next }: Shown = readers[list]({ ...wholeRecord, page });
    pages.push(items);
    if (next === null || next === undefined) break;
    const place: ReturnType<typeof decodeCursor> =
      list in { prefixes: 1, allocations: 1, neighbours: 1 } ? decodeCursor("asn", asn, next) : decodeCursor("prefix", inside, next);
    expect(place?.page.list).toBe(list);
    page = place?.page ?? null;
  }
  expect(pages.map((items) => items.length)).toEqual(sizes);
  const items = pages.flat().map((item) => JSON.stringify(item));
  expect(new Set(items).size).toBe(items.length);
});

describe("warnings of lists", () => {
  const details = (fields: readonly string[] | null) => {
    const notes = new AnswerNotes(generation, now, { ...wholeRecord, fields });
    prefixRecord(inside, notes);
    return notes.warnings.map(({ code, detail }) => [code, detail]);
  };

  test("are one for each list that has more items", () => {
    expect(details(null)).toEqual([
      ["truncated", "vrps.unannounced shows 3, and there are more"],
      ["truncated", "more_specifics shows 3 of 9"],
      ["truncated", "allocation.blocks shows 3 of 7"],
    ]);
  });

  test("are only for lists that the answer shows", () => {
    expect(details(["allocation"])).toEqual([["truncated", "allocation.blocks shows 3 of 7"]]);
    expect(details(["prefix", "origins"])).toEqual([]);
  });
});

describe("VRPs that cover a prefix without end", () => {
  const cover = (count: number, withSet = false) =>
    madeGeneration({
      ...world,
      routes: madeRoutes([route("20.0.0.0/24", [7, 9], ...(withSet ? [[[8, 9], 5] as const] : []))]),
      vrps: madeVrps([
        ...Array.from({ length: count - 1 }, (_, index) => ({ prefix: "20.0.0.0/24", asn: 1_000 + index })),
        { prefix: "20.0.0.0/24", asn: 7 },
      ]),
    });
  const [all, more] = [ask(cover(1_000)), ask(cover(1_500, true))];
  const truncated = ({ meta }: { readonly meta: Meta }) =>
    meta.warnings.flatMap(({ code, detail }) => (code === "truncated" ? [detail] : []));
  const lengths = ({ vrps }: OriginValidation) => [vrps.matched.length, vrps.unmatched_as.length, vrps.unmatched_length.length];

  test("are all shown up to 1,000", () => {
    const { vrps, origins, meta } = all.prefix("20.0.0.0/24");
    expect(vrps?.covering).toHaveLength(1_000);
    expect(origins.map(({ rpki }) => lengths(rpki))).toEqual([[1, 999, 0]]);
    expect(truncated({ meta })).toEqual(["vrps.unannounced shows 100, and there are more"]);
  });

  test("are cut beyond, those first that match, and each list says so", () => {
    const record = more.prefix("20.0.0.0/24");
    expect(record.rpki).toMatchObject({ state: "valid", covering_vrps: 1_500 });
    expect(record.vrps?.covering).toHaveLength(1_000);
    // As many as one origin alone would have.
    expect(record.origins.map(({ rpki }) => lengths(rpki))).toEqual([[1, 499, 0]]);
    expect(record.as_set_origins.map(({ rpki }) => lengths(rpki))).toEqual([[0, 500, 0]]);
    expect(truncated(record)).toEqual([
      "origins shows 500 of the 1500 VRPs that cover the prefix",
      "as_set_origins shows 500 of the 1500 VRPs that cover the prefix",
      "vrps.covering shows 1000 of the 1500 VRPs that cover the prefix",
      "vrps.unannounced shows 100, and there are more",
    ]);
  });

  test("are cut in every record that has them", () => {
    expect(truncated(more.routing("20.0.0.1"))).toHaveLength(2);
    expect(truncated(more.ip("20.0.0.1"))).toEqual(["routing.as_set_origins shows 500 of the 1500 VRPs that cover the prefix"]);
    const { rpki, meta } = more.validity(5, "20.0.0.0/24");
    expect([rpki.state, lengths(rpki)]).toEqual(["invalid", [0, 1_000, 0]]);
    expect(truncated({ meta })).toEqual(["rpki shows 1000 of the 1500 VRPs that cover the prefix"]);
  });
});

describe("origins of a prefix without end", () => {
  const origins = Array.from({ length: 1_500 }, (_, index): [number, number] => [1_000 + index, 9]);
  const sets = Array.from({ length: 1_100 }, (_, index): [number[], number] => [[5, 10_000 + index], 1]);
  const asked = ask(
    madeGeneration({
      ...world,
      routes: madeRoutes([route("20.0.0.0/16", [7, 9]), route("20.0.0.0/24", ...origins, ...sets)]),
      vrps: madeVrps(Array.from({ length: 100 }, (_, index) => ({ prefix: "20.0.0.0/24", asn: 1_000 + index }))),
    }),
  );
  const truncated = ({ meta }: { readonly meta: Meta }) =>
    meta.warnings.flatMap(({ code, detail }) => (code === "truncated" && !detail.startsWith("vrps") ? [detail] : []));

  test("are cut at 100 and counted in full, and so are AS_SETs; their verdicts together have about 1,000 VRPs", () => {
    for (const record of [asked.routing("20.0.0.1"), asked.prefix("20.0.0.0/24")]) {
      expect([record.origins.length, record.as_set_origins.length]).toEqual([100, 100]);
      expect(record.moas).toEqual({ is_moas: true, origin_count: 1_500 });
      expect(record.rpki.by_state).toMatchObject({ valid: { origins: 100 }, invalid: { origins: 2_500 } });
      const vrps = [...record.origins, ...record.as_set_origins].reduce(
        (sum, { rpki }) => sum + rpki.vrps.matched.length + rpki.vrps.unmatched_as.length,
        0,
      );
      expect(vrps).toBe(1_000);
      expect(truncated(record)).toEqual([
        "origins shows 100 of 1500 origins of the prefix",
        "as_set_origins shows 100 of 1100 origins of the prefix",
        "origins shows 5 of the 100 VRPs that cover the prefix",
        "as_set_origins shows 5 of the 100 VRPs that cover the prefix",
      ]);
    }
  });

  test("are cut in the record of an address", () => {
    const { routing, links, meta } = asked.ip("20.0.0.1");
    expect([routing.origins.length, routing.as_set_origins.length, links.asn.length]).toEqual([100, 100, 100]);
    expect(routing.moas.origin_count).toBe(1_500);
    expect(truncated({ meta })).toEqual([
      "routing.origins shows 100 of 1500 origins of the prefix",
      "routing.as_set_origins shows 100 of 1100 origins of the prefix",
      "routing.as_set_origins shows 5 of the 100 VRPs that cover the prefix",
    ]);
  });

  test("are cut at 100 where the prefix is one of a list", () => {
    const [inside] = asked.prefix("20.0.0.0/16").more_specifics.items;
    expect([inside?.origins.length, inside?.as_set_origins.length]).toEqual([100, 100]);
  });
});

test("a record without meta is the same without it", () => {
  const shown = (view: View) => {
    const notes = new AnswerNotes(generation, now, view);
    return JSON.parse(Buffer.from(shownAnswer(notes, prefixRecord(inside, notes), view, "id").body).toString());
  };
  const { meta, ...record } = shown(wholeRecord);
  expect(meta.request_id).toBe("id");
  expect(shown({ ...wholeRecord, meta: false })).toEqual(record);
  expect(shown({ ...wholeRecord, fields: ["prefix"], meta: false })).toEqual({ prefix: "20.0.0.0/16" });
});

describe("an AS_SET origin", () => {
  const items = ask(generation).prefix("20.0.16.0/23").more_specifics.items;

  test("stands beside the origins that are one AS", () => {
    expect(items).toMatchObject([
      { prefix: "20.0.16.0/24", origins: [], as_set_origins: [[300, 301]] },
      { prefix: "20.0.17.0/24", origins: [7], as_set_origins: [[8, 9]] },
    ]);
  });

  test("has a column in CSV", () => {
    const columns = ["prefix", "origins", "as_set_origins"];
    expect(listText(items, "csv", { list: "more_specifics", columns })).toBe(
      'prefix,origins,as_set_origins\r\n20.0.16.0/24,,"{300,301}"\r\n20.0.17.0/24,7,"{8,9}"\r\n',
    );
  });

  test("is told of a longer prefix that too few peers see", () => {
    const few = madeGeneration({ ...world, routes: madeRoutes([route("20.0.0.0/8", [7, 9]), route("20.1.0.0/16", [[8, 9], 1])]) });
    expect(ask(few).ip("20.1.0.1").routing.low_visibility_matches).toMatchObject([{ origins: [], as_set_origins: [[8, 9]] }]);
  });
});

test("a holder lists at most 100 AS numbers, and counts all", () => {
  const asns = Array.from({ length: 150 }, (_, index) => ({ first: 1_000 + index, holder: "h1" }));
  const { holder } = ask(madeGeneration({ ...world, allocations: madeAllocations([], asns) })).asn(1_000);
  expect([holder?.asns.length, holder?.asn_count]).toEqual([100, 150]);
});
