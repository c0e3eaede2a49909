/** The text and hash of keys, and peppers. */

import { crc32 } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { generateKeyText, hashKey, parseKeyText, readPeppers, secretMatches } from "../src/index.ts";

describe("key text", () => {
  const format = /^nf_(live|test)_[0-9A-HJKMNP-TV-Z]{8}_[0-9A-Za-z]{38}$/;

  test("has the documented form, and its own reader accepts it", () => {
    for (let i = 0; i < 500; i++) {
      const key = generateKeyText(i % 2 === 0 ? "live" : "test");
      expect(key.text).toMatch(format);
      expect(parseKeyText(key.text)).toEqual(key);
    }
  });

  test("ends in the CRC-32 of all before it, in base 62, most significant first", () => {
    const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for (let i = 0; i < 500; i++) {
      const { text } = generateKeyText("live");
      const value = [...text.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
      expect(value).toBe(crc32(text.slice(0, -6)));
    }
  });

  test("is known by a fixed example", () => {
    expect(parseKeyText("nf_live_7Q9M3W8K_0123456789ABCDEFGHIJKLMNOPQRSTUV0w9J4a")).toMatchObject({ id: "7Q9M3W8K", environment: "live" });
  });

  test("uses every letter of its alphabets about equally often", () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2_000; i++) {
      for (const letter of generateKeyText("live").text.slice(17, 49)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    // 64,000 letters, 62 kinds: 1,032 expected of each, standard deviation 32; plain modulo would give the first eight 1,250.
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - 1_032)).toBeLessThan(190);
  });

  test("is refused after any change of one character", () => {
    const { text } = generateKeyText("live");
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 1, unit: "binary-ascii" }), (at, letter) => {
        fc.pre(text[at] !== letter);
        expect(parseKeyText(text.slice(0, at) + letter + text.slice(at + 1))).toBeNull();
      }),
      { seed: seed(62), numRuns: runs(2_000) },
    );
  });

  test("is refused with anything before or after it, and never throws on hostile text", () => {
    const { text } = generateKeyText("live");
    for (const wrong of [` ${text}`, `${text} `, `${text}\n`, text.slice(0, -1), `${text}0`, "", "nf_live_"])
      expect(parseKeyText(wrong)).toBeNull();
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 80 }), (wrong) => parseKeyText(wrong) === null),
      { seed: 62 },
    );
  });
});

describe("key hash", () => {
  const pepper = { id: "p1", secret: "a pepper for this test" };
  const peppers = new Map([[pepper.id, pepper.secret]]);

  test("matches the key it was made of, and no other", () => {
    const [one, two] = [generateKeyText("live").text, generateKeyText("live").text];
    for (const used of [null, pepper]) {
      expect(secretMatches(one, hashKey(one, used), peppers)).toBe(true);
      expect(secretMatches(two, hashKey(one, used), peppers)).toBe(false);
    }
  });

  test("is SHA-256 of the whole key without a pepper", () => {
    expect(hashKey("abc", null).hash).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  test("never matches without a record, or without its pepper", () => {
    const { text } = generateKeyText("live");
    expect(secretMatches(text, null, peppers)).toBe(false);
    expect(secretMatches(text, hashKey(text, pepper))).toBe(false);
    expect(secretMatches(text, hashKey(text, pepper), new Map([["p1", "another"]]))).toBe(false);
  });
});

describe("peppers", () => {
  const secret = "0123456789abcdefghijklmnopqrstuvwxyz";

  test("the first is the current one, and all are known", () => {
    const { peppers, faults } = readPeppers(`# of March\np2:${secret}:2\n\n p1:${secret}`);
    expect(faults).toEqual([]);
    expect(peppers.current).toEqual({ id: "p2", secret: `${secret}:2` });
    expect([...peppers.secrets]).toEqual([
      ["p2", `${secret}:2`],
      ["p1", secret],
    ]);
    expect(readPeppers("").peppers).toEqual({ current: null, secrets: new Map() });
    expect(readPeppers(`p2:${secret},p1:${secret}`).peppers.secrets.size).toBe(2);
  });

  test("tells what is wrong by entry, without the secret", () => {
    const { faults } = readPeppers(`p1:${secret},nothing,p1:${secret},p3:short,p 4:${secret}`);
    expect(faults).toEqual([
      expect.stringMatching(/^entry 2 must be `id:secret`/),
      "entry 3 repeats the id p1",
      expect.stringMatching(/^entry 4 \(p3\) must have a secret of at least 32/),
      expect.stringMatching(/^entry 5 must be/),
    ]);
    expect(faults.join()).not.toContain(secret.slice(0, 8));
  });
});
