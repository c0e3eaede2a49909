/** What a trie is made of: shared between threads, read in place, and no larger than told. */

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "@jest/globals";
import type { Prefix } from "@netfacts/address";
import fc from "../../../test/support/properties.ts";
import { ipv4DirectMin, type PrefixColumns, PrefixTrie, type PrefixTrieParts, sortPrefixes } from "../src/index.ts";
import { anyPrefix, edgesOf } from "./arbitraries.ts";

const forms = ["compact", "direct"] as const;
const sample = (count: number, seed: number): Prefix[] => fc.sample(anyPrefix, { numRuns: count, seed });
const kib = 1024;

function arraysOf(parts: PrefixTrieParts): (Int32Array | Uint32Array)[] {
  const { parent, end, ipv4, ipv6 } = parts;
  return [parent, end, ...(ipv4.form === "direct" ? [ipv4.slots, ipv4.groups] : [ipv4.start]), ipv6.root, ipv6.pages, ipv6.runs];
}
const bytesOf = (parts: PrefixTrieParts): number => arraysOf(parts).reduce((sum, array) => sum + array.byteLength, 0);

describe("parts", () => {
  test.each(forms)("answer the same after a structured clone, which shares their memory (%s)", (ipv4) => {
    const prefixes = sample(400, 1);
    const trie = PrefixTrie.build(sortPrefixes(prefixes).columns, { ipv4 });
    const clone = PrefixTrie.fromParts(structuredClone(trie.parts));
    for (const prefix of prefixes) {
      for (const address of edgesOf(prefix)) expect(clone.longest(address)).toBe(trie.longest(address));
      expect(clone.exact(prefix)).toBe(trie.exact(prefix));
      expect(clone.moreSpecifics(prefix)).toEqual(trie.moreSpecifics(prefix));
    }
    const theirs = arraysOf(clone.parts);
    arraysOf(trie.parts).forEach((array, at) => {
      if (array.length === 0) return;
      array[0] = (array[0] as number) ^ 0x55;
      expect(theirs[at]?.[0]).toBe(array[0]);
    });
  });

  test.each(forms)("answer the same in another thread (%s)", async (ipv4) => {
    const prefixes = sample(200, 2);
    const trie = PrefixTrie.build(sortPrefixes(prefixes).columns, { ipv4 });
    const addresses = prefixes.flatMap(edgesOf);
    const worker = new Worker(new URL("./answering-worker.ts", import.meta.url), { workerData: { parts: trie.parts, addresses } });
    const [answers] = await once(worker, "message");
    await worker.terminate();
    expect(answers).toEqual(addresses.map((address) => trie.longest(address)));
  });

  test("columns inside another buffer are read in place", () => {
    const file = new ArrayBuffer(256);
    const columns: PrefixColumns = {
      ipv4: { address: new Uint32Array(file, 64, 2), length: new Uint8Array(file, 129, 2) },
      ipv6: { words: new Uint32Array(file, 192, 4), length: new Uint8Array(file, 33, 1) },
    };
    columns.ipv4.address.set([0x0a00_0000, 0xc0a8_0000]);
    columns.ipv4.length.set([8, 16]);
    columns.ipv6.words.set([0x2001_0db8, 0, 0, 0]);
    columns.ipv6.length.set([32]);
    const trie = PrefixTrie.build(columns);
    expect(trie.parts.columns).toBe(columns);
    expect([trie.longestIpv4(0x0a01_0203), trie.longestIpv4(0xc0a8_ffff), trie.longestIpv4(0xc0a9_0000)]).toEqual([0, 1, -1]);
    expect([trie.longestIpv6(0x2001_0db8, 1, 2, 3), trie.longestIpv6(0x2001_0db9, 0, 0, 0)]).toEqual([2, -1]);
  });
});

describe("size beside the columns", () => {
  /** `count` IPv4 /24s side by side from 1.0.0.0 on, then the others. */
  const many = (count: number, others: readonly Prefix[] = []): PrefixColumns =>
    sortPrefixes([
      ...Array.from({ length: count }, (_, at): Prefix => ({ version: 4, w0: 0x0100_0000 + at * 256, w1: 0, w2: 0, w3: 0, length: 24 })),
      ...others,
    ]).columns;
  const host = (w0: number, length: number): Prefix => ({ version: 4, w0, w1: 0, w2: 0, w3: 0, length });
  const ipv6 = (w0: number, w1: number, length: number): Prefix => ({ version: 6, w0, w1, w2: 0, w3: 0, length });

  test("a small set takes 8 bytes per prefix and less than that again for its indexes", () => {
    const trie = PrefixTrie.build(many(100));
    expect(bytesOf(trie.parts)).toBeLessThanOrEqual(100 * 16);
  });

  test("the compact form takes 8 bytes per prefix and at most 256 KiB", () => {
    const trie = PrefixTrie.build(many(300_000));
    expect(trie.parts.ipv4.form).toBe("compact");
    expect(bytesOf(trie.parts)).toBe(300_000 * 8 + 256 * kib + 4);
  });

  test("the direct form takes 64 MiB and 1 KiB per /24 that holds longer prefixes", () => {
    const longer = [host(0xc000_0200, 25), host(0xc000_0280, 25), host(0xc000_02ff, 32), host(0xffff_ffff, 32)];
    const trie = PrefixTrie.build(many(10, longer), { ipv4: "direct" });
    expect(bytesOf(trie.parts)).toBe(14 * 8 + 64 * kib * kib + 2 * kib);
  });

  test("a table of full size takes the direct form unless told otherwise", () => {
    const columns = many(ipv4DirectMin);
    expect(PrefixTrie.build(columns).parts.ipv4.form).toBe("direct");
    expect(PrefixTrie.build(columns, { ipv4: "compact" }).parts.ipv4.form).toBe("compact");
    expect(PrefixTrie.build(many(ipv4DirectMin - 1)).parts.ipv4.form).toBe("compact");
  });

  test("the IPv6 index takes 256 KiB, 1 KiB per /16 and per /24 with longer prefixes, 8 bytes per /32 with longer ones", () => {
    const inOne = Array.from({ length: 2000 }, (_, at) => ipv6(0x2a00_0001, at * 65_536, 48));
    const trie = PrefixTrie.build(sortPrefixes([...inOne, ipv6(0x2a00_0100, 0, 32), ipv6(0x3000_0000, 0, 16)]).columns);
    const { root, pages, runs } = trie.parts.ipv6;
    expect([root.byteLength, pages.byteLength, runs.byteLength]).toEqual([256 * kib, 3 * kib, 8]);
  });
});
