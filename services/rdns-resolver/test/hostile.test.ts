/** Thousands of damaged answers: each is read or dropped, none crashes or hangs the service, none names another question's address. */

import { crc32 } from "node:zlib";
import { afterEach, expect, test } from "@jest/globals";
import type { ReverseDnsRecord } from "@netfacts/contracts";
import dnsPacket from "dns-packet";
import { runs, seed } from "../../../test/support/runs.ts";
import { answersQuestion, readAnswer, writeQuestion } from "../src/dns/message.ts";
import { followChain } from "../src/domain/name-chain.ts";
import { cname, nameOf, ptr, type Query, questionEnd, soa, startDnsServer } from "./support/dns-server.ts";
import { mutate, seeded } from "./support/mutation.ts";
import { startService } from "./support/service.ts";

const answersTotal = runs(10_000);

/** So few that no datagram is lost to a full buffer of loopback. */
const atATime = 100;

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

/** An honest answer to this name, of one of several kinds. */
function honestMessage(id: number, name: string, kind: number): Buffer {
  const alias = `x.${name}`;
  const answers = [
    [ptr(name, nameOf(name))],
    [cname(name, alias), ptr(alias, nameOf(name)), ptr(alias, `second.${nameOf(name)}`)],
    [],
    Array.from({ length: 8 }, (_, index) => ptr(name, `n${index}.${nameOf(name)}`)),
  ];
  return dnsPacket.encode({
    type: "response",
    id,
    flags: dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE | (kind === 2 ? 3 : 0),
    questions: [{ type: "PTR", class: "IN", name }],
    answers: answers[kind] ?? [],
    authorities: kind === 2 ? [soa("in-addr.arpa", 60, 60)] : [],
    additionals: [
      { type: "OPT", name: ".", udpPayloadSize: 1232, extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false, options: [] },
    ],
  });
}

/** Damage makes records of other types, and dns-packet keeps to the length of data only where it does not know the type. */
const readByLength = /^(PTR|CNAME|UNKNOWN_\d+)$/;

/** What a message says about a question, read by dns-packet, which knows nothing of our reader; null where it cannot read it. */
function independentReading(message: Buffer, name: string): { names: string[]; aliases: string[] } | null {
  try {
    const packet = dnsPacket.decode(message);
    const [question, ...more] = packet.questions ?? [];
    const concerns = packet.type === "response" && more.length === 0 && question?.name.toLowerCase() === name && question.type === "PTR";
    if (!concerns) return { names: [], aliases: [] };
    const reachable = new Set([name]);
    const answers = (packet.answers ?? []) as { type: string; name: string; data: unknown }[];
    if (!answers.every(({ type }) => readByLength.test(type))) return null;
    for (let round = 0; round < answers.length; round += 1) {
      for (const one of answers)
        if (one.type === "CNAME" && reachable.has(one.name.toLowerCase())) reachable.add(String(one.data).toLowerCase());
    }
    const names = answers
      .filter((one) => one.type === "PTR" && reachable.has(one.name.toLowerCase()))
      .map(({ data }) => String(data).toLowerCase());
    return { names, aliases: [...reachable].slice(1) };
  } catch {
    return null;
  }
}

/** Our text as dns-packet has it, which knows no escapes. */
function unescaped(name: string): string {
  const bytes = name.replace(/\\(\d{3}|.)/g, (_, quoted: string) => (quoted.length === 3 ? String.fromCharCode(Number(quoted)) : quoted));
  return Buffer.from(bytes, "latin1").toString("utf8").toLowerCase();
}

/** All that the messages sent for a name, and for the aliases in them, allow it to be called; `unreadable` where the other reader gave up. */
function possibleNames(name: string, sent: ReadonlyMap<string, Buffer[]>, seen: Set<string>): Set<string> {
  const possible = new Set([nameOf(name)]);
  if (seen.has(name)) return possible;
  seen.add(name);
  for (const message of sent.get(name) ?? []) {
    const reading = independentReading(message, name);
    if (reading === null) possible.add("unreadable");
    for (const one of reading?.names ?? []) possible.add(one);
    for (const alias of reading?.aliases ?? []) for (const one of possibleNames(alias, sent, seen)) possible.add(one);
  }
  return possible;
}

/** Whether dns-packet, which knows no escapes, writes the question as it was asked. */
function isSayable({ name, bytes }: Query): boolean {
  const again = dnsPacket.encode({ type: "query", questions: [{ type: "PTR", class: "IN", name }] });
  return bytes.subarray(12, again.length).equals(again.subarray(12));
}

function servfail(query: Buffer): Buffer {
  const message = Buffer.from(query.subarray(0, questionEnd(query)));
  message.writeUInt16BE(0x8182, 2);
  message.writeUInt16BE(0, 10);
  return message;
}

