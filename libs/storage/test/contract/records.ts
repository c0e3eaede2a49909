/** The part of the contract that keeps records for operators: overrides of AS profiles, what sources say of ASes, and the audit. */

import { describe, expect, test } from "@jest/globals";
import { generateKeyText } from "@netfacts/keys";
import { type ProfileRecord, statedSections } from "../../src/index.ts";
import type { StoreFactory } from "../contract.ts";

const profile: ProfileRecord = {
  asn: 3333,
  profile: { name: "RIPE NCC", "a.b": { $set: [1, null] } },
  source: "overrides.csv",
  updatedAt: 10,
};
const entry = {
  at: 10,
  actor: "key:7Q9M3W8K",
  action: "key.revoke" as const,
  target: "ZZZZZZZZ",
  address: "192.0.2.1",
  keyId: "7Q9M3W8K",
  details: null,
};

export function describeRecords(name: string, factory: StoreFactory): void {
  describe(`${name}: profiles`, () => {
    test("gives back a profile as it was put, seen through another handle, and the latest one", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      await one.profiles.put(profile);
      expect(await two.profiles.get(3333)).toEqual(profile);
      const later = { ...profile, profile: { name: "RIPE" }, source: "key:7Q9M3W8K", updatedAt: 20 };
      await two.profiles.put(later);
      expect(await one.profiles.get(3333)).toEqual(later);
      expect(await one.profiles.get(3334)).toBeNull();
    });

    test("lists by AS number, page by page, over all 32 bits", async () => {
      const { profiles } = await factory.open();
      for (const asn of [4_294_967_295, 0, 64_496, 3333]) await profiles.put({ ...profile, asn });
      expect((await profiles.list(3)).map(({ asn }) => asn)).toEqual([0, 3333, 64_496]);
      expect((await profiles.list(3, 64_496)).map(({ asn }) => asn)).toEqual([4_294_967_295]);
      expect(await profiles.list(0)).toEqual([]);
    });

    test("tells how many there are, and by its version that one was put, replaced or deleted", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      const versions: string[] = [];
      const seen = async (count: number) => {
        const state = await two.profiles.state();
        expect(state.count).toBe(count);
        expect(versions).not.toContain(state.version);
        versions.push(state.version);
        expect(await two.profiles.state()).toEqual(state);
      };
      await seen(0);
      await one.profiles.put(profile);
      await seen(1);
      await one.profiles.put({ ...profile, updatedAt: 1_763_715_602_000 });
      await seen(1);
      await one.profiles.put({ ...profile, asn: 1, updatedAt: 11 });
      await seen(2);
      await one.profiles.delete(1);
      await one.profiles.put({ ...profile, asn: 2, updatedAt: 12 });
      await seen(2);
    });

    test("tells changes apart also where there are so many that their times add up to more than a JavaScript number holds", async () => {
      const { profiles } = await factory.open();
      const sumOfMany = 9_000_000_000_000_000;
      await profiles.put({ ...profile, asn: 1, updatedAt: sumOfMany });
      const versions = new Set<string>();
      for (const back of [5, 4, 3, 2, 1]) {
        await profiles.put({ ...profile, asn: 2, updatedAt: sumOfMany - back });
        versions.add((await profiles.state()).version);
      }
      expect(versions.size).toBe(5);
    });

    test("deletes, and says whether there was one", async () => {
      const { profiles } = await factory.open();
      await profiles.put(profile);
      expect(await profiles.delete(3333)).toBe(true);
      expect(await profiles.delete(3333)).toBe(false);
      expect(await profiles.get(3333)).toBeNull();
    });
  });

  describe(`${name}: statements`, () => {
    const rows = [4_294_967_295, 0, 3333, 64_496].map((asn) => ({ asn, text: `[[0,"a.b","$${asn}"]]` }));
    const sorted = rows.toSorted((a, b) => a.asn - b.asn);

    test("lists the rows of one section by AS number, page by page, over all 32 bits, seen through another handle", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      for (const section of statedSections) expect(await one.statements.list(section, 10)).toEqual([]);
      await one.statements.write("as_names", rows);
      expect(await two.statements.list("as_names", 3)).toEqual(sorted.slice(0, 3));
      expect(await two.statements.list("as_names", 3, 64_496)).toEqual(sorted.slice(3));
      expect(await two.statements.list("as_names", 0)).toEqual([]);
      for (const section of ["allocations", "profiles"] as const) expect(await two.statements.list(section, 10)).toEqual([]);
    });

    test("replaces rows, removes those without a text, and writes 1,000 at a time", async () => {
      const { statements } = await factory.open();
      await statements.write("allocations", [{ asn: 4_294_967_295, text: "[]" }]);
      await statements.write("profiles", rows);
      await statements.write("profiles", []);
      await statements.write("profiles", [
        { asn: 0, text: "[]" },
        { asn: 3333, text: null },
        { asn: 3334, text: null },
      ]);
      expect(await statements.list("profiles", 10)).toEqual([{ asn: 0, text: "[]" }, ...sorted.slice(2)]);
      expect(await statements.list("allocations", 10)).toEqual([{ asn: 4_294_967_295, text: "[]" }]);
      const many = Array.from({ length: 1_000 }, (_, asn) => ({ asn, text: `[${asn}]` }));
      await statements.write("as_names", many);
      expect(await statements.list("as_names", 2_000)).toEqual(many);
    });

    test("lists and writes what lies at the edges of what is stored together", async () => {
      const { statements } = await factory.open();
      const asns = [0, 63, 64, 127, 128, 4_294_967_231, 4_294_967_232, 4_294_967_295];
      const held = asns.map((asn) => ({ asn, text: `[${asn}]` }));
      for (const row of held.toReversed()) await statements.write("allocations", [row]);
      await statements.write("as_names", held.slice(0, 1));
      for (const [at, asn] of asns.entries()) {
        for (const limit of [1, 2, 3, 10])
          expect(await statements.list("allocations", limit, asn)).toEqual(held.slice(at + 1, at + 1 + limit));
      }
      await statements.write(
        "allocations",
        [63, 128, 4_294_967_295].map((asn) => ({ asn, text: null })),
      );
      expect((await statements.list("allocations", 10)).map(({ asn }) => asn)).toEqual([0, 64, 127, 4_294_967_231, 4_294_967_232]);
      await statements.write(
        "allocations",
        asns.map((asn) => ({ asn, text: null })),
      );
      expect(await statements.list("allocations", 10)).toEqual([]);
      expect(await statements.list("as_names", 10)).toEqual(held.slice(0, 1));
    });

    test("tells the version that was set last, of each section", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      expect(await two.statements.version("profiles")).toBeNull();
      const version = { version: "1", asOf: { "a.b": "2026-11-24T00:00:00Z", $c: null } };
      await one.statements.setVersion("profiles", { version: "0", asOf: {} });
      await one.statements.setVersion("profiles", version);
      expect(await two.statements.version("profiles")).toEqual(version);
      expect(await two.statements.version("as_names")).toBeNull();
    });
  });

  describe(`${name}: audit`, () => {
    test("keeps every entry, the latest first, seen through another handle", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      const first = await one.audit.append({ ...entry, details: { forced: true, "a.b": [1] } });
      const second = await one.audit.append({ ...entry, at: 20, target: null, address: null, keyId: null });
      expect(first).toMatchObject({ ...entry, details: { forced: true, "a.b": [1] } });
      expect(await two.audit.list({ limit: 10 })).toEqual([second, first]);
    });

    test("pages without gaps through entries of one millisecond", async () => {
      const { audit } = await factory.open();
      const made = await Promise.all(Array.from({ length: 7 }, (_, i) => audit.append({ ...entry, at: 10 + (i % 2) })));
      const seen: string[] = [];
      for (let page = await audit.list({ limit: 3 }); page.length > 0; ) {
        seen.push(...page.map(({ id }) => id));
        const before = page.at(-1);
        page = before === undefined ? [] : await audit.list({ limit: 3, before });
      }
      expect(seen).toHaveLength(7);
      expect(new Set(seen)).toEqual(new Set(made.map(({ id }) => id)));
    });

    test("lists the time asked for: from its start on, before its end", async () => {
      const { audit } = await factory.open();
      for (const at of [10, 20, 30]) await audit.append({ ...entry, at });
      expect((await audit.list({ limit: 10, from: 10, to: 30 })).map(({ at }) => at)).toEqual([20, 10]);
    });

    test("never keeps a secret, wherever it was written", async () => {
      const { audit } = await factory.open();
      const { text, id } = generateKeyText("live");
      const typo = text.slice(0, -1);
      const kept = await audit.append({ ...entry, actor: `key ${text}`, target: text, details: { label: [`x${typo}`], [text]: 1 } });
      const stored = JSON.stringify([kept, await audit.list({ limit: 1 })]);
      for (let i = 17; i + 5 <= text.length - 1; i++) expect(stored).not.toContain(text.slice(i, i + 5));
      expect(kept.target).toBe(`nf_live_${id}_…${text.slice(-4)}`);
    });
  });
}
