/** `/search`: every result and its place, against a linear scan that reads each text with its own code; what texts name; hostile texts. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { operations, type SearchRecord, searchText } from "@netfacts/contracts";
import type { Generation } from "@netfacts/snapshot";
import { Value } from "typebox/value";
import { pick, type Random, seeded } from "../../../test/support/random.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { madeNames, madeProfiles } from "../../snapshot/test/support/made-sections.ts";
import { type MadeSnapshot, madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { AnswerNotes } from "../src/answer.ts";
import { finish } from "../src/index.ts";
import { searchSteps } from "../src/search-record.ts";

function search(generation: Generation, q: string, limit = 100, start = 0): Omit<SearchRecord, "meta"> {
  const page = start === 0 ? null : ({ list: "results", start } as const);
  const notes = new AnswerNotes(generation, Date.parse("2026-11-21T09:00:02Z"), { fields: null, format: "json", page, meta: true });
  const record = finish(searchSteps({ q, limit }, notes));
  expect([...Value.Errors(operations.search.record, { ...record, meta: notes.meta("r") })]).toEqual([]);
  return record;
}

test("warns of names that are not loaded, and so cannot be found", () => {
  const warned = (made: MadeSnapshot) => {
    const notes = new AnswerNotes(madeGeneration(made), Date.parse("2026-11-21T09:00:02Z"));
    finish(searchSteps({ q: "ripe", limit: 1 }, notes));
    return notes.warnings.map(({ code }) => code);
  };
  const names = madeNames({ 3333: "RIPE-NCC" });
  const profiles = madeProfiles({});
  expect(warned({ ...world, names, profiles })).toEqual([]);
  expect(warned({ ...world, names: undefined as never, profiles })).toEqual(["as_names_unavailable"]);
  expect(warned({ ...world, names: undefined as never, profiles: undefined as never })).toEqual([
    "as_names_unavailable",
    "profiles_unavailable",
  ]);
});

/** Type, match and link of each result. */
const shown = (generation: Generation, q: string): string[] =>
  search(generation, q).results.items.map(
    ({ type, match, title, link }) => `${type} ${match} ${type === "country" ? title : (link ?? "")}`,
  );

const realNames = gunzipSync(readFileSync(join(import.meta.dirname, "../../../samples/data/autnums-potaroo.20140524.txt.gz")))
  .toString("latin1")
  .split("\n")
  .map((line) => /^AS(\d+)\s+(.*\S)/.exec(line))
  .filter((found) => found !== null)
  .map(([, asn, name]) => [Number(asn), name as string] as const);

const hostile = [
  "\u202eelgoog\u202c GOOGLE",
  "Zürich Straße GmbH",
  "ZU\u0308RICH Net",
  "Øresund Łódź Ægir",
  "ﬁber Ｆｕｌｌｗｉｄｔｈ Ⅻ ½",
  "日本電信電話",
  "<script>alert(1)</script>",
  "soft\u00adhyphen zero\u200dwidth",
  "ΟΔΟΣ Ὀδός",
  "a".repeat(10_000),
  `${"many words ".repeat(1_000)}end`,
  "\ud800 lone",
  "",
  "---",
  "👩‍👩‍👧 family",
];

function worldOf(random: Random, count: number) {
  const names: Record<number, string> = {};
  const organisations: Record<number, { organisation: string | null }> = {};
  for (let at = 0; at < count; at++) {
    const [asn, name] = pick(random, realNames);
    names[asn] = random(40) === 0 ? pick(random, hostile) : name;
    if (random(3) === 0)
      organisations[asn] = { organisation: random(4) === 0 ? pick(random, hostile) || null : (name.split(" - ")[1] ?? name) };
  }
  return { names, organisations, generation: madeGeneration({ names: madeNames(names), profiles: madeProfiles(organisations) }) };
}

