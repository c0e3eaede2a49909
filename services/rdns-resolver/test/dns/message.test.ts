/** Messages: questions as dns-packet reads them, and answers that are almost right. */

import { expect, test } from "@jest/globals";
import dnsPacket from "dns-packet";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { MalformedMessageError } from "../../src/dns/malformed-message.ts";
import { answersQuestion, readAnswer, writeQuestion } from "../../src/dns/message.ts";
import { readName } from "../../src/dns/name.ts";
import { address, ptr, soa } from "../support/dns-server.ts";

const name = "139.6.0.193.in-addr.arpa";
const question = writeQuestion(name, { edns: true });

function answer(parts: Partial<dnsPacket.Packet> = {}): Buffer {
  return dnsPacket.encode({
    type: "response",
    questions: [{ type: "PTR", class: "IN", name }],
    answers: [ptr(name, "a.example")],
    ...parts,
  });
}

test("writes questions that another reader reads, with and without EDNS", () => {
  for (const edns of [true, false]) {
    const { bytes, questionEnd } = writeQuestion(name, { edns });
    const packet = dnsPacket.decode(bytes);
    expect(packet).toMatchObject({ type: "query", questions: [{ name, type: "PTR", class: "IN" }], answers: [], authorities: [] });
    expect(packet.additionals).toHaveLength(edns ? 1 : 0);
    expect(bytes.length - questionEnd).toBe(edns ? 11 : 0);
  }
});

test("writes every name as dns-packet does, the root and the longest included", () => {
  const label = fc.string({ unit: fc.constantFrom(..."abcXYZ019-_/"), minLength: 1, maxLength: 63 });
  const names = fc.array(label, { maxLength: 12 }).map((labels) => labels.join("."));
  const longest = ["a", "b", "c", "d"].map((letter) => letter.repeat(letter === "d" ? 61 : 63)).join(".");
  fc.assert(
    fc.property(names, fc.boolean(), (text, edns) => {
      const { bytes, name: folded } = writeQuestion(text || ".", { edns });
      const packet = {
        type: "query",
        flags: dnsPacket.RECURSION_DESIRED | dnsPacket.AUTHENTIC_DATA,
        questions: [{ type: "PTR", name: text, class: "IN" }],
      } as const;
      const opt = { type: "OPT", name: ".", udpPayloadSize: 1232, extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false, options: [] };
      const additionals = (edns ? [opt] : []) as dnsPacket.Answer[];
      expect(bytes).toEqual(dnsPacket.encode({ ...packet, questions: [...packet.questions], additionals }));
      expect(folded).toBe(text === "" ? "." : text.toLowerCase());
    }),
    {
      seed: seed(1035),
      numRuns: runs(2_000),
      examples: [
        ["", true],
        ["", false],
        [longest, true],
      ],
    },
  );
});

test("a record of the question's name belongs to it however the name is written", () => {
  const mixed = writeQuestion("Www.Example", { edns: true });
  const questions = [{ type: "PTR" as const, class: "IN" as const, name: "wWW.eXAMPLE" }];
  const pointing = dnsPacket.encode({ type: "response", questions, answers: [ptr("wWW.eXAMPLE", "a.example")] });
  const length = pointing.length;
  const inFull = dnsPacket.encode({ type: "response", questions, answers: [ptr("WWW.example", "a.example")] });
  const records = [{ type: "PTR", owner: "www.example", ttl: 3600, target: "a.example" }];
  expect(readAnswer(inFull, mixed).records).toMatchObject(records);
  // dns-packet writes no pointers: the owner's thirteen bytes become one.
  const at = mixed.questionEnd;
  const pointer = Buffer.from([0xc0, 12]);
  const pointed = Buffer.concat([pointing.subarray(0, at), pointer, pointing.subarray(at + 13)]);
  expect(pointed.length).toBe(length - 11);
  expect(readAnswer(pointed, mixed).records).toMatchObject(records);
  // What it points to is a header's end where the question was left out.
  const without = Buffer.concat([pointed.subarray(0, 12), pointed.subarray(at)]);
  without.writeUInt16BE(0, 4);
  expect(() => readAnswer(without, mixed)).toThrow(MalformedMessageError);
});

