/** The session with one cache, told of time and bytes by hand. */

import { expect, test } from "@jest/globals";
import { formatPrefix, parsePrefix } from "@netfacts/address";
import {
  encodePdu,
  type Pdu,
  type RtrAction,
  RtrDecoder,
  RtrSession,
  type RtrSessionSettings,
  rtrErrors,
  rtrSessionDefaults,
  vrpsOf,
} from "../../src/rtr/index.ts";

const second = 1_000;
const intervals = { refresh: 3_600, retry: 600, expire: 7_200 };

type Shape<K extends Pdu["kind"]> = Partial<Extract<Pdu, { kind: K }>>;
const response = (sessionId = 7, version = 1): Pdu => ({ kind: "cache-response", version, sessionId });
const reset = (version = 1): Pdu => ({ kind: "cache-reset", version });
const notify = (serial: number, sessionId = 7, version = 1): Pdu => ({ kind: "serial-notify", version, sessionId, serial });
const end = (serial: number, more: Shape<"end-of-data"> = {}): Pdu => ({
  kind: "end-of-data",
  version: 1,
  sessionId: 7,
  serial,
  intervals,
  ...more,
});
const report = (code: number, more: Shape<"error-report"> = {}): Pdu => ({
  kind: "error-report",
  version: 1,
  code,
  pdu: new Uint8Array(),
  text: "",
  ...more,
});
const vrp = (text: string, asn: number, announce = true, version = 1): Pdu => {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(text);
  return { kind: "prefix", version, announce, prefix: reading.prefix, maxLength: reading.prefix.length, asn };
};

/** A session whose clock is ours; what it sends is decoded, what it says is kept. */
function begin(settings: Partial<RtrSessionSettings> = {}) {
  const session = new RtrSession(settings);
  const at = { now: 1_000_000 };
  const told = (actions: readonly RtrAction[]) =>
    actions.map((action) => {
      if (action.kind !== "send") return action;
      const decoder = new RtrDecoder(1);
      decoder.feed(action.bytes);
      return { kind: "send", pdu: decoder.next() };
    });
  return {
    session,
    connect: () => told(session.connected(at.now)),
    hear: (...pdus: Pdu[]) => told(session.received(Buffer.concat(pdus.map(encodePdu)), at.now)),
    hearBytes: (bytes: Uint8Array) => told(session.received(bytes, at.now)),
    /** Moves the clock and wakes the session as often as it asked for. */
    pass(ms: number) {
      const until = at.now + ms;
      const actions: RtrAction[] = [];
      while (session.wakeAt !== null && session.wakeAt <= until) {
        at.now = Math.max(at.now, session.wakeAt);
        actions.push(...session.elapsed(at.now));
      }
      at.now = until;
      return told(actions);
    },
    content: () => [...vrpsOf(session.table.records())].map(({ prefix, asn }) => `${formatPrefix(prefix)} ${asn}`).sort(),
  };
}

/** A session that has one VRP at serial 1. */
function synchronised(settings: Partial<RtrSessionSettings> = {}) {
  const rtr = begin(settings);
  rtr.connect();
  rtr.hear(response(), vrp("192.0.2.0/24", 1), end(1));
  return rtr;
}

const sent = (pdu: object) => expect.objectContaining({ kind: "send", pdu: expect.objectContaining(pdu) });
const closed = (failure: object, again = false) => ({ kind: "close", again, failure: expect.objectContaining(failure) });

test("asks for everything first, then for changes, and applies each answer at its End of Data", () => {
  const rtr = begin();
  expect(rtr.connect()).toEqual([sent({ kind: "reset-query", version: 1 })]);
  expect(rtr.hear(response(), vrp("192.0.2.0/24", 1), vrp("2001:db8::/32", 2))).toEqual([]);
  expect(rtr.content()).toEqual([]);
  expect(rtr.hear(end(41))).toEqual([{ kind: "updated", all: true, added: 2, withdrawn: 0 }]);
  expect(rtr.content()).toEqual(["192.0.2.0/24 1", "2001:db8::/32 2"]);

  expect(rtr.pass(3_600 * second)).toEqual([sent({ kind: "serial-query", sessionId: 7, serial: 41 })]);
  expect(rtr.hear(response(), vrp("192.0.2.0/24", 1, false), vrp("198.51.100.0/24", 3))).toEqual([]);
  expect(rtr.content()).toEqual(["192.0.2.0/24 1", "2001:db8::/32 2"]);
  expect(rtr.hear(end(42))).toEqual([{ kind: "updated", all: false, added: 1, withdrawn: 1 }]);
  expect(rtr.content()).toEqual(["198.51.100.0/24 3", "2001:db8::/32 2"]);
  expect([rtr.session.serial, rtr.session.sessionId]).toEqual([42, 7]);
});

