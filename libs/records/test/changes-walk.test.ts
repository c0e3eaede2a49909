/** The way back through kept snapshots: whatever ends a page, all pages together are the changes of all pairs. */

import { describe, expect, test } from "@jest/globals";
import type { ChangeItem } from "@netfacts/contracts";
import type { Generation, Publication } from "@netfacts/snapshot";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { madeAllocations, madeNames, madeRoutes, madeVrps, route } from "../../snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { prefix } from "../../snapshot/test/support/text.ts";
import { type ChangeSubject, type ChangesPlace, changesOf, finish, isRefusal, type KeptSnapshots, walkChanges } from "../src/index.ts";

/** They differ in routes, RPKI states, registrations and names. */
const generations: readonly Generation[] = [1, 2, 3].map((version) =>
  madeGeneration({
    routes: madeRoutes([
      route("192.0.2.0/24", [version, 9], [[4, 5], version]),
      ...Array.from({ length: 4 }, (_, more) => route(`198.51.${100 + more * version}.0/24`, [7, 9])),
    ]),
    vrps: madeVrps([{ prefix: "198.51.0.0/16", asn: version === 2 ? 8 : 7, maxLength: 24 }]),
    allocations: madeAllocations(
      [{ start: "192.0.2.0", end: "192.0.2.255", country: ["NL", "DE", "FR"][version - 1] as string }],
      [{ first: 7, country: ["NL", "NL", "FR"][version - 1] as string }],
    ),
    names: madeNames({ 7: `NAME-${version % 2}` }),
  }),
);

const startMs = Date.parse("2026-11-01T00:00:00Z");
const atOf = (day: number) => new Date(startMs + day * 86_400_000).toISOString().replace(".000", "");
const subjects: readonly ChangeSubject[] = [{ asn: 7 }, { prefix: prefix("192.0.2.0/24") }, { asn: 99 }];

interface World extends KeptSnapshots {
  readonly list: Publication[];
  loads: number;
  nowMs: number;
}

/** @param order  of the generations, oldest first. `loadMs` passes for each that is loaded. */
function world(
  order: readonly number[],
  loadMs = 0,
  refuse: (load: number) => boolean = () => false,
  isDamaged: (id: string) => boolean = () => false,
): World {
  const list = order.map((index, day) => ({ id: (generations[index] as Generation).id, at: atOf(day) }));
  const of = (id: string) => generations.find((generation) => generation.id === id) as Generation;
  return {
    list,
    loads: 0,
    nowMs: 0,
    publications: async () => list,
    manifest: async (id) => of(id).manifest,
    async of(publication) {
      this.loads += 1;
      this.nowMs += loadMs;
      if (isDamaged(publication.id)) return { refusal: "unreadable" };
      return refuse(this.loads) ? { refusal: "loading" } : { generation: of(publication.id), publication };
    },
  };
}

async function page(kept: World, subject: ChangeSubject, limit: number, place: ChangesPlace | null) {
  const run = async <T>(steps: Generator<void, T>) => finish(steps);
  return walkChanges(kept, { subject, place, limit, turn: 1, msMax: 1_000 }, run, () => kept.nowMs);
}

async function allPages(kept: World, subject: ChangeSubject, limit: number, skipped: string[] = []): Promise<ChangeItem[]> {
  const items: ChangeItem[] = [];
  let place: ChangesPlace | null = null;
  for (let pages = 0; pages < 1_000; pages++) {
    const found = await page(kept, subject, limit, place);
    if (isRefusal(found)) throw new Error(found.refusal);
    expect(found.items.length).toBeLessThanOrEqual(limit);
    items.push(...found.items);
    skipped.push(...found.skipped.map(({ at }) => at));
    if (found.next === null) return items;
    expect(found.next).not.toEqual(place);
    place = found.next;
  }
  throw new Error("the pages have no end");
}

/** What the items must tell, in the words of `changesOf`. */
function expected({ list }: World, subject: ChangeSubject): unknown[] {
  const of = (at: number) => generations.find(({ id }) => id === list[at]?.id) as Generation;
  return list
    .slice(1)
    .flatMap((_, index) =>
      [index].map(() => ({
        changes: finish(changesOf(subject, of(index), of(index + 1))),
        before: list[index],
        after: list[index + 1],
      })),
    )
    .reverse()
    .flatMap(({ changes, before, after }) => changes.map((change) => [change, before, after]));
}

/** An item as `changesOf` has it. */
function told(item: ChangeItem): unknown {
  const { change, prefix, origin, as_set, from, to, registration_from, registration_to, before, after } = item;
  const registration = (value: ChangeItem["registration_from"]) => {
    if (value === null) return null;
    const { block, ...rest } = value;
    return block === null ? rest : { ...rest, block };
  };
  const route = { change, prefix, origin: as_set ?? origin };
  const what =
    change === "registration_changed"
      ? { change, from: registration(registration_from), to: registration(registration_to) }
      : change === "name_changed"
        ? { change, from, to }
        : change === "rpki_state_changed"
          ? { ...route, from, to }
          : route;
  return [what, ...[before, after].map(({ snapshot, published_at }) => ({ id: snapshot, at: published_at }))];
}

test("all pages together are the changes of every pair, newest first, whatever their size and whatever time they had", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(2), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(0, 200, 2_000),
      fc.constantFrom(...subjects),
      async (order, limit, loadMs, subject) => {
        const kept = world(order, loadMs);
        expect((await allPages(kept, subject, limit)).map(told)).toEqual(expected(kept, subject));
      },
    ),
    { numRuns: runs(200), seed: seed(1) },
  );
});