test("an answer echoes the question, in any case", () => {
  const upper = { questions: [{ type: "PTR" as const, class: "IN" as const, name: name.toUpperCase() }] };
  expect(answersQuestion(answer(), question)).toBe(true);
  expect(answersQuestion(answer(upper), question)).toBe(true);
});

test.each<[string, Buffer]>([
  ["a query", dnsPacket.encode({ type: "query", questions: [{ type: "PTR", name }] })],
  ["another name", answer({ questions: [{ type: "PTR", name: "140.6.0.193.in-addr.arpa" }] })],
  ["a dot where the label ends otherwise", Buffer.from(answer()).fill(0x2e, 16, 17)],
  ["another type", answer({ questions: [{ type: "A", name }] })],
  ["another class", answer({ questions: [{ type: "PTR", class: "CH", name }] })],
  [
    "two questions",
    answer({
      questions: [
        { type: "PTR", name },
        { type: "PTR", name },
      ],
    }),
  ],
  ["no question", answer({ questions: [] })],
  ["another operation", answer({ flags: 2 << 11 })],
  ["half a header", answer().subarray(0, 11)],
  ["half a question", answer().subarray(0, 20)],
])("%s is no answer", (_, message) => {
  expect(answersQuestion(message, question)).toBe(false);
});

test("a server that cannot read the question may leave it out, but not answer it", () => {
  const empty = { questions: [], answers: [] };
  expect(answersQuestion(answer({ ...empty, flags: 1 }), question)).toBe(true);
  expect(answersQuestion(answer({ ...empty, flags: 4 }), question)).toBe(true);
  expect(answersQuestion(answer({ ...empty, flags: 3 }), question)).toBe(false);
  expect(answersQuestion(answer({ questions: [], flags: 1 }), question)).toBe(false);
  expect(readAnswer(answer({ ...empty, flags: 1 }), question)).toMatchObject({ rcode: 1, records: [] });
});

test("holds records to their stated length", () => {
  const message = answer();
  const lengthAt = message.length - "a.example".length - 2 - 2;
  const length = message.readUInt16BE(lengthAt);
  const longer = Buffer.concat([message, Buffer.alloc(1)]);
  longer.writeUInt16BE(length + 1, lengthAt);
  const shorter = Buffer.from(message);
  shorter.writeUInt16BE(length - 1, lengthAt);
  for (const damaged of [longer, shorter]) expect(() => readAnswer(damaged, question)).toThrow("name ends elsewhere than its record");

  const beyond = Buffer.from(message);
  beyond.writeUInt16BE(length + 1, lengthAt);
  expect(() => readAnswer(beyond, question)).toThrow("record data past the end");

  const absence = answer({ answers: [], authorities: [soa("example", 60, 30)] });
  expect(readAnswer(absence, question).soa).toEqual({ ttl: 60, minimum: 30 });
  const soaLengthAt = question.questionEnd + 9 + 8;
  absence.writeUInt16BE(absence.readUInt16BE(soaLengthAt) - 4, soaLengthAt);
  expect(() => readAnswer(absence, question)).toThrow("SOA record of a wrong length");
});

test("reads nothing but the header of an answer that was cut", () => {
  const message = answer({ flags: dnsPacket.TRUNCATED_RESPONSE });
  expect(readAnswer(message.subarray(0, message.length - 5), question)).toMatchObject({ truncated: true, records: [] });
});

test("passes over records of other types, whatever their data", () => {
  const message = answer({
    answers: [
      { type: "TXT", name, data: ["x"], ttl: 60 },
      ptr(name, "a.example"),
      { type: "NULL", name, data: Buffer.from([0xc0]), ttl: 60 },
    ],
  });
  expect(readAnswer(message, question).records).toEqual([{ type: "PTR", owner: name, ttl: 3600, target: "a.example" }]);
});

