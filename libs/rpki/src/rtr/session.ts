/** The router's side of a session with one cache (RFC 8210 §8). Pure: it gets times and bytes, and returns actions. */

import { boundedIntervals, defaultIntervals } from "./intervals.ts";
import {
  type EndOfDataPdu,
  type ErrorReportPdu,
  type Pdu,
  type PrefixPdu,
  type RtrErrorCode,
  type RtrIntervals,
  type RtrVersion,
  rtrErrorName,
  rtrErrors,
  rtrVersionMax,
} from "./pdu.ts";
import { RtrDecoder, RtrPduError } from "./pdu-decoder.ts";
import { encodePdu, errorReport, resetQuery, serialQuery } from "./pdu-encoder.ts";
import { type RtrAction, type RtrFailure, type RtrSessionSettings, rtrSessionDefaults } from "./session-actions.ts";
import { VrpTable } from "./vrp-table.ts";

const supportedVersions = "0 and 1";

type Phase = "closed" | "asked" | "receiving" | "idle";

/**
 * One cache over any number of connections. Session id, serial and data outlive a connection, until the Expire Interval ends.
 *
 * Call `connected`, `received`, `disconnected`, and `elapsed` at the time `wakeAt`; each returns actions. Times are ms of a monotonic clock. Data
 * change only at End of Data, and never by a part of an answer.
 */
export class RtrSession {
  readonly table: VrpTable;
  readonly #settings: RtrSessionSettings;
  #phase: Phase = "closed";
  #decoder = new RtrDecoder();
  #version: RtrVersion = rtrVersionMax;
  /** Whether the version is agreed on this connection. */
  #isSettled = false;
  #refusedVersions = new Set<number>();
  #sessionId: number | null = null;
  #serial: number | null = null;
  /** Session of the answer that is being received. */
  #answerSession = 0;
  #asksAll = true;
  #intervals: RtrIntervals = defaultIntervals;
  #isSynchronised = false;
  #updatedAt: number | null = null;
  #routerKeys = 0;
  #answerRouterKeys = 0;
  /** Serial of a notify that came during an answer. */
  #notifiedSerial: number | null = null;
  #notifiesSince = 0;
  #notifies = 0;
  #askedAt = 0;
  #heardAt = 0;
  #askAt: number | null = null;