test("reads an answer that comes byte by byte", () => {
  const rtr = begin();
  rtr.connect();
  const bytes = Buffer.concat([response(), vrp("192.0.2.0/24", 1), end(1)].map(encodePdu));
  const actions = Array.from(bytes, (byte) => rtr.hearBytes(Uint8Array.of(byte))).flat();
  expect(actions).toEqual([{ kind: "updated", all: true, added: 1, withdrawn: 0 }]);
});

test("asks for changes over a new connection, and for everything when the cache cannot tell them", () => {
  const rtr = synchronised();
  rtr.session.disconnected();
  expect(rtr.session.isSynchronised).toBe(false);
  expect(rtr.connect()).toEqual([sent({ kind: "serial-query", sessionId: 7, serial: 1 })]);
  expect(rtr.hear(reset())).toEqual([sent({ kind: "reset-query" })]);
  expect(rtr.content()).toEqual(["192.0.2.0/24 1"]);
  expect(rtr.hear(response(9), vrp("203.0.113.0/24", 4), end(1, { sessionId: 9 }))).toEqual([
    { kind: "updated", all: true, added: 1, withdrawn: 1 },
  ]);
  expect(rtr.session.sessionId).toBe(9);
});

test("keeps its data when a restarted cache notifies of its new session before it answers the question for everything", () => {
  const rtr = synchronised();
  rtr.session.disconnected();
  rtr.connect();
  expect(rtr.hear(reset(), notify(2, 9))).toEqual([sent({ kind: "reset-query" })]);
  expect(rtr.content()).toEqual(["192.0.2.0/24 1"]);
  expect(rtr.hear(response(9), vrp("203.0.113.0/24", 4), end(2, { sessionId: 9 }))).toEqual([
    { kind: "updated", all: true, added: 1, withdrawn: 1 },
  ]);
});

test("forgets what it heard of an answer whose connection broke", () => {
  const rtr = synchronised();
  rtr.pass(3_600 * second);
  rtr.hear(response(), vrp("192.0.2.0/24", 1, false));
  rtr.session.disconnected();
  expect(rtr.connect()).toEqual([sent({ kind: "serial-query", serial: 1 })]);
  const changes = [vrp("192.0.2.0/24", 1, false), vrp("192.0.2.0/24", 2)];
  expect(rtr.hear(response(), ...changes, end(2))).toEqual([{ kind: "updated", all: false, added: 1, withdrawn: 1 }]);
});

test("asks at once when it is notified, but not more often than every few seconds, and not for a serial that it has", () => {
  const rtr = synchronised({ notifiedQueryMsMin: 5_000 });
  rtr.pass(60 * second);
  expect(rtr.hear(notify(1))).toEqual([]);
  expect(rtr.hear(notify(2))).toEqual([sent({ kind: "serial-query", serial: 1 })]);
  expect(rtr.hear(notify(3))).toEqual([]);
  expect(rtr.hear(response(), end(2))).toEqual([{ kind: "updated", all: false, added: 0, withdrawn: 0 }]);
  expect(rtr.pass(4 * second)).toEqual([]);
  expect(rtr.pass(1 * second)).toEqual([sent({ kind: "serial-query", serial: 2 })]);
  rtr.hear(response(), end(3));
  expect(rtr.hear(notify(4))).toEqual([]);
  expect(rtr.pass(5 * second)).toEqual([sent({ kind: "serial-query", serial: 3 })]);
});

test("does not ask again for what was notified during an answer that has it", () => {
  const rtr = begin();
  rtr.connect();
  rtr.hear(response(), vrp("192.0.2.0/24", 1), notify(5), end(5));
  expect(rtr.pass(600 * second)).toEqual([]);
});

