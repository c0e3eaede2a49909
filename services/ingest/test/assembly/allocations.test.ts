/** Section `allocations` against plain lists: who wins where records overlap, and how a prefix lies to them. */

import { describe, expect, test } from "@jest/globals";
import {
  type Address,
  compareAddresses,
  firstAddress,
  formatAddress,
  lastAddress,
  makePrefix,
  nextAddress,
  type Prefix,
} from "@netfacts/address";
import { PrefixTrie, type PrefixTrieParts } from "@netfacts/prefix-trie";
import {
  type AllocationEntry,
  AllocationTable,
  allocationsFormat,
  decodeColumns,
  encodeColumns,
  loadSection,
  registries,
} from "@netfacts/snapshot";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { asnClaims, buildAllocations, type DelegatedFile } from "../../src/assembly/allocations.ts";
import type { DelegationRecord } from "../../src/readers/delegated.ts";

type AddressRecord = Extract<DelegationRecord, { kind: "ipv4" | "ipv6" }>;

interface Known {
  readonly record: DelegationRecord;
  readonly asOf: number;
}

/** The table as a pod has it: encoded, loaded, checked. */
function tableOf(files: readonly DelegatedFile[]): AllocationTable {
  const object = encodeColumns(allocationsFormat, buildAllocations(files).columns);
  const bytes = new Uint8Array(new SharedArrayBuffer(object.length));
  bytes.set(object);
  const loaded = loadSection("allocations", bytes);
  return new AllocationTable(decodeColumns(allocationsFormat, bytes), PrefixTrie.fromParts(loaded.trie as PrefixTrieParts));
}

/** Every record; of equal ones the newest. */
const known = (files: readonly DelegatedFile[]): Known[] => {
  const all = files.flatMap(({ records, asOf }) => records.map((record) => ({ record, asOf: asOf ?? 0 })));
  const textOf = ({ record }: Known) => JSON.stringify({ ...record, opaqueId: isHeld(record) ? record.opaqueId : null });
  return [...new Map(all.toSorted((a, b) => a.asOf - b.asOf).map((one) => [textOf(one), one])).values()];
};

const isHeld = ({ status }: DelegationRecord): boolean => status === "allocated" || status === "assigned";

function widthOf(record: DelegationRecord): bigint {
  if (record.kind === "asn") return BigInt(record.end - record.start);
  const value = ({ w0, w1, w2, w3 }: Address) => (BigInt(w0) << 96n) | (BigInt(w1) << 64n) | (BigInt(w2) << 32n) | BigInt(w3);
  return value(record.end) - value(record.start);
}

/** The rules of docs/design/semantics.md#registration in their order; what is smaller wins. A record that names its holder wins in the end. */
function rulesOf({ record, asOf }: Known): (number | bigint | string)[] {
  return [isHeld(record) ? 0 : 1, -asOf, widthOf(record), -(record.date ?? 0), record.registry, record.opaqueId === null ? 1 : 0];
}