  constructor(settings: Partial<RtrSessionSettings> = {}) {
    this.#settings = { ...rtrSessionDefaults, ...settings };
    this.table = new VrpTable(this.#settings.recordsMax);
  }

  get version(): RtrVersion {
    return this.#version;
  }

  /** Null until the first End of Data, and after data were discarded. */
  get sessionId(): number | null {
    return this.#sessionId;
  }

  get serial(): number | null {
    return this.#serial;
  }

  get intervals(): RtrIntervals {
    return this.#intervals;
  }

  /** Number of router keys (BGPsec) of the cache: they are counted, not kept. */
  get routerKeys(): number {
    return this.#routerKeys;
  }

  /** Whether the connection is open and its last answer was complete. */
  get isSynchronised(): boolean {
    return this.#isSynchronised;
  }

  /** Time at which the data were last known to be current; null when there are none. */
  get updatedAt(): number | null {
    return this.#updatedAt;
  }

  /** Time at which the data must be discarded if nothing is received (RFC 8210 §6); null when there are none. */
  get expiresAt(): number | null {
    return this.#updatedAt === null ? null : this.#updatedAt + this.#intervals.expire * 1_000;
  }

  /** Time at which `elapsed` must be called; null: not before something else happens. */
  get wakeAt(): number | null {
    const { silenceMsMax, answerMsMax } = this.#settings;
    const times: number[] = [];
    if (this.expiresAt !== null) times.push(this.expiresAt);
    if (this.#owesAnswer) times.push(this.#heardAt + silenceMsMax, this.#askedAt + answerMsMax);
    if (this.#phase === "idle" && this.#askAt !== null) times.push(this.#askAt);
    return times.length === 0 ? null : Math.min(...times);
  }

  get #isClosed(): boolean {
    return this.#phase === "closed";
  }

  get #owesAnswer(): boolean {
    return this.#phase === "asked" || this.#phase === "receiving";
  }

  /** Call when a connection is open; returns the first query. */
  connected(now: number): RtrAction[] {
    // A cache may have learned a version since its data were discarded.
    if (this.#sessionId === null && this.#refusedVersions.size === 0) this.#version = rtrVersionMax;
    this.#decoder = new RtrDecoder(this.#version);
    this.#isSettled = false;
    this.#notifiedSerial = null;
    this.#notifies = 0;
    this.#notifiesSince = now;
    return [this.#ask(now)];
  }

  /** Call when the connection is closed. */
  disconnected(): void {
    this.table.rollback();
    this.#phase = "closed";
    this.#isSynchronised = false;
    this.#askAt = null;
  }

  /** Bytes from the cache, in pieces of any size. Everything after a `close` is ignored. */
  received(bytes: Uint8Array, now: number): RtrAction[] {
    const actions: RtrAction[] = [];
    if (this.#isClosed) return actions;
    this.#heardAt = now;
    this.#decoder.feed(bytes);
    try {
      for (let pdu = this.#decoder.next(); pdu !== null; pdu = this.#decoder.next()) {
        actions.push(...this.#take(pdu, now));
        if (this.#isClosed) return actions;
      }
    } catch (error) {
      if (!(error instanceof RtrPduError)) throw error;
      actions.push(...this.#fail(error.code, error.message, error.pdu, { report: error.mayReport }));
    }
    return actions;
  }

  /** Call at the time `wakeAt`. */
  elapsed(now: number): RtrAction[] {
    const actions: RtrAction[] = [];
    if (this.expiresAt !== null && now >= this.expiresAt) actions.push(...this.#expire());
    if (this.#isClosed) return actions;
    const { silenceMsMax, answerMsMax } = this.#settings;
    if (this.#owesAnswer && now >= this.#heardAt + silenceMsMax)
      actions.push(this.#close(`the cache sent nothing for ${silenceMsMax / 1_000} s, but a response is due`));
    else if (this.#owesAnswer && now >= this.#askedAt + answerMsMax)
      actions.push(this.#close(`the cache did not complete its response within ${answerMsMax / 1_000} s`));
    else if (this.#phase === "idle" && this.#askAt !== null && now >= this.#askAt) actions.push(this.#ask(now));
    return actions;
  }

  #ask(now: number): RtrAction {
    this.#phase = "asked";
    this.#askAt = null;
    this.#askedAt = now;
    this.#heardAt = now;
    this.#asksAll = this.#sessionId === null || this.#serial === null;
    const bytes =
      this.#sessionId === null || this.#serial === null
        ? resetQuery(this.#version)
        : serialQuery(this.#version, this.#sessionId, this.#serial);
    return { kind: "send", bytes };
  }

  #take(pdu: Pdu, now: number): RtrAction[] {
    // By far the most frequent PDU.
    if (pdu.kind === "prefix") return this.#takePrefix(pdu);
    switch (pdu.kind) {
      case "serial-notify":
        return this.#takeNotify(pdu.sessionId, pdu.serial, now, pdu);
      case "error-report":
        return this.#takeErrorReport(pdu, now);
      case "cache-response":
        return this.#takeCacheResponse(pdu.version as RtrVersion, pdu.sessionId, pdu);
      case "end-of-data":
        return this.#takeEndOfData(pdu, now);
      case "cache-reset":
        return this.#takeCacheReset(pdu.version as RtrVersion, now, pdu);
      case "router-key":
        if (this.#phase !== "receiving") return this.#unexpected(pdu);
        this.#answerRouterKeys += pdu.announce ? 1 : -1;
        return [];
      default:
        return this.#unexpected(pdu);
    }
  }

  #takePrefix(pdu: PrefixPdu): RtrAction[] {
    if (this.#phase !== "receiving") return this.#unexpected(pdu);
    switch (this.table.change(pdu.announce, pdu.prefix, pdu.maxLength, pdu.asn)) {
      case "applied":
        return [];
      case "duplicate":
        return this.#fail(rtrErrors.duplicateAnnouncement, "announced twice", encodePdu(pdu));
      case "unknown":
        return this.#fail(rtrErrors.withdrawalOfUnknown, "withdrawn without an announcement", encodePdu(pdu));
      case "full":
        return this.#fail(rtrErrors.internalError, `more than ${this.#settings.recordsMax} VRPs`, new Uint8Array());
    }
  }

  #takeNotify(sessionId: number, serial: number, now: number, pdu: Pdu): RtrAction[] {
    if (now >= this.#notifiesSince + 60_000) {
      this.#notifiesSince = now;
      this.#notifies = 0;
    }
    const { notifiesMax, notifiedQueryMsMin } = this.#settings;
    if (++this.#notifies > notifiesMax) return [this.#close(`the cache sent more than ${notifiesMax} Serial Notifies within a minute`)];
    // While the version is being negotiated, notifies are ignored (RFC 8210 §7).
    if (!this.#isSettled) return [];
    // A query for everything accepts whatever session the cache has now: after a Cache Reset or No Data Available, the previous one is over.
    const asked = this.#serial === null ? null : this.#sessionId;
    const current = this.#phase === "receiving" ? this.#answerSession : asked;
    if (current !== null && sessionId !== current) return this.#otherSession(current, sessionId, pdu);
    if (serial === this.#serial) return [];
    if (this.#phase !== "idle") {
      this.#notifiedSerial = serial;
      return [];
    }
    if (now >= this.#askedAt + notifiedQueryMsMin) return [this.#ask(now)];
    this.#askAt = Math.min(this.#askAt ?? Number.POSITIVE_INFINITY, this.#askedAt + notifiedQueryMsMin);
    return [];
  }

  #takeCacheResponse(version: RtrVersion, sessionId: number, pdu: Pdu): RtrAction[] {
    if (this.#phase !== "asked") return this.#unexpected(pdu);
    if (!this.#asksAll && version !== this.#version) return this.#otherVersionOfSession(version);
    const actions = this.#settle(version);
    if (!this.#asksAll && sessionId !== this.#sessionId) return [...actions, ...this.#otherSession(this.#sessionId ?? 0, sessionId, pdu)];
    this.#phase = "receiving";
    this.#answerSession = sessionId;
    this.#answerRouterKeys = this.#asksAll ? 0 : this.#routerKeys;
    this.table.begin(this.#asksAll);
    return actions;
  }

  #takeCacheReset(version: RtrVersion, now: number, pdu: Pdu): RtrAction[] {
    if (this.#phase !== "asked" || this.#asksAll) return this.#unexpected(pdu);
    const actions = this.#settle(version);
    this.#forgetSerial();
    return [...actions, this.#ask(now)];
  }

  #takeEndOfData(pdu: EndOfDataPdu, now: number): RtrAction[] {
    if (this.#phase !== "receiving") return this.#unexpected(pdu);
    if (pdu.sessionId !== this.#answerSession) return this.#otherSession(this.#answerSession, pdu.sessionId, pdu);
    const actions: RtrAction[] = [];
    if (this.#notifiedSerial === pdu.serial) this.#notifiedSerial = null;
    const { intervals, changed } = boundedIntervals(pdu.intervals ?? defaultIntervals);
    if (changed.length > 0 && !sameIntervals(intervals, this.#intervals))
      actions.push({ kind: "note", message: `the cache sent intervals out of bounds: ${changed.join(", ")}` });
    // Handled like No Data Available: a cache may answer before its first validation, and others may have data.
    if (this.table.sizeAfter === 0) {
      const failure: RtrFailure = { code: null, reportedBy: null, message: "the cache has no VRPs" };
      return [...actions, this.#noData(failure, now)];
    }
    const delta = this.table.commit();
    this.#intervals = intervals;
    this.#sessionId = pdu.sessionId;
    this.#serial = pdu.serial;
    this.#routerKeys = Math.max(0, this.#answerRouterKeys);
    this.#refusedVersions.clear();
    this.#phase = "idle";
    this.#isSynchronised = true;
    this.#updatedAt = now;
    this.#askAgain(intervals.refresh, now);
    actions.push({ kind: "updated", all: this.#asksAll, ...delta });
    return actions;
  }

  #takeErrorReport(pdu: ErrorReportPdu, now: number): RtrAction[] {
    const failure: RtrFailure = {
      code: pdu.code,
      reportedBy: "cache",
      message: `the cache reports ${rtrErrorName(pdu.code)}${pdu.text === "" ? "" : `: ${printable(pdu.text)}`}`,
    };
    if (pdu.code === rtrErrors.noDataAvailable && this.#owesAnswer) {
      // The cache lost its state (RFC 8210 §8.4): it is asked for everything from here on. Its next notify says that it has data.
      this.#forgetSerial();
      const actions = this.#isSettled || pdu.version !== this.#version ? [] : this.#settle(this.#version);
      return [...actions, this.#noData(failure, now)];
    }
    if (pdu.code === rtrErrors.unsupportedVersion && !this.#isSettled) return this.#otherVersion(pdu.version, failure);
    // The cache may have refused the session in our query: the next connection asks for everything.
    this.#forgetSerial();
    return [this.#end(failure)];
  }

  /** The data are kept until they expire; the cache is asked again. */
  #noData(failure: RtrFailure, now: number): RtrAction {
    this.table.rollback();
    this.#phase = "idle";
    this.#isSynchronised = false;
    this.#askAgain(this.#intervals.retry, now);
    return { kind: "no-data", failure };
  }

  /** After so many seconds, or soon if a notify during the answer came too late to be part of it. */
  #askAgain(seconds: number, now: number): void {
    const soon =
      this.#notifiedSerial === null ? Number.POSITIVE_INFINITY : Math.max(now, this.#askedAt + this.#settings.notifiedQueryMsMin);
    this.#askAt = Math.min(now + seconds * 1_000, soon);
    this.#notifiedSerial = null;
  }

  /** The cache does not support the requested version: the highest of our versions that it may support is tried at once, each only once. */
  #otherVersion(spoken: number, failure: RtrFailure): RtrAction[] {
    this.#refusedVersions.add(this.#version);
    const next = spoken < this.#version ? (spoken as RtrVersion) : spoken > this.#version ? rtrVersionMax : 0;
    this.#forgetSerial();
    if (this.#refusedVersions.has(next)) {
      this.#refusedVersions.clear();
      return [this.#end({ ...failure, message: `${failure.message}; its version is ${spoken}, supported here: ${supportedVersions}` })];
    }
    const note: RtrAction = { kind: "note", message: `the cache does not support version ${this.#version}; trying version ${next}` };
    this.#version = next;
    return [note, this.#end(failure, true)];
  }

  /** The cache answers: if it uses a lower version than requested, that version is used (RFC 8210 §7). */
  #settle(version: RtrVersion): RtrAction[] {
    this.#isSettled = true;
    this.#decoder.settleVersion(version);
    if (version === this.#version) return [];
    const note: RtrAction = { kind: "note", message: `the cache responded with version ${version}; ${this.#version} was requested` };
    this.#version = version;
    return [note];
  }

  /** A session has one version (RFC 8210 §5.1): changes of one do not apply to another, so everything is requested again. */
  #otherVersionOfSession(version: RtrVersion): RtrAction[] {
    const message = `the cache responded with version ${version} to a session of version ${this.#version}`;
    this.#version = version;
    this.#forgetSerial();
    return [this.#end({ code: null, reportedBy: null, message }, true)];
  }

  /** RFC 8210 §5.1: the connection ends, and all data of the cache are discarded. */
  #otherSession(expected: number, found: number, pdu: Pdu): RtrAction[] {
    const reason = `a PDU of session ${found} in session ${expected}`;
    const actions = this.#fail(rtrErrors.corruptData, reason, encodePdu(pdu));
    return [...actions, ...this.#discard("the cache changed its session without starting over")];
  }

  #unexpected(pdu: Pdu): RtrAction[] {
    return this.#fail(rtrErrors.corruptData, `unexpected ${pdu.kind} PDU`, encodePdu(pdu));
  }

  #fail(code: RtrErrorCode, reason: string, pdu: Uint8Array, { report = true } = {}): RtrAction[] {
    const message = `${rtrErrorName(code)}: ${reason}`;
    this.#forgetSerial();
    if (!report) return [this.#end({ code: null, reportedBy: null, message })];
    const send: RtrAction = { kind: "send", bytes: errorReport(this.#version, code, pdu, reason) };
    return [send, this.#end({ code, reportedBy: "us", message })];
  }

  #close(message: string): RtrAction {
    return this.#end({ code: null, reportedBy: null, message });
  }

  #end(failure: RtrFailure, again = false): RtrAction {
    this.disconnected();
    return { kind: "close", failure, again };
  }

  /** The next query asks for everything; the data are kept until it is answered, or until they expire. */
  #forgetSerial(): void {
    this.#serial = null;
  }

  #expire(): RtrAction[] {
    const actions: RtrAction[] = [];
    // The changes that are being received apply to the data that are discarded now.
    if (this.#owesAnswer && !this.#asksAll) actions.push(this.#close("the data expired before the cache sent changes"));
    return [...actions, ...this.#discard(`the cache sent nothing for the Expire Interval of ${this.#intervals.expire} s`)];
  }

  #discard(reason: string): RtrAction[] {
    this.#sessionId = null;
    this.#serial = null;
    this.#isSynchronised = false;
    if (this.#updatedAt === null) return [];
    this.#updatedAt = null;
    this.table.discard();
    return [{ kind: "discarded", reason }];
  }
}

function sameIntervals(a: RtrIntervals, b: RtrIntervals): boolean {
  return a.refresh === b.refresh && a.retry === b.retry && a.expire === b.expire;
}

/** A text from the cache as one short line for a log. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\x00-\x1f\x7f-\x9f]+/g, " ").slice(0, 200);
}