test("ignores a notify while the version is negotiated, of whatever version and session", () => {
  const rtr = synchronised();
  rtr.session.disconnected();
  rtr.connect();
  expect(rtr.hear(notify(9, 77, 2), notify(9, 78, 0))).toEqual([]);
  expect(rtr.hear(response(), end(2))).toEqual([{ kind: "updated", all: false, added: 0, withdrawn: 0 }]);
});

test("cuts off a cache that sends more notifies in a minute than its bound", () => {
  const rtr = synchronised();
  const storm = Array.from({ length: rtrSessionDefaults.notifiesMax + 1 }, () => notify(1));
  expect(rtr.hear(...storm)).toEqual([closed({ code: null, message: "the cache sent more than 100 Serial Notifies within a minute" })]);
  expect(rtr.content()).toEqual(["192.0.2.0/24 1"]);
  // A notify a minute is what a cache may send.
  const calm = synchronised();
  for (let minute = 0; minute < 55; minute++) {
    calm.pass(60 * second);
    expect(calm.hear(notify(1))).toEqual([]);
  }
});

test("takes what a version 0 cache answers, with the default intervals", () => {
  const rtr = begin();
  rtr.connect();
  const actions = rtr.hear(response(7, 0), vrp("192.0.2.0/24", 1, true, 0), end(1, { version: 0, intervals: null }));
  expect(actions).toEqual([
    { kind: "note", message: "the cache responded with version 0; 1 was requested" },
    { kind: "updated", all: true, added: 1, withdrawn: 0 },
  ]);
  expect(rtr.session.intervals).toEqual({ refresh: 3_600, retry: 600, expire: 7_200 });
  expect(rtr.pass(3_600 * second)).toEqual([sent({ kind: "serial-query", version: 0 })]);
  rtr.session.disconnected();
  expect(rtr.connect()).toEqual([sent({ kind: "serial-query", version: 0, serial: 1 })]);
});

test("connects again with version 0 at once when the cache reports that it does not speak 1, and not a third time", () => {
  const rtr = begin();
  rtr.connect();
  expect(rtr.hear(report(rtrErrors.unsupportedVersion, { version: 0 }))).toEqual([
    { kind: "note", message: "the cache does not support version 1; trying version 0" },
    closed({ code: 4, reportedBy: "cache" }, true),
  ]);
  expect(rtr.connect()).toEqual([sent({ kind: "reset-query", version: 0 })]);
  expect(rtr.hear(report(rtrErrors.unsupportedVersion, { version: 0 }))).toEqual([closed({ code: 4 }, false)]);
  // Later all begins anew.
  expect(rtr.connect()).toEqual([sent({ kind: "reset-query", version: 1 })]);
});

test("names the versions when a cache has none of them", () => {
  const rtr = begin();
  rtr.connect();
  const message = "the cache reports Unsupported Protocol Version; its version is 2, supported here: 0 and 1";
  expect(rtr.hear(report(rtrErrors.unsupportedVersion, { version: 2 }))).toEqual([closed({ code: 4, message }, false)]);
});

test("goes up again when a cache no longer speaks 0", () => {
  const rtr = begin();
  rtr.connect();
  rtr.hear(response(7, 0), vrp("192.0.2.0/24", 1, true, 0), end(1, { version: 0, intervals: null }));
  rtr.session.disconnected();
  rtr.connect();
  expect(rtr.hear(report(rtrErrors.unsupportedVersion)).at(-1)).toEqual(closed({ code: 4 }, true));
  expect(rtr.connect()).toEqual([sent({ kind: "reset-query", version: 1 })]);
});

test("reports another version in the middle of a session with code 8, and one above its own with 4", () => {
  const rtr = synchronised();
  expect(rtr.hear(notify(2, 7, 0))).toEqual([sent({ kind: "error-report", code: 8 }), closed({ code: 8, reportedBy: "us" })]);
  expect(rtr.connect()).toEqual([sent({ kind: "reset-query" })]);
  expect(rtr.hear(response(7, 2))).toEqual([sent({ kind: "error-report", code: 4 }), closed({ code: 4, reportedBy: "us" })]);
});