test("snapshots that were published to and fro within a second count as the last of them, and the pages end", async () => {
  const kept = world([2, 0, 1, 0, 1, 0, 1, 0, 2]);
  for (const between of kept.list.slice(1, -1)) kept.list.splice(kept.list.indexOf(between), 1, { ...between, at: atOf(1) });
  const alone = { ...kept, list: kept.list.filter((_, index) => [0, 7, 8].includes(index)) };
  expect((await allPages(kept, { asn: 7 }, 1)).map(told)).toEqual(expected(alone, { asn: 7 }));
});

test("a snapshot that is withdrawn after the list was read is not passed over as damaged: the pages are those of the list without it", async () => {
  for (const withdrawn of [0, 1, 2, 3, 4]) {
    const kept = world([0, 1, 2, 1, 0]);
    let list: readonly Publication[] = [...kept.list];
    const [gone] = kept.list.splice(withdrawn, 1);
    const { of } = kept;
    kept.publications = async () => list;
    kept.of = async (publication, turn, msMax) => {
      if (publication !== gone) return of.call(kept, publication, turn, msMax);
      list = kept.list;
      return { refusal: "gone" };
    };
    const skipped: string[] = [];
    expect((await allPages(kept, { asn: 7 }, 100, skipped)).map(told)).toEqual(expected(kept, { asn: 7 }));
    expect(skipped).toEqual([]);
  }
});

test("damaged snapshots are passed over: the pages are those of a list without them, and name each once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(2), { minLength: 2, maxLength: 8 }),
      fc.uniqueArray(fc.nat(2), { minLength: 1 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(0, 200, 2_000),
      fc.constantFrom(...subjects),
      async (order, damagedOnes, limit, loadMs, subject) => {
        const ids = damagedOnes.map((index) => generations[index]?.id);
        const isDamaged = (id: string) => ids.includes(id);
        const kept = world(order, loadMs, () => false, isDamaged);
        // Else what is the same as its neighbour would not be loaded, and its damage not be seen.
        kept.manifest = async () => null;
        const skipped: string[] = [];
        const items = await allPages(kept, subject, limit, skipped);
        const whole = { ...kept, list: kept.list.filter(({ id }) => !isDamaged(id)) };
        expect(items.map(told)).toEqual(expected(whole, subject));
        const damaged = kept.list.filter(({ id }) => isDamaged(id)).map(({ at }) => at);
        // The oldest is not looked at where nothing is left to compare it with.
        const seen = order.slice(1).every((index) => damagedOnes.includes(index)) ? damaged.slice(1) : damaged;
        expect(skipped).toEqual((damaged[0] === atOf(0) ? seen : damaged).toReversed());
      },
    ),
    { numRuns: runs(200), seed: seed(2) },
  );
});

describe("the work of one page", () => {
  const days = Array.from({ length: 30 }, (_, day) => day % 2);

  test("is bounded: a few snapshots, and none begun when much of the time is used up", async () => {
    const kept = world(days);
    expect(await page(kept, { asn: 99 }, 100, null)).toMatchObject({ items: [], next: { shown: 0 } });
    expect(kept.loads).toBe(4);
    const slow = world(days, 400);
    expect(await page(slow, { asn: 99 }, 100, null)).toMatchObject({ items: [], next: { at: Date.parse(atOf(27)) / 1_000 } });
    expect(slow.loads).toBe(2);
  });

  test("loads nothing where the sections are the same objects", async () => {
    const kept = world([1, ...Array.from({ length: 30 }, () => 0)]);
    const found = await page(kept, { asn: 7 }, 100, null);
    expect(found).toMatchObject({ next: null });
    expect(kept.loads).toBe(2);
  });

  test("of one kept snapshot is none, and of none there is no answer", async () => {
    expect(await page(world([0]), { asn: 7 }, 100, null)).toMatchObject({ items: [], next: null });
    expect(await page(world([]), { asn: 7 }, 100, null)).toEqual({ refusal: "empty" });
  });

  test("ends where a snapshot is not loaded in time, and is refused only where not one pair was compared", async () => {
    const kept = world([0, 1, 2], 0, (load) => load >= 3);
    const found = await page(kept, { asn: 7 }, 100, null);
    if (isRefusal(found)) throw new Error(found.refusal);
    expect(found.items.length).toBeGreaterThan(0);
    expect(found.next).toEqual({ snapshotId: kept.list[1]?.id, at: Date.parse(atOf(0)) / 1_000, shown: 0 });
    expect(await page(kept, { asn: 7 }, 100, found.next)).toEqual({ refusal: "loading" });
  });
});

describe("a place", () => {
  const place = async (kept: World, limit: number): Promise<ChangesPlace> => {
    const found = await page(kept, { asn: 7 }, limit, null);
    if (isRefusal(found) || found.next === null) throw new Error("there is no next page");
    return found.next;
  };

  test("whose snapshot is not kept any more is gone", async () => {
    const kept = world([0, 1, 2]);
    const next = await place(kept, 1);
    kept.list.pop();
    expect(await page(kept, { asn: 7 }, 1, next)).toEqual({ refusal: "gone" });
  });

  test("inside a pair whose older snapshot is not kept any more is gone; at its beginning it goes on with what is before", async () => {
    const kept = world([0, 1, 0, 2]);
    const next = await place(kept, 1);
    expect(next.shown).toBe(1);
    kept.list.splice(2, 1);
    expect(await page(kept, { asn: 7 }, 1, next)).toEqual({ refusal: "gone" });
    expect(await page(kept, { asn: 7 }, 1, { ...next, shown: 0 })).toMatchObject({ items: [{ before: { published_at: atOf(1) } }] });
  });
});
