/** The kept texts of `/ip`: whatever is asked in whatever order, the answer is that of the plain builder. */

import { describe, expect, test } from "@jest/globals";
import { type Address, AddressList, formatAddress } from "@netfacts/address";
import { wholeRecord } from "@netfacts/contracts";
import { AnswerNotes, ipRecord, type RecordAnswer, shownAnswer } from "@netfacts/records";
import type { Generation } from "@netfacts/snapshot";
import {
  madeAllocations,
  madeLocations,
  madeNetworkTypes,
  madeRoutes,
  madeVrps,
  route,
} from "../../../../libs/snapshot/test/support/made-sections.ts";
import { type MadeSnapshot, madeGeneration } from "../../../../libs/snapshot/test/support/made-snapshot.ts";
import { world } from "../../../../libs/snapshot/test/support/made-world.ts";
import { address } from "../../../../libs/snapshot/test/support/text.ts";
import { type IpAnswer, IpAnswers } from "../../src/domain/ip-answers.ts";

const now = Date.parse("2026-11-21T09:00:02Z");

/** With `meta` and without it. */
function expectPlain(answers: IpAnswers, generation: Generation, ip: Address, nowMs = now, requestId = "id-1"): void {
  for (const id of [requestId, null]) expectPlainShown(answers, generation, ip, nowMs, id);
}

function expectPlainShown(answers: IpAnswers, generation: Generation, ip: Address, nowMs: number, requestId: string | null): void {
  const notes = new AnswerNotes(generation, nowMs);
  const plain = shownAnswer(notes, ipRecord(ip, notes), { ...wholeRecord, meta: requestId !== null }, requestId ?? "");
  const text = formatAddress(ip);
  const answer = answers.answer(generation, { ip, text, requestId }, nowMs);
  expect({ ...answer, body: Buffer.from(answer.body).toString() }).toEqual({ ...plain, body: Buffer.from(plain.body).toString() });
  expect(Buffer.from(answers.text(generation, { ip, text, requestId }, nowMs), "latin1")).toEqual(Buffer.from(plain.body));
}

/** Each twice, so that what the first time kept answers the second time; and once more in the other order. */
function expectAllPlain(generation: Generation, texts: readonly string[], answers = new IpAnswers()): void {
  for (const text of [...texts, ...texts, ...[...texts].reverse()]) expectPlain(answers, generation, address(text));
}

const generation = madeGeneration(world);

function whole({ ending, ...answer }: IpAnswer): RecordAnswer {
  return ending === undefined ? answer : { ...answer, body: Buffer.concat([answer.body, ending]) };
}

test("what is said of the VRPs of an AS_SET follows the clock", () => {
  const expiresAt = now / 1_000 + 60;
  const expiring = madeGeneration({ ...world, vrps: madeVrps([{ prefix: "12.0.0.0/8", asn: 300, expiresAt }]) });
  const answers = new IpAnswers();
  for (const nowMs of [now, now + 1_000, now + 59_000, now + 61_000, now + 62_000]) {
    expectPlain(answers, expiring, address("12.0.0.1"), nowMs);
    expectPlain(answers, expiring, address("12.0.0.2"), nowMs);
  }
});

test("many addresses at once answer as each does alone, a frame that forgets its lines midway too", () => {
  const texts = [
    "193.0.6.139",
    "9.9.9.9",
    "12.0.0.1",
    "::ffff:8.8.8.8",
    "2a00:1::1",
    "193.0.6.140",
    "10.0.0.1",
    "2002:c100:068b::1",
    "17.0.0.1",
  ];
  const questions = [...texts, ...texts].map((text, index) => ({
    ip: address(text),
    text: formatAddress(address(text)),
    requestId: `id-${index}`,
  }));
  const list = new AddressList();
  for (const { text } of questions) list.add(text);
  const ids = questions.map(({ requestId }) => requestId);
  for (const textsBytesMax of [1, 3_000, 1_000_000]) {
    const alone = new IpAnswers();
    const together = new IpAnswers({ textsBytesMax });
    for (let round = 0; round < 2; round++) {
      expect(together.texts(generation, list, ids, now)).toEqual(questions.map((question) => alone.text(generation, question, now)));
      const answers = together.answers(generation, list, ids, now);
      expect(answers.map(whole)).toEqual(questions.map((question) => alone.answer(generation, question, now)));
      // What they share is apart, and one.
      const endings = answers.flatMap(({ ending }) => (ending === undefined ? [] : [ending]));
      expect(endings.length).toBeGreaterThan(0);
      expect(new Set(endings).size).toBe(1);
      const withoutMeta = questions.map((question) => ({ ...question, requestId: null }));
      expect(together.texts(generation, list, null, now)).toEqual(withoutMeta.map((question) => alone.text(generation, question, now)));
      expect(together.answers(generation, list, null, now)).toEqual(withoutMeta.map((question) => alone.answer(generation, question, now)));
    }
  }
});