test("does not take changes of one version for a session of another", () => {
  const rtr = synchronised();
  rtr.session.disconnected();
  rtr.connect();
  expect(rtr.hear(response(7, 0))).toEqual([closed({ message: "the cache responded with version 0 to a session of version 1" }, true)]);
  expect(rtr.connect()).toEqual([sent({ kind: "reset-query", version: 0 })]);
});

test.each([
  ["in the answer to changes", [response(8)]],
  ["at the end of an answer", [response(7), end(2, { sessionId: 8 })]],
])("gives up all data when the session changes %s (RFC 8210 §5.1)", (_, pdus) => {
  const rtr = synchronised();
  rtr.pass(3_600 * second);
  expect(rtr.hear(...pdus)).toEqual([
    sent({ kind: "error-report", code: 0 }),
    closed({ code: 0, reportedBy: "us", message: "Corrupt Data: a PDU of session 8 in session 7" }),
    { kind: "discarded", reason: "the cache changed its session without starting over" },
  ]);
  expect(rtr.content()).toEqual([]);
  expect(rtr.connect()).toEqual([sent({ kind: "reset-query" })]);
});

test("gives up all data when a notify is of another session", () => {
  const rtr = synchronised();
  expect(rtr.hear(notify(2, 8)).map(({ kind }) => kind)).toEqual(["send", "close", "discarded"]);
});

test.each([
  ["a second announcement", vrp("192.0.2.0/24", 1), rtrErrors.duplicateAnnouncement],
  ["a withdrawal of what is not there", vrp("192.0.2.0/24", 2, false), rtrErrors.withdrawalOfUnknown],
])("reports %s by its code, keeps what it had, and asks for everything", (_, pdu, code) => {
  const rtr = synchronised();
  rtr.pass(3_600 * second);
  expect(rtr.hear(response(), vrp("198.51.100.0/24", 9), pdu, end(2))).toEqual([
    sent({ kind: "error-report", code, pdu: Uint8Array.from(encodePdu(pdu)) }),
    closed({ code, reportedBy: "us" }),
  ]);
  expect(rtr.content()).toEqual(["192.0.2.0/24 1"]);
  expect(rtr.connect()).toEqual([sent({ kind: "reset-query" })]);
});

test.each([
  ["a prefix outside of an answer", [vrp("192.0.2.0/24", 1)]],
  ["End of Data outside of an answer", [end(2)]],
  ["an answer that nobody asked for", [response()]],
  ["a reset that nobody asked for", [reset()]],
  ["a query", [{ kind: "reset-query", version: 1 } as Pdu]],
])("ends the session for %s", (_, pdus) => {
  const rtr = synchronised();
  expect(rtr.hear(...pdus)).toEqual([sent({ kind: "error-report", code: 0 }), closed({ code: 0 })]);
  expect(rtr.content()).toEqual(["192.0.2.0/24 1"]);
});

test("ends the session for a reset in answer to the question for everything", () => {
  const rtr = begin();
  rtr.connect();
  expect(rtr.hear(reset())).toEqual([sent({ kind: "error-report", code: 0 }), closed({ code: 0 })]);
});

test("never answers an Error Report, not even a broken one", () => {
  for (const code of [0, 1, 3, 5, 6, 7, 8, 9, 65_535]) {
    const rtr = synchronised();
    expect(rtr.hear(report(code, { text: "no\nway" }))).toEqual([
      closed({ code, reportedBy: "cache", message: expect.stringContaining("no way") }),
    ]);
  }
  const broken = encodePdu(report(3));
  broken.writeUInt32BE(99, 8);
  expect(synchronised().hearBytes(broken)).toEqual([closed({ code: null, reportedBy: null })]);
});

test("waits for the Retry Interval when the cache has no data yet, over the same connection", () => {
  const rtr = begin();
  rtr.connect();
  expect(rtr.hear(report(rtrErrors.noDataAvailable))).toEqual([{ kind: "no-data", failure: expect.objectContaining({ code: 2 }) }]);
  expect(rtr.pass(599 * second)).toEqual([]);
  expect(rtr.pass(1 * second)).toEqual([sent({ kind: "reset-query" })]);
  // An empty set is no more than that.
  expect(rtr.hear(response(), end(1))).toEqual([
    { kind: "no-data", failure: expect.objectContaining({ message: "the cache has no VRPs" }) },
  ]);
  expect(rtr.pass(600 * second)).toEqual([sent({ kind: "reset-query" })]);
  expect(rtr.hear(response(), vrp("192.0.2.0/24", 1), end(1))).toEqual([{ kind: "updated", all: true, added: 1, withdrawn: 0 }]);
});