test("asks about names with every byte in their labels", () => {
  const label = fc.uint8Array({ minLength: 1, maxLength: 63 });
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), (labels) => {
      const wire = Buffer.concat([...labels.flatMap((bytes) => [Buffer.from([bytes.length]), bytes]), Buffer.from([0])]);
      const { text } = readName(Buffer.concat([Buffer.alloc(12), wire]), 12, null);
      const { bytes, questionEnd } = writeQuestion(text, { edns: false });
      expect(bytes.subarray(12, questionEnd - 4)).toEqual(wire);
    }),
    { seed: seed(1035), numRuns: runs(1_000) },
  );
});

test.each(["A", "AAAA", "SOA"] as const)("asks for %s records, also for those that fail validation", (type) => {
  for (const checkingDisabled of [false, true]) {
    const packet = dnsPacket.decode(writeQuestion("www.example", { edns: true, type, checkingDisabled }).bytes);
    expect(packet.questions).toMatchObject([{ name: "www.example", type }]);
    expect(packet).toMatchObject({ flag_ad: true, flag_cd: checkingDisabled, flag_rd: true });
  }
});

test("reads addresses, each in one form", () => {
  const answers = [address("a.example", "193.0.6.139"), address("a.example", "2001:67c:2e8:22:0:0:c100:68b")];
  expect(readAnswer(answer({ answers }), question).records).toMatchObject([
    { type: "A", owner: "a.example", target: "193.0.6.139" },
    { type: "AAAA", owner: "a.example", target: "2001:67c:2e8:22::c100:68b" },
  ]);
});

test.each([1, 28])("an address of type %s and a wrong length makes the message malformed", (type) => {
  const wrong = answer({ answers: [{ type: `UNKNOWN_${type}`, name, ttl: 60, data: Buffer.alloc(5) } as never] });
  // The reader of tests writes a type that it does not know as 0.
  const at = wrong.length - 5 - 10;
  wrong.writeUInt16BE(type, at);
  expect(() => readAnswer(wrong, question)).toThrow("record of a wrong length");
});

test("takes the word of a nameserver that it validated", () => {
  expect(readAnswer(answer({ flags: dnsPacket.AUTHENTIC_DATA }), question).authentic).toBe(true);
  expect(readAnswer(answer(), question).authentic).toBe(false);
});

/** As many PTR records as fit, whose names share an end of so many labels. */
function sharedEnds(labels: number): Buffer {
  const parts = [answer({ answers: [] })];
  const add = (target: Buffer) => {
    const head = Buffer.from([0xc0, 12, 0, 12, 0, 1, 0, 0, 14, 16, target.length >> 8, target.length & 255]);
    parts.push(Buffer.concat([head, target]));
  };
  const shared = (parts[0]?.length ?? 0) + 12;
  add(Buffer.concat([...Array.from({ length: labels }, () => Buffer.from([1, 0x61])), Buffer.from([0])]));
  for (let index = 0; index < 3_600; index += 1) {
    add(Buffer.from([3, ...Buffer.from(index.toString(36).padStart(3, "0")), 0xc0 | (shared >> 8), shared & 255]));
  }
  const message = Buffer.concat(parts);
  message.writeUInt16BE(parts.length - 1, 6);
  return message;
}

/** The message, which counts how often one of its octets is read. */
function counted(message: Buffer): { readonly message: Buffer; reads(): number } {
  let reads = 0;
  const get = (target: Buffer, key: string | symbol): unknown => {
    if (typeof key === "string" && /^\d+$/.test(key)) reads += 1;
    const value: unknown = Reflect.get(target, key);
    return typeof value === "function" ? value.bind(target) : value;
  };
  return { message: new Proxy(message, { get }), reads: () => reads };
}

test("a long end that thousands of names share is read once", () => {
  const [short = Number.NaN, long] = [1, 123].map((labels) => {
    const { message, reads } = counted(sharedEnds(labels));
    expect(readAnswer(message, question).records).toHaveLength(3_601);
    return reads();
  });
  // The end has 122 octets of lengths more.
  expect(long).toBeLessThan(short + 1_000);
});