describe("over a world where every case happens once", () => {
  test.each<[string, string[]]>([
    ["announced addresses of one route", ["193.0.6.139", "193.0.6.140", "193.0.4.9", "193.0.7.255", "2a00:1::1", "2a00:1:2::"]],
    ["addresses whose longest route too few peers see", ["11.1.2.3", "11.1.2.4", "11.1.3.1", "2a00:1:1::1"]],
    ["origins that are AS_SETs, unknown, special or several", ["12.0.0.1", "13.0.0.1", "14.0.0.1", "17.0.0.1", "15.0.0.1", "19.0.0.1"]],
    ["unannounced IPv4, under no route and under the default", ["9.9.9.9", "20.0.1.1", "16.1.1.1", "223.1.1.1"]],
    ["unannounced IPv6, inside and outside of 2000::/3", ["2c00::1", "3fff::1", "4000::1", "fe00::1", "1::", "e000::1"]],
    ["special-purpose addresses, announced or not", ["10.0.0.1", "10.1.0.1", "127.0.0.1", "224.0.0.1", "::1", "fe80::1", "ff02::1"]],
    ["addresses that embed IPv4", ["::ffff:193.0.6.139", "::ffff:8.8.8.8", "2002:c100:068b::1", "2001:0:c100:68b::1", "64:ff9b::c100:68b"]],
    [
      "registered as available, with rivals, in parts of a route",
      ["16.0.0.1", "193.0.0.1", "193.0.1.1", "20.0.2.255", "20.0.3.0", "20.0.4.1"],
    ],
  ])("%s answer as the plain builder does", (_what, texts) => {
    expectAllPlain(generation, texts);
  });

  test("without any section, and without each of them, too", () => {
    const texts = ["193.0.6.139", "11.1.2.3", "9.9.9.9", "10.0.0.1", "2a00:1::1", "::ffff:8.8.8.8"];
    const { routes: _routes, ...noRoutes } = world;
    const { vrps: _vrps, ...noVrps } = world;
    const { allocations: _allocations, ...noAllocations } = world;
    const { networkTypes: _types, profiles: _profiles, ...noTypes } = world;
    const { locations: _locations, ...noLocations } = world;
    for (const made of [{}, noRoutes, noVrps, noAllocations, noTypes, noLocations, { ...world, sampleData: true }] as MadeSnapshot[])
      expectAllPlain(madeGeneration(made), texts);
  });
});

test("several places under one route are told apart: an allocation, a special block, a VRP that begins inside it", () => {
  const made = madeGeneration({
    peersTotal: { ipv4: 10, ipv6: 10 },
    routes: madeRoutes([
      route("198.0.0.0/8", [1, 10]),
      route("50.0.0.0/8", [2, 10]),
      route("2001::/16", [3, 10]),
      route("0.0.0.0/0", [9, 9]),
    ]),
    allocations: madeAllocations([
      { start: "50.0.0.0", end: "50.0.255.255", country: "SE" },
      { start: "50.1.0.0", end: "50.1.0.255", country: "FI" },
      { start: "60.0.0.0", end: "60.255.255.255", country: "DE" },
    ]),
    vrps: madeVrps([
      { prefix: "50.0.0.0/8", asn: 2, maxLength: 24 },
      { prefix: "50.1.0.0/24", asn: 2 },
      { prefix: "60.1.0.0/16", asn: 0 },
      { prefix: "60.1.1.0/24", asn: 0 },
    ]),
  });
  expectAllPlain(made, ["50.0.0.1", "50.1.0.1", "50.1.1.1", "50.200.0.1", "198.18.0.1", "198.51.100.7", "198.1.1.1"]);
  expectAllPlain(made, ["2001::1", "2001:db8::1", "2001:5::1", "2001:1::1"]);
  // Nothing is announced here: how many VRPs cover an address differs within one allocation.
  expectAllPlain(made, ["60.0.0.1", "60.1.0.1", "60.1.1.1", "60.2.0.1", "70.0.0.1"]);
});