test("asks a cache that lost its data for everything, as soon as it notifies, and keeps what it had until then", () => {
  const rtr = synchronised();
  rtr.session.disconnected();
  expect(rtr.connect()).toEqual([sent({ kind: "serial-query", serial: 1 })]);
  rtr.hear(report(rtrErrors.noDataAvailable));
  expect(rtr.pass(600 * second)).toEqual([sent({ kind: "reset-query" })]);
  rtr.hear(report(rtrErrors.noDataAvailable));
  rtr.pass(60 * second);
  expect(rtr.hear(notify(1, 9))).toEqual([sent({ kind: "reset-query" })]);
  expect(rtr.content()).toEqual(["192.0.2.0/24 1"]);
  expect(rtr.hear(response(9), vrp("203.0.113.0/24", 4), end(1, { sessionId: 9 }))).toEqual([
    { kind: "updated", all: true, added: 1, withdrawn: 1 },
  ]);
});

test("hears the first notify of a cache that had no data when it was asked", () => {
  const rtr = begin();
  rtr.connect();
  rtr.hear(report(rtrErrors.noDataAvailable));
  expect(rtr.hear(notify(1))).toEqual([]);
  expect(rtr.pass(1 * second)).toEqual([sent({ kind: "reset-query" })]);
});

test.each([
  ["all of it again", [reset()], [response(8), end(1, { sessionId: 8 })]],
  ["changes", [], [response(), vrp("192.0.2.0/24", 1, false), end(2)]],
])("an empty set in the place of data, told as %s, lets them expire, and is not synchronised", (_what, first, answer) => {
  const rtr = synchronised();
  rtr.pass(3_600 * second);
  rtr.hear(...first);
  expect(rtr.hear(...answer)).toEqual([{ kind: "no-data", failure: expect.objectContaining({ message: "the cache has no VRPs" }) }]);
  expect([rtr.session.isSynchronised, rtr.content()]).toEqual([false, ["192.0.2.0/24 1"]]);
  const later = Array.from({ length: 6 }, () => [...rtr.pass(600 * second), ...rtr.hear(...first), ...rtr.hear(...answer)]).flat();
  expect(later.filter(({ kind }) => kind === "discarded")).toHaveLength(1);
  expect(rtr.content()).toEqual([]);
});

test("asks at once for what was notified during an empty answer, unless the answer has it", () => {
  const rtr = begin();
  rtr.connect();
  rtr.hear(response(), notify(2), end(1));
  expect(rtr.pass(1 * second)).toEqual([sent({ kind: "reset-query" })]);
  rtr.hear(response(), notify(3), end(3));
  expect(rtr.pass(599 * second)).toEqual([]);
});

test("keeps data whose cache has the Expire Interval below the Refresh Interval, also if an answer takes some seconds", () => {
  const rtr = begin();
  rtr.connect();
  const contradiction = { refresh: 3_600, retry: 600, expire: 600 };
  rtr.hear(response(), vrp("192.0.2.0/24", 1), end(1, { intervals: contradiction }));
  for (let answers = 0; answers < 3; answers++) {
    expect(rtr.pass(rtr.session.intervals.refresh * second)).toEqual([sent({ kind: "serial-query" })]);
    expect(rtr.pass(5 * second)).toEqual([]);
    expect(rtr.hear(response(), end(1, { intervals: contradiction }))).toEqual([{ kind: "updated", all: false, added: 0, withdrawn: 0 }]);
  }
  expect(rtr.content()).toEqual(["192.0.2.0/24 1"]);
});

