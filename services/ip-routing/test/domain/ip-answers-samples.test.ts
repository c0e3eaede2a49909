/**
 * The kept texts of `/ip` over the samples: any address is answered as by the plain builder.
 *
 * @large It makes the whole sample dataset.
 */

import { expect, test } from "@jest/globals";
import { type Address, AddressList, firstAddress, formatAddress, lastAddress, specialPurposeBlocks } from "@netfacts/address";
import { AnswerNotes, ipRecord } from "@netfacts/records";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { sampleGeneration } from "../../../../test/support/sample-snapshot.ts";
import { IpAnswers } from "../../src/domain/ip-answers.ts";

const now = Date.parse("2026-11-21T09:00:02Z");

test("any address, also at the edges of routes, allocations and special blocks, answers as the plain builder does", async () => {
  const sample = await sampleGeneration();
  const { routes, allocations } = sample;
  if (routes === null || allocations === null) throw new Error("the samples have routes and allocations");
  const answers = new IpAnswers({ textsBytesMax: 500_000 });
  const list = new AddressList();
  const word = fc.integer({ min: 0, max: 0xffff_ffff });
  const edge = fc.boolean();
  const routed = fc
    .tuple(fc.integer({ min: 0, max: routes.prefixes.base.size - 1 }), edge)
    .map(([entry, first]) => (first ? firstAddress : lastAddress)(routes.prefixes.prefixAt(entry)));
  const special = fc
    .tuple(fc.constantFrom(...specialPurposeBlocks), edge)
    .map(([{ prefix }, first]) => (first ? firstAddress : lastAddress)(prefix));
  const ipv4 = word.map((w0): Address => ({ version: 4, w0, w1: 0, w2: 0, w3: 0 }));
  const ipv6 = fc.tuple(word, word, word, word).map(([w0, w1, w2, w3]): Address => ({ version: 6, w0, w1, w2, w3 }));
  const near = fc.tuple(routed, fc.integer({ min: 0, max: 0xffff })).map(([ip, bits]): Address => {
    return ip.version === 4 ? { ...ip, w0: (ip.w0 ^ bits) >>> 0 } : { ...ip, w3: (ip.w3 ^ bits) >>> 0 };
  });
  fc.assert(
    fc.property(fc.oneof(routed, near, special, ipv4, ipv6), fc.integer({ min: 0, max: 3_000 }), (ip, after) => {
      const at = now + after;
      const notes = new AnswerNotes(sample, at);
      const plain = Buffer.from(JSON.stringify({ ...ipRecord(ip, notes), meta: notes.meta("id-1") })).toString("latin1");
      for (const _again of [1, 2]) {
        const text = answers.text(sample, { ip, text: formatAddress(ip), requestId: "id-1" }, at);
        if (text !== plain) expect(text).toBe(plain);
      }
      list.clear();
      list.add(formatAddress(ip));
      const [listed] = answers.texts(sample, list, ["id-1"], at);
      if (listed !== plain) expect(listed).toBe(plain);
    }),
    { seed: seed(4291), numRuns: runs(10_000, 300) },
  );
});