function byRules(a: Known, b: Known): number {
  const [x, y] = [rulesOf(a), rulesOf(b)];
  for (let rule = 0; rule < x.length; rule++) {
    const [left, right] = [x[rule] as number, y[rule] as number];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

const dayOf = (date: number | null): string | null => (date === null ? null : String(date).replace(/^(....)(..)/, "$1-$2-"));
const published = (record: AddressRecord): string =>
  [record.registry, record.country, formatAddress(record.start), formatAddress(record.end), dayOf(record.date), record.status].join("|");
const told = (entry: AllocationEntry): string =>
  [entry.registry, entry.country, formatAddress(entry.start), formatAddress(entry.end), entry.date, entry.status].join("|");

const holdsAddress = ({ record }: Known, at: Address): boolean =>
  record.kind !== "asn" &&
  record.start.version === at.version &&
  compareAddresses(record.start, at) <= 0 &&
  compareAddresses(record.end, at) >= 0;

/** Records in the order of the rules, those together that no rule parts. */
function groupsOf(list: readonly Known[]): Known[][] {
  const groups: Known[][] = [];
  for (const one of [...list].sort(byRules)) {
    const last = groups.at(-1);
    if (last?.[0] !== undefined && byRules(last[0], one) === 0) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

const registry = fc.constantFrom("afrinic", "apnic", "arin", "lacnic", "ripencc", "iana");
const common = {
  registry,
  country: fc.constantFrom("NL", "EU", null),
  date: fc.constantFrom(20240101, 20250101, null),
  status: fc.constantFrom("allocated", "assigned", "reserved", "available"),
  opaqueId: fc.constantFrom("a", "b", null),
};
const from4 = (offset: number): Address => ({ version: 4, w0: 0xc000_0000 + offset, w1: 0, w2: 0, w3: 0 });
const from6 = (offset: number): Address => ({ version: 6, w0: 0x2001_0db8, w1: 0xffff_fff0 + offset, w2: 0, w3: 0 });

const ipv4Record = fc
  .record({ ...common, from: fc.nat(600), size: fc.oneof(fc.nat(300), fc.constantFrom(0, 63, 127, 255)) })
  .map(({ from, size, ...rest }) => ({ ...rest, kind: "ipv4", start: from4(from), end: from4(from + size) }) as DelegationRecord);
const ipv6Record = fc.record({ ...common, from: fc.nat(15), length: fc.integer({ min: 58, max: 66 }) }).map(({ from, length, ...rest }) => {
  const { w0, w1 } = from6(from);
  const block = makePrefix(6, w0, w1, 0, 0, length);
  return { ...rest, kind: "ipv6", start: firstAddress(block), end: lastAddress(block) } as DelegationRecord;
});
const asnRecord = fc
  .record({ ...common, start: fc.nat(40), size: fc.nat(12) })
  .map(({ start, size, ...rest }) => ({ ...rest, kind: "asn", start, end: start + size }) as DelegationRecord);
const asOf = fc.constantFrom(1_700_000_000, 1_800_000_000, null);
const files = fc
  .record({
    made: fc.array(fc.record({ records: fc.array(fc.oneof(ipv4Record, ipv6Record, asnRecord), { maxLength: 12 }), asOf }), {
      maxLength: 4,
    }),
    copied: fc.nat(6),
    asOf,
  })
  .map(({ made, copied, asOf }) => [...made, { records: made.flatMap(({ records }) => records.slice(0, copied)), asOf }]);

describe("against a plain list of records", () => {
  test("every address has the records that hold it, the winner first", () => {
    fc.assert(
      fc.property(files, (made) => {
        const table = tableOf(made);
        const all = known(made);
        const text = ({ record }: Known) => published(record as AddressRecord);
        const edges = all.flatMap(({ record }) =>
          record.kind === "asn" ? [] : [record.start, record.end, nextAddress(record.end) ?? record.end],
        );
        for (const at of [...edges, from4(0), from4(333), from6(3)]) {
          const found = table.recordsAt(at).map((record) => told(table.entry(record)));
          const expected = all.filter((one) => holdsAddress(one, at));
          // What no rule parts stands in any order, what one does in its.
          let place = 0;
          for (const equals of groupsOf(expected)) {
            expect(found.slice(place, place + equals.length).toSorted()).toEqual(equals.map(text).toSorted());
            place += equals.length;
          }
          expect(found).toHaveLength(place);
        }
      }),
      { seed: seed(2050), numRuns: runs(800) },
    );
  });

  test("every prefix relates to the records as their bounds say", () => {
    const asked = fc.oneof(
      fc
        .record({ from: fc.nat(900), length: fc.integer({ min: 20, max: 32 }) })
        .map(({ from, length }) => makePrefix(4, from4(from).w0, 0, 0, 0, length)),
      fc
        .record({ from: fc.nat(15), length: fc.integer({ min: 56, max: 68 }) })
        .map(({ from, length }) => makePrefix(6, from6(from).w0, from6(from).w1, 0, 0, length)),
    );
    fc.assert(
      fc.property(files, fc.array(asked, { minLength: 1, maxLength: 20 }), (made, prefixes) => {
        const table = tableOf(made);
        const all = known(made).filter(({ record }) => record.kind !== "asn");
        for (const prefix of prefixes) {
          const { relation, records } = table.relation(prefix);
          const expected = slowRelation(all, prefix);
          const entries = records.slice(0, records.length).map((record) => table.entry(record));
          expect({ relation, records: entries.map(told).toSorted() }).toEqual(expected);
          expect(Array.from(entries, (_, place) => records.slice(place, place + 1).map((record) => told(table.entry(record))))).toEqual(
            entries.map((entry) => [told(entry)]),
          );
          if (relation === "equal" || relation === "within") continue;
          const holdsAll = entries.map(({ start, end }) =>
            Number(compareAddresses(start, firstAddress(prefix)) <= 0 && compareAddresses(end, lastAddress(prefix)) >= 0),
          );
          expect(holdsAll).toEqual(holdsAll.toSorted());
          const starts = entries.slice(0, holdsAll.filter((holds) => holds === 0).length).map(({ start }) => start);
          expect(starts).toEqual(starts.toSorted(compareAddresses));
        }
      }),
      { seed: seed(4632), numRuns: runs(500) },
    );
  });

  test("every AS number has the winning record", () => {
    fc.assert(
      fc.property(files, (made) => {
        const table = tableOf(made);
        const all = known(made).filter(({ record }) => record.kind === "asn");
        for (let asn = 0; asn <= 55; asn++) {
          const claims = all.filter(({ record }) => record.kind === "asn" && record.start <= asn && record.end >= asn).sort(byRules);
          const best = claims
            .filter((one) => byRules(one, claims[0] as Known) === 0)
            .map(({ record }) => [record.registry, record.country, dayOf(record.date), record.status].join("|"));
          const entry = table.asn(asn);
          if (entry === null) expect(claims).toEqual([]);
          else expect(best).toContain([entry.registry, entry.country, entry.date, entry.status].join("|"));
        }
      }),
      { seed: seed(5398), numRuns: runs(800) },
    );
  });

  test("a holder joins the held records of one registry's opaque id in one file, and no other", () => {
    fc.assert(
      fc.property(files, (made) => {
        const table = tableOf(made);
        const all = Array.from({ length: buildAllocations(made).counts.holders }, (_, holder) => table.holder(holder));
        made.forEach(({ records }) => {
          for (const [id, registry] of ["a", "b"].flatMap((each) => registries.map((name) => [each, name] as const))) {
            const own = records.filter((record) => record.opaqueId === id && record.registry === registry && isHeld(record));
            const numbers = own.flatMap((record) => (record.kind === "asn" ? [record] : []));
            const asns = Array.from({ length: 60 }, (_, asn) => asn).filter((asn) =>
              numbers.some(({ start, end }) => start <= asn && asn <= end),
            );
            const blocks = [...new Set(own.flatMap((record) => (record.kind === "asn" ? [] : [published(record)])))].toSorted();
            if (blocks.length === 0) continue;
            // One of the holders of this id is this file's.
            const holders = all
              .filter((holder) => holder.id === id)
              .map((holder) => ({
                asns: Array.from(holder.asns),
                blocks: Array.from(holder.records, (record) => told(table.entry(record))).toSorted(),
              }));
            expect(holders).toContainEqual({ asns, blocks });
          }
        });
      }),
      { seed: seed(84), numRuns: runs(500) },
    );
  });
});

test("a holder has each AS number once, also if its records overlap", () => {
  const held = { registry: "ripencc", country: "NL", date: 20240101, status: "assigned", opaqueId: "a" } as const;
  const records: DelegationRecord[] = [
    { ...held, kind: "ipv4", start: from4(0), end: from4(255) },
    { ...held, kind: "asn", start: 10, end: 14 },
    { ...held, kind: "asn", start: 12, end: 12 },
    { ...held, kind: "asn", start: 13, end: 16 },
  ];
  const table = tableOf([{ records, asOf: 1_800_000_000 }]);
  const holder = table.entry(table.recordsAt(from4(0))[0] as number).holder as number;
  expect(Array.from(table.holder(holder).asns)).toEqual([10, 11, 12, 13, 14, 15, 16]);
});

test("a block that two files have alike is one record, of the newer file, and both holders have it", () => {
  const held = { registry: "ripencc", country: "NL", date: 20240101, status: "assigned", opaqueId: "a" } as const;
  const block = { ...held, kind: "ipv4", start: from4(0), end: from4(255) } as const;
  const older: DelegationRecord[] = [block, block, { ...block, opaqueId: null }, { ...held, kind: "asn", start: 10, end: 10 }];
  const newer: DelegationRecord[] = [block, { ...held, kind: "asn", start: 11, end: 11 }];
  const made = [
    { records: older, asOf: 1_700_000_000 },
    { records: newer, asOf: 1_800_000_000 },
  ];
  const table = tableOf(made);
  const { records } = table.relation(makePrefix(4, from4(0).w0, 0, 0, 0, 23));
  const holders = records.slice(0, records.length).map((record) => table.entry(record).holder);
  expect(holders.map((holder) => holder && Array.from(table.holder(holder).asns))).toEqual([null, [11]]);
  expect([10, 11].map((asn) => Array.from(table.holder(table.asn(asn)?.holder as number).records))).toEqual([[1], [1]]);
  // What a section may lose is counted in records of the files.
  expect(buildAllocations(made).counts).toMatchObject({ ipv4: 4, ipv6: 0 });
});

test("holders of two files are neither the same nor others, also of one registry", () => {
  const held = { registry: "ripencc", country: "NL", date: 20240101, status: "assigned" } as const;
  const block = { ...held, kind: "ipv4", start: from4(0), end: from4(255) } as const;
  const number = { ...held, kind: "asn", start: 10, end: 10 } as const;
  const isSame = (blockId: string, asnId: string, isOneFile: boolean) => {
    const records = [
      { ...block, opaqueId: blockId },
      { ...number, opaqueId: asnId },
    ];
    const table = tableOf(isOneFile ? [{ records, asOf: 1 }] : records.map((record) => ({ records: [record], asOf: 1 })));
    return table.isSameHolder(table.entry(table.recordsAt(from4(0))[0] as number).holder as number, table.asn(10)?.holder as number);
  };
  expect([isSame("a", "a", true), isSame("a", "b", true)]).toEqual([true, false]);
  expect([isSame("a", "a", false), isSame("a", "b", false)]).toEqual([null, null]);
});

test("a record that nobody holds has no holder, whatever its id", () => {
  const pool = { registry: "iana", country: null, date: 20140311, opaqueId: "ietf" } as const;
  const records: DelegationRecord[] = [
    { ...pool, status: "reserved", kind: "ipv4", start: from4(0), end: from4(255) },
    { ...pool, status: "available", kind: "asn", start: 10, end: 14 },
  ];
  const table = tableOf([{ records, asOf: 1_800_000_000 }]);
  expect([table.entry(table.recordsAt(from4(0))[0] as number).holder, table.asn(12)?.holder]).toEqual([null, null]);
});

function slowRelation(all: readonly Known[], prefix: Prefix): { relation: string; records: string[] } {
  const [first, last] = [firstAddress(prefix), lastAddress(prefix)];
  const text = ({ record }: Known) => published(record as AddressRecord);
  const touching = all.filter(({ record: r }) => {
    const { start, end } = r as AddressRecord;
    return start.version === prefix.version && compareAddresses(start, last) <= 0 && compareAddresses(end, first) >= 0;
  });
  const bounds = ({ record }: Known) =>
    [compareAddresses((record as AddressRecord).start, first), compareAddresses((record as AddressRecord).end, last)] as const;
  const holdsAll = (one: Known) => bounds(one)[0] <= 0 && bounds(one)[1] >= 0;
  const around = touching.filter(holdsAll).sort(byRules);
  // Nothing changes between the edges of records.
  const edges = touching.flatMap(({ record }) => {
    const { start, end } = record as AddressRecord;
    return [start, nextAddress(end) ?? end];
  });
  const winners = [first, ...edges.filter((at) => compareAddresses(at, first) >= 0 && compareAddresses(at, last) <= 0)].map(
    (at) => touching.filter((one) => holdsAddress(one, at)).sort(byRules)[0],
  );
  if (around.length > 0 && new Set(winners).size === 1) {
    const equal = bounds(around[0] as Known).every((bound) => bound === 0);
    return { relation: equal ? "equal" : "within", records: around.map(text).toSorted() };
  }
  if (touching.length === 0) return { relation: "none", records: [] };
  const crosses = touching.some((one) => bounds(one)[0] < 0 || bounds(one)[1] > 0);
  return { relation: crosses ? "crosses" : "contains", records: touching.map(text).toSorted() };
}

describe("each rule of precedence", () => {
  const base = { registry: "ripencc", country: "NL", date: 20240101, status: "assigned", opaqueId: null } as const;
  const block = (over: Partial<AddressRecord>, from = 0, size = 255) =>
    ({ ...base, kind: "ipv4", start: from4(from), end: from4(from + size), ...over }) as DelegationRecord;
  const winner = (...made: DelegatedFile[]) => {
    const table = tableOf(made);
    const [first] = table.recordsAt(from4(10));
    return table.entry(first as number);
  };

  test("allocated or assigned before reserved or available, even in an older file", () => {
    expect(
      winner(
        { asOf: 2, records: [block({ status: "reserved" })] },
        { asOf: 1, records: [block({ status: "allocated", registry: "arin" })] },
      ),
    ).toMatchObject({ registry: "arin" });
  });

  test("then the newer file, even with the wider range", () => {
    expect(
      winner({ asOf: 1, records: [block({ registry: "arin" }, 0, 15)] }, { asOf: 2, records: [block({ registry: "apnic" })] }),
    ).toMatchObject({ registry: "apnic" });
  });

  test("then the narrower range, even with the older date", () => {
    expect(winner({ asOf: 1, records: [block({ registry: "arin", date: 19900101 }, 0, 15), block({ registry: "apnic" })] })).toMatchObject({
      registry: "arin",
    });
  });

  test("then the later date; none is the earliest", () => {
    expect(
      winner({
        asOf: 1,
        records: [block({ registry: "afrinic", date: null }), block({ registry: "ripencc", date: 20250101 }), block({ registry: "apnic" })],
      }),
    ).toMatchObject({ registry: "ripencc" });
  });

  test("then the registry's name", () => {
    expect(
      winner({ asOf: 1, records: [block({ registry: "lacnic" }), block({ registry: "arin" }), block({ registry: "ripencc" })] }),
    ).toMatchObject({ registry: "arin" });
  });

  test("of equal ones the lower range, then the source that is listed first, then the first record of a file", () => {
    const [one, other] = [block({ country: "DE", opaqueId: "a" }), block({ country: "FR", opaqueId: "b" })];
    expect(winner({ asOf: 1, records: [other] }, { asOf: 1, records: [one] })).toMatchObject({ country: "FR" });
    expect(winner({ asOf: 1, records: [one] }, { asOf: 1, records: [other] })).toMatchObject({ country: "DE" });
    expect(winner({ asOf: 1, records: [other, one] })).toMatchObject({ country: "FR" });
    expect(winner({ asOf: 1, records: [block({ country: "FR" }, 8)] }, { asOf: 1, records: [block({ country: "DE" })] })).toMatchObject({
      country: "DE",
    });
    const asn = (country: string, start: number): DelegationRecord => ({ ...base, kind: "asn", country, start, end: start + 9 });
    const claims = [
      ...asnClaims([
        { asOf: 1, records: [asn("FR", 5)] },
        { asOf: 1, records: [asn("DE", 1), asn("NL", 1)] },
      ]),
    ];
    expect(claims.find(({ asn }) => asn === 7)?.claims.map(({ record }) => record.country)).toEqual(["DE", "NL", "FR"]);
  });
});

test("a record that names its holder wins over one that says the same without, whatever the order of the files", () => {
  const base = { kind: "ipv4", registry: "ripencc", country: "NL", date: 20240101, status: "assigned" } as const;
  const file = (opaqueId: string | null): DelegatedFile => ({
    asOf: 1,
    records: [{ ...base, start: from4(0), end: from4(255), opaqueId }],
  });
  for (const made of [
    [file(null), file("a")],
    [file("a"), file(null)],
  ]) {
    const table = tableOf(made);
    const { holder } = table.entry(table.recordsAt(from4(10))[0] as number);
    expect(holder === null ? null : table.holder(holder).id).toBe("a");
  }
});

test("a range over all AS numbers costs no more than the records inside it", () => {
  const base = { kind: "asn", registry: "ripencc", country: "NL", date: null, opaqueId: null } as const;
  const inside = Array.from(
    { length: 60_000 },
    (_, at): DelegationRecord => ({ ...base, status: "assigned", start: at * 10, end: at * 10 + 4 }),
  );
  const { columns, asnConflicts } = buildAllocations([
    { asOf: 1, records: [{ ...base, status: "available", start: 0, end: 0xffff_ffff }, ...inside] },
  ]);
  expect(columns.as_first).toHaveLength(120_000);
  expect(columns.as_last.at(-1)).toBe(0xffff_ffff);
  expect(asnConflicts).toBe(60_000);
});

test("the same files give the same bytes", () => {
  fc.assert(
    fc.property(files, (made) => {
      const bytes = () => encodeColumns(allocationsFormat, buildAllocations(made).columns);
      expect(bytes().equals(bytes())).toBe(true);
    }),
    { seed: seed(1), numRuns: runs(50) },
  );
});
