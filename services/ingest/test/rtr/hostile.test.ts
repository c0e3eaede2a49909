/** Caches that break the protocol, in every way that was thought of: each is left with its reason, and the next one is used. */

import type { Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { encodePdu, type Pdu, rtrErrors, vrpsOf } from "@netfacts/rpki/rtr";
import { RtrClient, readCacheList } from "../../src/rtr/index.ts";
import type { RtrClientOptions } from "../../src/rtr/rtr-client.ts";
import { type Answer, bytesOf, type ScriptedCache, startScriptedCache, vrpPdu } from "../support/scripted-cache.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const vrp = "192.0.2.0/24-24 1";
const good = "198.51.100.0/24-24 2";
const version = 1;
const response = (sessionId = 7): Pdu => ({ kind: "cache-response", version, sessionId });
const notify = (serial: number, sessionId = 7): Pdu => ({ kind: "serial-notify", version, sessionId, serial });
const intervals = { refresh: 3_600, retry: 600, expire: 7_200 };
const end = (serial = 1, sessionId = 7): Pdu => ({ kind: "end-of-data", version, sessionId, serial, intervals });
const report = (code: number): Pdu => ({ kind: "error-report", version, code, pdu: new Uint8Array(), text: "no" });

function patched(pdu: Pdu, at: number, value: number, bytes = 4): Buffer {
  const encoded = encodePdu(pdu);
  encoded.writeUIntBE(value, at, bytes);
  return encoded;
}

/** Writes as fast as the other side takes it, until it is gone. */
function flood(socket: Socket, piece: Buffer, first: Buffer = Buffer.alloc(0)): void {
  socket.write(first);
  const more = () => {
    while (!socket.destroyed && socket.writable && socket.write(piece));
  };
  socket.on("drain", more);
  more();
}

/** What a hostile cache answers, what it is told (the code of an Error Report; null: nothing), and the reason that is kept. */
const hostile: [name: string, answer: Answer, code: number | null, reason: string | RegExp][] = [
  ["claims a PDU of 4 GB", (_, socket) => socket.write(patched(report(1), 4, 0xffff_ffff)), null, "claims 4294967295 bytes"],
  [
    "claims a router key of 4 GB",
    (_, socket) => socket.write(Buffer.from("0109000000000000".replace(/0{8}$/, "ffffffff"), "hex")),
    rtrErrors.corruptData,
    "claims 4294967295 bytes",
  ],
  [
    "claims a length of nothing",
    (_, socket) => socket.write(patched(response(), 4, 0)),
    rtrErrors.corruptData,
    "claims 0 bytes; expected 8",
  ],
  [
    "sends a prefix of 33 bits",
    (_, socket) => socket.write(Buffer.concat([bytesOf(response()), patched(vrpPdu(vrp), 9, 33, 1)])),
    rtrErrors.corruptData,
    "prefix length 33",
  ],
  [
    "sends a PDU type that there is not",
    (_, socket) => socket.write(patched(response(), 1, 5, 1)),
    rtrErrors.unsupportedPduType,
    "PDU type 5",
  ],
  [
    "speaks another version",
    (_, socket) => socket.write(patched(response(), 0, 3, 1)),
    rtrErrors.unsupportedVersion,
    "version 3; 1 was requested",
  ],
  [
    "changes its version in the middle",
    (_, socket) => socket.write(Buffer.concat([bytesOf(response()), patched(vrpPdu(vrp), 0, 0, 1)])),
    rtrErrors.unexpectedVersion,
    "version 0 in a session of version 1",
  ],
  [
    "changes its session in the middle",
    (_, socket) => socket.write(bytesOf(response(), vrpPdu(vrp), end(1, 8))),
    rtrErrors.corruptData,
    "session 8 in session 7",
  ],
  [
    "announces twice",
    (_, socket) => socket.write(bytesOf(response(), vrpPdu(vrp), vrpPdu(vrp), end())),
    rtrErrors.duplicateAnnouncement,
    "announced twice",
  ],
  [
    "withdraws what is not there",
    (_, socket) => socket.write(bytesOf(response(), vrpPdu("203.0.113.0/24-24 9", false), end())),
    rtrErrors.withdrawalOfUnknown,
    "without an announcement",
  ],
  [
    "sends half a PDU, then nothing",
    (_, socket) => socket.write(bytesOf(response(), vrpPdu(vrp)).subarray(0, 20)),
    null,
    "sent nothing for",
  ],
  ["answers nothing", () => undefined, null, "sent nothing for"],
  ["never ends its data", (_, socket) => socket.write(bytesOf(response(), vrpPdu(vrp))), null, "sent nothing for"],
  [
    "drips a byte at a time",
    (_, socket) => {
      const bytes = bytesOf(response(), vrpPdu(vrp), vrpPdu(good), end());
      let at = 0;
      const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(bytes.subarray(at, ++at))), 50);
    },
    null,
    "did not complete its response within",
  ],
  [
    "floods with the same change for ever",
    (_, socket) =>
      flood(socket, Buffer.concat(Array.from({ length: 500 }, () => bytesOf(vrpPdu(vrp), vrpPdu(vrp, false)))), bytesOf(response())),
    null,
    "did not complete its response within",
  ],
  [
    "floods with ever more VRPs",
    (_, socket) => {
      socket.write(bytesOf(response()));
      for (let at = 0; at < 3_000; at++) socket.write(bytesOf(vrpPdu(`10.${at >> 8}.${at & 255}.0/24-24 1`)));
    },
    rtrErrors.internalError,
    "more than 2000 VRPs",
  ],
  [
    "storms with notifies",
    (_, socket) => flood(socket, Buffer.concat(Array.from({ length: 50 }, (_each, at) => bytesOf(notify(at))))),
    null,
    "Serial Notifies within a minute",
  ],
  ["reports errors for ever", (_, socket) => flood(socket, bytesOf(report(1))), null, "reports Internal Error: no"],
  [
    "answers an error with an error",
    (_, socket) => {
      socket.write(bytesOf(end()));
      socket.on("data", () => socket.write(bytesOf(report(0))));
    },
    rtrErrors.corruptData,
    "unexpected",
  ],
  ["asks as routers do", (query, socket) => socket.write(encodePdu(query)), rtrErrors.corruptData, "unexpected reset-query PDU"],
  [
    "sends what is no RTR at all",
    (_, socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"),
    rtrErrors.unsupportedVersion,
    "version 72",
  ],
  ["ends the connection at once", (_, socket) => socket.destroy(), null, /closed the connection|ECONNRESET/],
];