test("gives up a cache that is silent while it owes an answer, or that never ends one", () => {
  const silent = begin();
  silent.connect();
  silent.hearBytes(encodePdu(response()).subarray(0, 5));
  expect(silent.pass(30 * second)).toEqual([closed({ message: "the cache sent nothing for 30 s, but a response is due" })]);

  const dripping = begin();
  dripping.connect();
  dripping.hear(response());
  const actions = Array.from({ length: 40 }, (_, at) => {
    const passed = dripping.pass(10 * second);
    return passed.length > 0 ? passed : dripping.hear(vrp(`192.0.2.${at}/32`, 1));
  }).flat();
  expect(actions).toEqual([closed({ message: "the cache did not complete its response within 300 s" })]);
  expect(dripping.content()).toEqual([]);
});

test("gives up all data when nothing was heard for the Expire Interval, and asks for everything again", () => {
  const rtr = synchronised();
  rtr.session.disconnected();
  expect(rtr.pass(7_199 * second)).toEqual([]);
  expect(rtr.content()).toEqual(["192.0.2.0/24 1"]);
  expect(rtr.pass(1 * second)).toEqual([{ kind: "discarded", reason: "the cache sent nothing for the Expire Interval of 7200 s" }]);
  expect([rtr.content(), rtr.session.expiresAt]).toEqual([[], null]);
  expect(rtr.connect()).toEqual([sent({ kind: "reset-query" })]);
  rtr.hear(response(), vrp("192.0.2.0/24", 1), end(3));
  expect(rtr.content()).toEqual(["192.0.2.0/24 1"]);
});

test("does not apply changes to data that expired while they came", () => {
  const rtr = synchronised({ silenceMsMax: 1e9, answerMsMax: 1e9 });
  rtr.pass(3_600 * second);
  rtr.hear(response(), vrp("198.51.100.0/24", 2));
  expect(rtr.pass(3_600 * second).map(({ kind }) => kind)).toEqual(["close", "discarded"]);
  expect(rtr.content()).toEqual([]);
});

test("keeps intervals within their bounds, and refresh and retry below expire", () => {
  const rtr = begin();
  rtr.connect();
  const actions = rtr.hear(response(), vrp("192.0.2.0/24", 1), end(1, { intervals: { refresh: 0, retry: 9_000, expire: 5 } }));
  expect(rtr.session.intervals).toEqual({ refresh: 1, retry: 300, expire: 600 });
  expect(actions[0]).toEqual({
    kind: "note",
    message:
      "the cache sent intervals out of bounds: refresh 0 s changed to 1 s, retry 9000 s changed to 300 s, expire 5 s changed to 600 s",
  });
  expect(rtr.pass(1 * second)).toEqual([sent({ kind: "serial-query" })]);
  // Told once, not at each answer.
  expect(rtr.hear(response(), end(1, { intervals: { refresh: 0, retry: 9_000, expire: 5 } }))).toHaveLength(1);
});

test("counts router keys and uses none", () => {
  const rtr = begin();
  rtr.connect();
  const key = (announce: boolean, asn: number): Pdu => ({
    kind: "router-key",
    version: 1,
    announce,
    ski: new Uint8Array(20),
    asn,
    key: new Uint8Array(91),
  });
  rtr.hear(response(), vrp("192.0.2.0/24", 1), key(true, 1), key(true, 2), end(1));
  expect(rtr.session.routerKeys).toBe(2);
  rtr.pass(3_600 * second);
  rtr.hear(response(), key(false, 1));
  expect(rtr.session.routerKeys).toBe(2);
  rtr.hear(end(2));
  expect([rtr.session.routerKeys, rtr.content()]).toEqual([1, ["192.0.2.0/24 1"]]);
});

test("refuses more VRPs than its bound", () => {
  const rtr = begin({ recordsMax: 2 });
  rtr.connect();
  expect(rtr.hear(response(), vrp("10.0.0.0/8", 1), vrp("10.0.0.0/8", 2), vrp("10.0.0.0/8", 3))).toEqual([
    sent({ kind: "error-report", code: 1, pdu: new Uint8Array() }),
    closed({ code: 1, message: "Internal Error: more than 2 VRPs" }),
  ]);
});

test("looks at nothing that comes after the end of a session", () => {
  const rtr = synchronised();
  expect(rtr.hear(report(1), response(), end(9))).toEqual([closed({ code: 1 })]);
  expect(rtr.hear(response(), end(9))).toEqual([]);
});