describe("against a linear scan", () => {
  /** By the description in the contract, over the whole text at once. */
  const words = new Map<string, string[]>();
  function wordsOf(text: string): string[] {
    const known = words.get(text) ?? readWords(text);
    words.set(text, known);
    return known;
  }

  function readWords(text: string): string[] {
    const plain = text
      .normalize("NFKD")
      .replace(/[\p{M}\p{Cf}]/gu, "")
      .toUpperCase()
      .toLowerCase()
      .replace(/ς/g, "σ")
      .replace(
        /[æœøđðłþħŧ]/g,
        (letter) => ({ æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", þ: "th", ħ: "h", ŧ: "t" })[letter] as string,
      );
    return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, 32).map((word) => word.slice(0, 64));
  }

  /** Optimal string alignment, by its table. */
  function distance(a: string, b: string): number {
    const table = Array.from({ length: a.length + 1 }, (_, i) =>
      Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
    );
    const at = (i: number, j: number): number => table[i]?.[j] ?? 99;
    for (let i = 1; i <= a.length; i++)
      for (let j = 1; j <= b.length; j++) {
        const cost = a[i - 1] === b[j - 1] ? 0 : 1;
        const swap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : 99;
        (table[i] as number[])[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + cost, swap);
      }
    return at(a.length, b.length);
  }

  function level(asked: string, word: string): number {
    if (asked === word) return 0;
    if (word.startsWith(asked)) return 1;
    if (asked.length < 4 || /\p{N}/u.test(asked) || Math.abs(asked.length - word.length) > 1) return 9;
    return distance(asked, word) === 1 ? 2 : 9;
  }

  /** `level`, not at the start, number of words; null: no match. `number`: also a word of the text, at its start. */
  function rank(asked: readonly string[], words: readonly string[], number: string | null): [number, number, number] | null {
    if (words.length === 0 && number === null) return null;
    const levels = asked.map((each) => {
      const digits = /^(?:asn?)?(0|[1-9]\d{0,9})$/.exec(each)?.[1];
      const ofNumber = number === null || digits === undefined ? 9 : digits === number ? 0 : number.startsWith(digits) ? 1 : 9;
      return { best: Math.min(ofNumber, ...words.map((word) => level(each, word))), isNumber: ofNumber < 9 };
    });
    const worst = Math.max(...levels.map(({ best }) => best));
    if (worst === 9) return null;
    const starts = levels[0]?.isNumber === true || (words[0] !== undefined && level(asked[0] as string, words[0]) < 9);
    return [worst, starts ? 0 : 1, words.length];
  }

  type Found = { readonly key: readonly number[]; readonly text: string };

  function scan({ names, organisations }: ReturnType<typeof worldOf>, q: string): string[] {
    const asked = [...new Set(wordsOf(q))].slice(0, 8);
    const found: Found[] = [];
    if (asked.length === 0) return [];
    for (const [asn, name] of Object.entries(names)) {
      const key = rank(asked, wordsOf(name), asn);
      if (key !== null) found.push({ key: [...key, 1, Number(asn)], text: `/api/v1/asn/AS${asn} asn` });
    }
    const seen = new Set<string>();
    for (const [asn, { organisation }] of Object.entries(organisations)) {
      const text = organisation?.toWellFormed() ?? null;
      if (text === null || seen.has(text)) continue;
      seen.add(text);
      const key = rank(asked, wordsOf(text), null);
      if (key !== null) found.push({ key: [...key, 2, Number(asn)], text: `/api/v1/asn/AS${asn} organisation` });
    }
    found.sort((a, b) => {
      const at = a.key.findIndex((each, place) => each !== b.key[place]);
      return (a.key[at] ?? 0) - (b.key[at] ?? 0);
    });
    return found.map(({ text, key }) => `${["exact", "prefix", "edit"][key[0] as number]} ${text}`);
  }

  function misspelt(random: Random, word: string): string {
    const at = random(word.length);
    const letter = pick(random, [..."abcdeinorst1"]);
    switch (random(4)) {
      case 0:
        return word.slice(0, at) + word.slice(at + 1);
      case 1:
        return word.slice(0, at) + letter + word.slice(at);
      case 2:
        return word.slice(0, at) + letter + word.slice(at + 1);
      default:
        return word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2);
    }
  }

  function question(random: Random, { names, organisations }: ReturnType<typeof worldOf>): string {
    const text = random(4) === 0 ? (pick(random, Object.values(organisations)).organisation ?? "x") : pick(random, Object.values(names));
    const words = text
      .slice(0, 300)
      .split(/[\s,.-]+/)
      .filter((word) => word !== "");
    const word = (): string => {
      const whole = pick(random, words) ?? "net";
      const forms = [whole, whole.slice(0, 1 + random(whole.length)), misspelt(random, whole), whole.toUpperCase()];
      return pick(random, forms) || "a";
    };
    if (random(12) === 0) return `x${pick(random, Object.keys(names)).slice(0, 1 + random(5))}`.slice(random(2));
    if (random(20) === 0) return pick(random, ["a", "aaaa".repeat(20), "a b c d e f g h i j", "s", "net inc as", "\u202e", "%", "１２"]);
    return Array.from({ length: 1 + random(3) }, word).join(pick(random, [" ", "-", ", ", "\u00a0"]));
  }

  test("any question has the same results in the same order", () => {
    const start = seed(15);
    const random = seeded(start);
    const count = runs(10_000, 100);
    let made = worldOf(random, 1_500);
    let answered = 0;
    for (let run = 0; run < count; run++) {
      if (run % 500 === 499) made = worldOf(random, 1_500);
      const q = searchText(Array.from(question(random, made)).slice(0, 100).join(""));
      if (q === null) continue;
      // "ASN 33" is a number as well.
      const meant = q.replace(/^asn?[\s:#-]+(?=\d+$)/i, "AS");
      const all = pages(made.generation, q, 1_000);
      const compared = all.filter(({ type, match }) => type !== "country" && match !== "derived");
      const named = compared.filter(
        ({ type, match, highlights }) => type === "asn" && match === "exact" && /^(asn?)?\d+$/i.test(meant) && highlights.length > 0,
      );
      const results = compared.map(({ match, link, type }) => `${match} ${link} ${type}`);
      // An AS number is the first result, whatever its name, and also where it has none.
      const expected = scan(made, meant);
      const isNumber = /^\s*(asn?)?\d+\s*$/i.test(meant.normalize("NFKC"));
      if (isNumber && named.length > 0)
        expect(results.toSorted().filter((each) => !each.startsWith("exact /api"))).toEqual(
          expected.toSorted().filter((each) => !each.startsWith("exact /api")),
        );
      else if (!/^[\d.:/]|\.[a-z]{2,}$/i.test(q)) expect({ q, start, run, results }).toEqual({ q, start, run, results: expected });
      answered += results.length > 0 ? 1 : 0;
      for (const { title, highlights } of all) {
        let before = -1;
        for (const { start: from, end } of highlights) {
          expect(from > before && from < end && end <= title.length).toBe(true);
          before = end;
        }
      }
    }
    expect(answered).toBeGreaterThan(count / 3);
  });

  /** Every page, put together. */
  function pages(generation: Generation, q: string, limit: number): SearchRecord["results"]["items"] {
    const items: SearchRecord["results"]["items"] = [];
    for (;;) {
      const { results } = search(generation, q, limit, items.length);
      items.push(...results.items);
      if (results.next_cursor === null) {
        expect(items).toHaveLength(results.total);
        return items;
      }
    }
  }

  test("pages of any size are parts of the whole list", () => {
    const made = worldOf(seeded(4), 800);
    for (const q of ["a", "net", "as", "1", "193.0.6.139"]) {
      const whole = pages(made.generation, q, 1_000);
      for (const limit of [1, 7, 100]) if (whole.length < 400 || limit > 1) expect(pages(made.generation, q, limit)).toEqual(whole);
    }
  });
});

const named = madeGeneration({
  ...world,
  names: madeNames({ 3333: "RIPE-NCC-AS", 33330: "Zürich Straße", 100: "HUNDRED", 2: "AS-TWO 3333", 1659: "TANET-ASN1" }),
  profiles: madeProfiles({
    3333: { organisation: "RIPE NCC" },
    100: { organisation: "RIPE NCC" },
    7: { organisation: "RIPE NCC" },
    9: { organisation: "RIPE NCC" },
  }),
});

describe("what a text names", () => {
  test.each<[string, string[]]>([
    ["AS3333", ["asn exact /api/v1/asn/AS3333", "asn prefix /api/v1/asn/AS33330"]],
    ["ASN3333", ["asn exact /api/v1/asn/AS3333", "asn prefix /api/v1/asn/AS33330"]],
    ["asn1", ["asn exact /api/v1/asn/AS1", "asn exact /api/v1/asn/AS1659", "asn prefix /api/v1/asn/AS100"]],
    ["3333", ["asn exact /api/v1/asn/AS3333", "asn exact /api/v1/asn/AS2", "asn prefix /api/v1/asn/AS33330"]],
    ["asn 64500", ["asn exact /api/v1/asn/AS64500"]],
    ["1.10", ["asn exact /api/v1/asn/AS65546", "prefix derived /api/v1/prefix/1.10.0.0/16"]],
    [
      "193.0.6.139",
      [
        "address exact /api/v1/ip/193.0.6.139",
        "prefix derived /api/v1/prefix/193.0.0.0/21",
        "asn derived /api/v1/asn/AS3333",
        "reverse_dns derived /api/v1/reverse-dns/193.0.6.139",
      ],
    ],
    ["193.0.0.0/21", ["prefix exact /api/v1/prefix/193.0.0.0/21", "asn derived /api/v1/asn/AS3333"]],
    ["193.0.6.139/21", ["prefix derived /api/v1/prefix/193.0.0.0/21", "asn derived /api/v1/asn/AS3333"]],
    ["193.0.", ["prefix derived /api/v1/prefix/193.0.0.0/16"]],
    ["2a00:1:", ["prefix derived /api/v1/prefix/2a00:1::/32", "asn derived /api/v1/asn/AS3333"]],
    ["127.0.0.1", ["address exact /api/v1/ip/127.0.0.1", "reverse_dns derived /api/v1/reverse-dns/127.0.0.1"]],
    ["NL", ["country exact Netherlands (NL)"]],
    ["netherl", ["country prefix Netherlands (NL)"]],
    ["germoany", ["country edit Germany (DE)"]],
    ["UK", ["country exact United Kingdom (GB)", "country prefix Ukraine (UA)"]],
    ["usa", ["country exact United States of America (US)"]],
    ["turkey", ["country exact Türkiye (TR)"]],
    ["www.hundred.co.uk", ["asn exact /api/v1/asn/AS100"]],
    ["https://user@www.hundred.net:8080/x?y", ["asn exact /api/v1/asn/AS100"]],
    ["“https://www.hundred.net”", ["asn exact /api/v1/asn/AS100"]],
    ["nobody.example", []],
    ["as 333", ["asn exact /api/v1/asn/AS333", "asn prefix /api/v1/asn/AS33330", "asn prefix /api/v1/asn/AS3333"]],
    ["nothing at all", []],
    ["!!!", []],
  ])("%s", (q, results) => {
    expect(shown(named, q)).toEqual(results);
  });

  test.each([
    ["139.6.0.193.in-addr.arpa", "193.0.6.139"],
    ["host-193-0-6-139.example.net", "193.0.6.139"],
    ["193.0.6.139.static.example.net.", "193.0.6.139"],
    ["1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.a.2.ip6.arpa", "2a00:1::1"],
  ])("%s offers what can be asked about the address in it", (q, ip) => {
    const links = search(named, q).results.items.map(({ link }) => link);
    expect(links).toEqual(expect.arrayContaining([`/api/v1/ip/${ip}`, `/api/v1/reverse-dns/${ip}`, "/api/v1/asn/AS3333"]));
  });

  test.each([
    "999-1-1-1.example.net",
    "1.2.3.in-addr.arpa",
    "host-1-2-3.example.net",
    "300.400.",
    "1:2:3:4:5:6:7:8:9",
    "193.0.6.999:443",
    "[193.0.6]:80",
    "193.0.6.0%2F24",
  ])("%s has no address in it", (q) => {
    expect(search(named, q).results.items.filter(({ type }) => type !== "country")).toEqual([]);
  });

  test.each([
    ["193.0.6.139:443", "/api/v1/ip/193.0.6.139"],
    ["193.0.6.139.", "/api/v1/ip/193.0.6.139"],
    ['"193.0.6.139",', "/api/v1/ip/193.0.6.139"],
    ["(193.0.6.139)", "/api/v1/ip/193.0.6.139"],
    ["“193.0.6.139”", "/api/v1/ip/193.0.6.139"],
    ["„193.0.6.139“,", "/api/v1/ip/193.0.6.139"],
    ["« 193.0.6.139:443 »", "/api/v1/ip/193.0.6.139"],
    ["‘2a00:1::1’.", "/api/v1/ip/2a00:1::1"],
    ["`193.0.0.0/21`", "/api/v1/prefix/193.0.0.0/21"],
    ["<https://193.0.6.139/x>", "/api/v1/ip/193.0.6.139"],
    ['"http://[2a00:1::1]:8080/",', "/api/v1/ip/2a00:1::1"],
    ["(https://193.0.6.139)", "/api/v1/ip/193.0.6.139"],
    ["193.0.0.0/21;", "/api/v1/prefix/193.0.0.0/21"],
    ["[2a00:1::1]", "/api/v1/ip/2a00:1::1"],
    ["[2a00:1::1]:443", "/api/v1/ip/2a00:1::1"],
    ["[fe80::1%eth0]:22", "/api/v1/ip/fe80::1"],
    ["fe80::1%eth0", "/api/v1/ip/fe80::1"],
    ["<2a00:1::1>.", "/api/v1/ip/2a00:1::1"],
    ["2a00:1::/32,", "/api/v1/prefix/2a00:1::/32"],
    ["::ffff:193.0.6.139,", "/api/v1/ip/::ffff:193.0.6.139"],
  ])("%s is the address or prefix in it", (q, link) => {
    expect(search(named, q).results.items[0]).toMatchObject({ match: "exact", link });
  });

  test("one letter does not find a country by the letters of its abbreviation", () => {
    const [first] = search(named, "a").results.items.filter(({ type }) => type === "country");
    expect(first?.title).toBe("Andorra (AD)");
  });

  test("an organisation is one result with its ASes, and leads to the first", () => {
    const [first] = search(named, "ripe ncc").results.items.filter(({ type }) => type === "organisation");
    expect(first).toMatchObject({ title: "RIPE NCC", subtitle: "AS7, AS9, AS100 and 1 more", link: "/api/v1/asn/AS7" });
  });

  test("an address tells its route, or what it is reserved for", () => {
    const subtitle = (q: string) => search(named, q).results.items[0]?.subtitle;
    expect(subtitle("193.0.6.139")).toBe("in 193.0.0.0/21, announced by AS3333");
    expect(subtitle("12.0.0.1")).toBe("in 12.0.0.0/8, announced with an AS_SET as its origin");
    expect(subtitle("13.0.0.1")).toBe("in 13.0.0.0/8, announced by AS400");
    expect(subtitle("17.0.0.1")).toBe("in 17.0.0.0/8, announced with an unknown origin");
    expect(subtitle("127.0.0.1")).toBe("Loopback");
    expect(subtitle("9.9.9.9")).toBeNull();
  });

  test("a prefix tells who announces it, also when that is no single AS", () => {
    const subtitle = (q: string) => search(named, q).results.items[0]?.subtitle;
    expect(subtitle("193.0.0.0/21")).toBe("announced by AS3333");
    expect(subtitle("12.0.0.0/8")).toBe("announced with an AS_SET as its origin");
    expect(subtitle("17.0.0.0/8")).toBe("announced with an unknown origin");
    expect(subtitle("12.0.0.0/9")).toBeNull();
  });
});

test("highlights are ranges of UTF-16 units in the title: words, beginnings and misspelt words, with their accents", () => {
  const parts = (q: string, at = 0) => {
    const { title, highlights } = search(named, q).results.items[at] ?? { title: "", highlights: [] };
    return highlights.map(({ start, end }) => title.slice(start, end));
  };
  expect(parts("zur")).toEqual(["Zür"]);
  expect(parts("STRASSE")).toEqual(["Straße"]);
  expect(parts("zurich stras")).toEqual(["Zürich", "Straß"]);
  expect(parts("hundret")).toEqual(["HUNDRED"]);
  expect(parts("3333")).toEqual(["3333"]);
  expect(parts("as3333")).toEqual(["AS3333"]);
  expect(parts("asn33", 1)).toEqual(["AS33"]);
  expect(parts("193.0.6.139")).toEqual(["193.0.6.139"]);
});

test("the last of the 32 words of a name that count is found as the others are, also inside a character with several words", () => {
  const generation = madeGeneration({ names: madeNames({ 1: `${"w ".repeat(31)}last`, 2: `first ${"w ".repeat(30)}ﷺ` }) });
  expect(search(generation, "last").results.items[0]).toMatchObject({ match: "exact", highlights: [{ start: 66, end: 70 }] });
  expect(search(generation, "first").results.items[0]).toMatchObject({ match: "exact", highlights: [{ start: 4, end: 9 }] });
});

test("without names and organisations, texts that name something are still answered", () => {
  const { names: _, profiles: __, ...without } = world;
  const bare = madeGeneration(without);
  expect(shown(bare, "AS3333")).toEqual(["asn exact /api/v1/asn/AS3333"]);
  expect(shown(bare, "ripe")).toEqual([]);
  expect(shown(bare, "nl")).toEqual(["country exact Netherlands (NL)"]);
});