/** Those that are found out by the clock alone. */
const isSilence = (reason: string | RegExp) => reason === "sent nothing for";
const isEndless = (reason: string | RegExp) => reason === "did not complete its response within";

function follow(caches: readonly ScriptedCache[], more: Partial<RtrClientOptions> = {}): RtrClient {
  const client = new RtrClient({
    caches: readCacheList(caches.map(({ url }) => url).join()) ?? [],
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    settings: { retryMsMin: 500, retryMsMax: 500, lingerMs: 200 },
    ...more,
  });
  stops.push(() => client.stop());
  client.start();
  return client;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const numbersOf = (client: RtrClient) => {
  const data = client.current();
  return data === null ? null : [...vrpsOf(data.records)].map(({ asn }) => asn);
};

test.each(hostile)("a cache that %s is left, with its reason, and the next one is used", async (_name, answer, code, reason) => {
  const bad = await startScriptedCache([vrp], answer);
  stops.push(() => bad.stop());
  const next = await startScriptedCache([good]);
  stops.push(() => next.stop());
  // One that is slow because the machine is must not be taken for the other.
  const session = { silenceMsMax: isSilence(reason) ? 1_000 : 60_000, answerMsMax: isEndless(reason) ? 1_500 : 60_000, recordsMax: 2_000 };
  const client = follow([bad, next], { session });
  await until(() => client.current() !== null);
  expect(numbersOf(client)).toEqual([2]);
  const error = typeof reason === "string" ? expect.stringContaining(reason) : expect.stringMatching(reason);
  expect(client.status()[0]).toMatchObject({ vrps: 0, error });
  const codes = () => bad.heard.flatMap((pdu) => (pdu.kind === "error-report" ? [pdu.code] : []));
  if (code !== null) await until(() => codes().length > 0);
  client.stop();
  await until(() => bad.open.size === 0);
  expect(new Set(codes())).toEqual(new Set(code === null ? [] : [code]));
});

test("a cache that is still sending gets the Error Report", async () => {
  const twice = Buffer.concat([bytesOf(response(), vrpPdu(vrp), vrpPdu(vrp)), Buffer.alloc(10_000_000, encodePdu(vrpPdu(good)))]);
  // It reads after it has sent everything, and does not after a failure.
  const cache = await startScriptedCache([vrp], (_, socket) => socket.pause().write(twice, (error) => error ?? socket.resume()));
  stops.push(() => cache.stop());
  const client = follow([cache], { settings: { retryMsMin: 600_000, retryMsMax: 600_000, lingerMs: 60_000 } });
  await until(() => client.status()[0]?.error !== null && cache.open.size === 0);
  expect(cache.heard.at(-1)).toMatchObject({ kind: "error-report", code: rtrErrors.duplicateAnnouncement });
});

test("what a cache told stays as it was through all that it does afterwards", async () => {
  for (const [name, answer, , reason] of hostile) {
    if (isSilence(reason) || isEndless(reason)) continue;
    const cache = await startScriptedCache([vrp]);
    stops.push(() => cache.stop());
    cache.sessionId = 7;
    const settings = { retryMsMin: 60_000, retryMsMax: 60_000 };
    const client = follow([cache], { settings, session: { recordsMax: 2_000, notifiedQueryMsMin: 0 } });
    await until(() => client.current() !== null);
    cache.answer = answer;
    cache.set([good], true);
    console.log(name);
    await until(() => client.status()[0]?.error !== null);
    expect([name, numbersOf(client)]).toEqual([name, [1]]);
    client.stop();
  }
});