test("locations that begin inside a route are separate, also where they and network types cross", () => {
  const made = madeGeneration({
    routes: madeRoutes([route("50.0.0.0/8", [2, 10]), route("51.0.0.0/8", [3, 10]), route("2001::/16", [3, 10])]),
    vrps: madeVrps([]),
    networkTypes: madeNetworkTypes({ "50.1.0.0/16": "a", "50.2.0.0/16": "b" }),
    locations: madeLocations({
      "48.0.0.0/4": "SE,,",
      "50.1.1.0/24": "NL,NL-NH,Amsterdam",
      "50.1.2.0/24": null,
      "50.2.0.0/16": "DE,,Köln",
      "2001:2:8000::/33": "JP,,",
    }),
  });
  const texts = ["50.0.0.1", "50.1.0.1", "50.1.1.1", "50.1.1.2", "50.1.2.1", "50.2.0.1", "51.0.0.1", "2001:2:8000::1", "2001:3::1"];
  expectAllPlain(made, texts);
  expectAllPlain(made, texts.toReversed());
});

test("network types that begin inside a route are told apart, also where they and allocations cross", () => {
  const made = madeGeneration({
    routes: madeRoutes([
      route("50.0.0.0/8", [2, 10]),
      route("51.0.0.0/8", [3, 10]),
      route("52.0.0.0/8", [3, 10]),
      route("2001::/16", [3, 10]),
    ]),
    allocations: madeAllocations([{ start: "50.1.0.0", end: "50.2.255.255" }]),
    // Without VRPs every answer would warn, and none would be kept by route.
    vrps: madeVrps([]),
    networkTypes: madeNetworkTypes({
      "50.1.0.0/16": "a",
      "50.1.1.0/24": "b 0.5",
      "50.3.0.0/16": "c",
      "48.0.0.0/4": "d",
      "52.1.0.0/16": "g",
      "2001:2:8000::/33": "e",
      AS3: "f",
    }),
  });
  expectAllPlain(made, [
    "50.0.0.1",
    "50.1.0.1",
    "50.1.1.1",
    "50.1.1.2",
    "50.2.0.1",
    "50.3.0.1",
    "50.3.0.2",
    "51.0.0.1",
    "51.255.0.1",
    "52.0.0.1",
    "52.1.0.1",
    "52.2.0.1",
  ]);
  expectAllPlain(made, ["2001::1", "2001:2:8000::1", "2001:2:7fff::1", "2001:db8::1"]);
});

test("answers follow the second, the minute and the generation", () => {
  const answers = new IpAnswers();
  const interval = madeGeneration({ ...world, entry: { interval_seconds: 600, stale_after_seconds: 330 } });
  const other = madeGeneration({
    ...world,
    routes: madeRoutes([route("193.0.0.0/21", [1, 9]), route("9.0.0.0/8", [4, 10])]),
    sampleData: true,
  });
  const texts = ["193.0.6.139", "21.0.0.1", "12.0.0.1", "9.9.9.9"].map(address);
  for (const after of [0, 1, 999, 1_000, 27_000, 29_000, 59_999, 60_000, 61_000, 200_000])
    for (const ip of texts) expectPlain(answers, interval, ip, now + after, `id-${after}`);
  for (const used of [other, interval, generation, other]) for (const ip of texts) expectPlain(answers, used, ip);
});

test("beyond the bound of kept texts all are made again, and nothing else changes", () => {
  const texts = ["193.0.6.139", "14.0.0.1", "18.0.0.1", "21.0.0.1", "2a00:1::1", "22.0.0.1"];
  for (const textsBytesMax of [1, 2_000, 4_000]) expectAllPlain(generation, texts, new IpAnswers({ textsBytesMax }));
});