test("reading is over soon, ends in an answer or a fault of the message, and agrees with another reader", () => {
  const random = seeded(seed(1035));
  let accepted = 0;
  for (let index = 0; index < answersTotal; index += 1) {
    const name = `${index & 255}.${index >> 8}.0.193.in-addr.arpa`;
    const other = `${(index + 1) & 255}.${index >> 8}.0.193.in-addr.arpa`;
    const message = mutate(honestMessage(1, index % 4 === 0 ? other : name, random() % 4), random);
    const question = writeQuestion(name, { edns: true });
    if (!answersQuestion(message, question)) continue;
    let names: string[] = [];
    try {
      const answer = readAnswer(message, question);
      names = followChain({ name, type: "PTR" }, answer.records, 8).targets.map((one) => one.target);
    } catch (cause) {
      expect(cause).toMatchObject({ name: "MalformedMessageError" });
    }
    if (names.length === 0) continue;
    accepted += 1;
    const independent = independentReading(message, name);
    if (independent !== null) expect(independent.names).toEqual(expect.arrayContaining(names.map(unescaped)));
  }
  // Damage often misses what matters.
  expect(accepted).toBeGreaterThan(answersTotal / 20);
  expect(accepted).toBeLessThan(answersTotal / 2);
});

test("a service that is sent nothing else for each question still answers every one, and only from what concerns it", async () => {
  const sent = new Map<string, Buffer[]>();
  const damaged = ({ name, bytes, earlier }: Query) => {
    // The damage follows from the question: their order of arrival differs from run to run.
    const random = seeded(seed(crc32(`5452 ${earlier} ${name}`)));
    const other = name.replace(/^\d+/, (first) => String((Number(first) + 1) % 256));
    const message = mutate(honestMessage(bytes.readUInt16BE(0), random() % 4 === 0 ? other : name, random() % 4), random);
    // The case of an alias may be damaged too.
    const asked = name.toLowerCase();
    sent.set(asked, [...(sent.get(asked) ?? []), message]);
    return message;
  };
  const server = await startDnsServer((query) => {
    // Damage leads to names that dns-packet cannot say again.
    if (!isSayable(query)) return { raw: ({ bytes }) => servfail(bytes) };
    const message = damaged(query);
    return [{ raw: () => message }, { answers: [ptr(query.name, nameOf(query.name))] }];
  });
  running.push(server);
  // Each question gets its answer at once: no time-out is due, however busy the machine is.
  const patient = { RDNS_TIMEOUT_MS: "10000", RDNS_BUDGET_MS: "20000" };
  const service = await startService({ RESOLVERS: server.address, RDNS_RANDOM_CASE: "false", ...patient });
  running.push(service);

  const statuses = new Map<string, number>();
  for (let start = 0; start < answersTotal; start += atATime) {
    await Promise.all(
      Array.from({ length: atATime }, async (_, offset) => {
        const index = start + offset;
        const reply = await service.reply(`193.${index >> 14}.${(index >> 7) & 127}.${index & 127}`, 30_000);
        const record = JSON.parse(Buffer.from(reply.body).toString()) as ReverseDnsRecord;
        statuses.set(record.status, (statuses.get(record.status) ?? 0) + 1);
        const shown = record.names.map(({ name }) => name);
        if (shown.length === 1 && shown[0] === nameOf(record.query_name)) return;
        const possible = possibleNames(record.query_name, sent, new Set());
        for (const name of shown) if (!possible.has("unreadable")) expect(possible).toContain(unescaped(name));
      }),
    );
  }
  expect(statuses.get("ok")).toBeGreaterThan(answersTotal / 2);
  expect(statuses.get("timeout") ?? 0).toBe(0);
  expect(await service.metric("netfacts_rdns_dropped_messages_total", 'reason="malformed"')).toBeGreaterThan(answersTotal / 20);
  expect(await service.metric("netfacts_rdns_dropped_messages_total", 'reason="other_question"')).toBeGreaterThan(answersTotal / 20);
});

test("a message made of pointers to pointers is over at once", () => {
  const name = "1.0.0.193.in-addr.arpa";
  const question = writeQuestion(name, { edns: true });
  const header = Buffer.from(question.bytes.subarray(0, question.questionEnd));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(5_000, 6);
  header.writeUInt16BE(0, 10);
  const pointers = Buffer.alloc(60_000);
  for (let at = 0; at < pointers.length; at += 2)
    pointers.writeUInt16BE(0xc000 | Math.max(12, Math.min(header.length + at - 2, 0x3fff)), at);
  const message = Buffer.concat([header, pointers]);
  const before = process.cpuUsage();
  expect(() => readAnswer(message, question)).toThrow("bad pointer");
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});
