/** One nameserver: its channel, its TCP connections, and whether it answers at all. */

import { setTimeout as sleep } from "node:timers/promises";
import type { NameserverAddress } from "../domain/nameservers.ts";
import type { Channel, OpenQuestion, QuestionListener } from "./channel.ts";
import { CookieJar, type CookieVerdict } from "./cookie-jar.ts";
import type { DnsCounts } from "./counts.ts";
import { type Answer, type QuestionMessage, rcodes, readAnswer, sendable, writeQuestion } from "./message.ts";
import { askOverTcp, TcpExchangeError } from "./tcp-exchange.ts";
import { TlsChannel } from "./tls-channel.ts";
import { UdpChannel } from "./udp-channel.ts";

/** Connections at a time: answers that do not fit into a datagram are rare, and a nameserver that cuts all of them must not open thousands. */
const tcpConnectionsMax = 64;

/** What a resolver answers from its own knowledge (RFC 6303): whether it is there, not whether the rest of the DNS is. */
const probeName = "1.0.0.127.in-addr.arpa";

/** A nameserver may be configured anew without ever being down. */
const validationCheckMs = 600_000;

/** After so many probe intervals the check is repeated where its answer was lost, late or a failure. */
const validationRetryProbes = 10;

/** A handshake takes several ways there and back. */
const tlsConnectMs = 2_000;

/** Weight of the newest measurement, and of the newest outcome. */
const latencyWeight = 0.3;
const failureWeight = 0.1;

/** How long a nameserver that does not echo the case of names is asked in plain case: it may be replaced by another without ever being down. */
const plainCaseMs = 600_000;

export interface NameserverOptions {
  readonly address: NameserverAddress;
  readonly sockets: number;
  /** Unanswered probes in a row after which it is taken to be down. */
  readonly silentProbesMax: number;
  /** Between probes, and how long each waits for its answer. */
  readonly probeIntervalMs: number;
  readonly randomCase: boolean;
  readonly cookies: boolean;
  /** PEM certificates of the authorities that nameservers with TLS are believed by; undefined: those of Node. */
  readonly tlsAuthorities: string | undefined;
  readonly counts: DnsCounts;
  /** Told after each probe that a nameserver which is down has not answered. */
  readonly onStillDown: () => void;
}

/**
 * It is down when it is unreachable, or when `silentProbesMax` probes in a row are unanswered; probes bring it back. An unanswered question
 * only makes it be probed: a name may be slow although its resolver is there.
 */
export class Nameserver {
  readonly address: NameserverAddress;
  readonly #options: NameserverOptions;
  readonly #channel: Channel;
  readonly #stopping = new AbortController();
  readonly #probe = writeQuestion(probeName, { edns: false });
  /** The root is signed: who validates says so about it. */
  readonly #root = writeQuestion(".", { edns: true, type: "SOA" });
  #validates = false;
  #validationDueAt = Number.NEGATIVE_INFINITY;
  #checkingValidation: Promise<void> | null = null;
  /** The last check said nothing: the next ones are made in the background, and nobody waits for them. */
  #recheck: NodeJS.Timeout | undefined;
  /** Null until it is known. */
  #up: boolean | null = null;
  #tcpConnections = 0;
  /** Those that wait for a place among the connections, in their order. */
  readonly #tcpWaiting = new Set<() => void>();
  readonly #cookies = new CookieJar();
  #plainCaseUntil = Number.NEGATIVE_INFINITY;
  #latencyMs: number | null = null;
  /** Share of failures among its latest outcomes, newer ones counting more. */
  #failureShare = 0;
  #refusal: string | null = null;
  /** Runs while it is in doubt or down. */
  #probing: Promise<void> | null = null;

  constructor(options: NameserverOptions) {
    this.#options = options;
    this.address = options.address;
    const { address: server, counts, sockets, probeIntervalMs, tlsAuthorities: authorities } = options;
    const prepare = (question: QuestionMessage, id: number) => this.#prepare(question, id);
    const onRefused = (cause: Error) => this.#refused(cause);
    this.#channel =
      server.tls === undefined
        ? new UdpChannel({ server, sockets, counts, prepare })
        : new TlsChannel({ server, authorities, connectMs: Math.max(probeIntervalMs, tlsConnectMs), counts, onRefused, prepare });
  }

  /** Worth asking. */
  get up(): boolean {
    return this.#up !== false;
  }

  get latencyMs(): number | null {
    return this.#latencyMs;
  }

  get failing(): boolean {
    return this.#failureShare > 0.5;
  }

  /** It answered a question, or failed or refused to: a name may be to blame, many names are not. */
  outcome(failed: boolean): void {
    this.#failureShare += failureWeight * (Number(failed) - this.#failureShare);
  }

  /**
   * Measures how quickly it answers from its own knowledge, which does not depend on the names that others ask for. One that does not answer
   * is probed until it does.
   */
  async measure(): Promise<void> {
    if (this.#probing !== null || this.#stopping.signal.aborted) return;
    const started = performance.now();
    if ((await this.#askAlone(this.#probe)) === null) {
      this.silence();
      return;
    }
    const tookMs = performance.now() - started;
    this.answered();
    this.#latencyMs = this.#latencyMs === null ? tookMs : this.#latencyMs + latencyWeight * (tookMs - this.#latencyMs);
    this.#options.counts.latency(this.#label, this.#latencyMs);
  }

  /** Sends nothing yet. Never rejects: a nameserver that cannot be reached is down, and probed. */
  async start(): Promise<void> {
    try {
      await this.#channel.open();
    } catch {
      this.unreachable();
    }
  }

  /**
   * Whether it validates (DNSSEC): it said so of the root, or of any other answer (`authenticated`). Asks it when that is not known yet
   * or long ago, for at most the time of a probe; after a check without an outcome nobody waits for the next.
   */
  validates(): boolean | Promise<boolean> {
    const isDue = this.#recheck === undefined && performance.now() > this.#validationDueAt;
    if (isDue && !this.#stopping.signal.aborted) this.#checkingValidation ??= this.#checkValidation();
    if (this.#validates || this.#recheck !== undefined || this.#checkingValidation === null) return this.#validates;
    return this.#checkingValidation.then(() => this.#validates);
  }

  /** One of its answers said that it was validated. */
  authenticated(): void {
    this.#validates = true;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#recheck);
    await this.#probing;
    await this.#checkingValidation;
    await this.#channel.close();
  }

  /** Null where no socket can take the question now. */
  ask(listener: QuestionListener): OpenQuestion | null {
    return this.#channel.ask(listener);
  }

  /**
   * Waits for a place among the connections until `signal` ends the wait.
   *
   * @throws TcpExchangeError
   */
  async askOverTcp(question: QuestionMessage, signal: AbortSignal): Promise<Buffer> {
    // What came over TLS is whole, or never will be.
    if (this.address.tls !== undefined) throw new TcpExchangeError("cut over TLS");
    await this.#tcpPlace(signal);
    this.#options.counts.asked("tcp");
    try {
      const prepare = (one: QuestionMessage, id: number) => this.#prepare(one, id);
      const { message, echoesCase } = await askOverTcp(this.address, question, prepare, signal);
      if (!echoesCase) this.#loseCase();
      return message;
    } finally {
      this.#freeTcpPlace();
    }
  }

  async #tcpPlace(signal: AbortSignal): Promise<void> {
    if (this.#tcpConnections < tcpConnectionsMax) {
      this.#tcpConnections += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      this.#tcpWaiting.delete(resolve);
      reject(new TcpExchangeError("no connection in time"));
    };
    this.#tcpWaiting.add(resolve);
    signal.addEventListener("abort", giveUp);
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  /** The next one that waits takes it over. */
  #freeTcpPlace(): void {
    const [next] = this.#tcpWaiting;
    if (next === undefined) {
      this.#tcpConnections -= 1;
      return;
    }
    this.#tcpWaiting.delete(next);
    next();
  }

  /** Whether an answer carries the cookie that it must; learns the one that it carries. */
  judgeCookie(question: QuestionMessage, answer: Answer, overTcp: boolean): CookieVerdict {
    return question.edns && this.#options.cookies && this.address.tls === undefined ? this.#cookies.judge(answer.cookie, overTcp) : "fine";
  }

  #prepare(question: QuestionMessage, id: number): Buffer {
    const { cookies, randomCase } = this.#options;
    // Nobody forges a connection.
    if (this.address.tls !== undefined) return sendable(question, id, null, false);
    const isRandom = randomCase && (this.#plainCaseUntil < 0 || performance.now() >= this.#plainCaseUntil);
    return sendable(question, id, cookies ? this.#cookies.cookie : null, isRandom);
  }

  #loseCase(): void {
    if (performance.now() >= this.#plainCaseUntil) this.#options.counts.caseLost(this.#label);
    this.#plainCaseUntil = performance.now() + plainCaseMs;
  }

  /** Anything that came from it shows that it is there. */
  answered(): void {
    this.#turn(true);
  }

  /** An attempt was not answered in its time. */
  silence(): void {
    if (!this.#stopping.signal.aborted) this.#probing ??= this.#probeUntilAnswered();
  }

  unreachable(): void {
    this.#turn(false);
    this.#probing ??= this.#probeUntilAnswered();
  }

  /** The same reason each time it is tried is said once. */
  #refused(cause: Error): void {
    if (this.#refusal !== cause.message) this.#options.counts.tlsRefused(this.#label, cause);
    this.#refusal = cause.message;
  }

  get #label(): string {
    const { host, port, tls } = this.address;
    const text = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    return tls === undefined ? text : `tls://${text}`;
  }

  #turn(up: boolean): void {
    if (this.#up === up) return;
    this.#up = up;
    if (up) this.#refusal = null;
    // It may be another one by now.
    if (up) {
      this.#validationDueAt = Number.NEGATIVE_INFINITY;
      clearTimeout(this.#recheck);
      this.#recheck = undefined;
    }
    this.#options.counts.health(this.#label, up);
  }

  async #probeUntilAnswered(): Promise<void> {
    const { probeIntervalMs, silentProbesMax, onStillDown } = this.#options;
    const { signal } = this.#stopping;
    for (let silent = 1; !signal.aborted; silent += 1) {
      const started = performance.now();
      if ((await this.#probeOnce()) || signal.aborted) break;
      if (silent >= silentProbesMax) this.#turn(false);
      if (!this.up) onStillDown();
      const rest = probeIntervalMs - (performance.now() - started);
      await sleep(Math.max(0, rest), undefined, { signal }).catch(() => {});
    }
    this.#probing = null;
  }

  /** True when it answered, whatever it said. */
  async #probeOnce(): Promise<boolean> {
    try {
      // Sockets keep the route, and the meaning of a host name, from when they were opened.
      if (!this.up) {
        await this.#channel.renew();
        this.#cookies.forget();
        this.#plainCaseUntil = Number.NEGATIVE_INFINITY;
      }
    } catch {
      return false;
    }
    const answer = await this.#askAlone(this.#probe);
    if (answer !== null) this.answered();
    return answer !== null;
  }

  async #checkValidation(): Promise<void> {
    const message = await this.#askAlone(this.#root);
    if (message !== null) this.answered();
    const isJudged = message !== null && this.#judgeRoot(message);
    this.#validationDueAt = performance.now() + validationCheckMs;
    this.#checkingValidation = null;
    clearTimeout(this.#recheck);
    this.#recheck = undefined;
    if (isJudged || this.#stopping.signal.aborted) return;
    const again = () => {
      this.#checkingValidation ??= this.#checkValidation();
    };
    this.#recheck = setTimeout(again, validationRetryProbes * this.#options.probeIntervalMs);
    this.#recheck.unref();
  }

  /** False where the answer says nothing, and the next one may. */
  #judgeRoot(message: Buffer): boolean {
    try {
      const answer = readAnswer(message, this.#root);
      if (this.judgeCookie(this.#root, answer, false) !== "fine") return false;
      const { rcode, authentic, soa } = answer;
      if (authentic) this.#validates = true;
      // It knows the root and does not vouch for it. Who refuses to speak of the root may know other anchors.
      else if (rcode === rcodes.noError && soa === null) this.#validates = false;
      return rcode === rcodes.noError || rcode === rcodes.refused;
    } catch {
      // Malformed.
      return false;
    }
  }

  /** One query outside all lookups, for as long as a probe may take; null when nothing came. */
  async #askAlone(question: QuestionMessage): Promise<Buffer | null> {
    const { promise, resolve } = Promise.withResolvers<Buffer | null>();
    const open = this.#channel.ask({
      question,
      onMessage(message) {
        resolve(message);
        return null;
      },
      onUnreachable: () => resolve(null),
    });
    if (open === null) return null;
    const giveUp = () => resolve(null);
    // After a turn that was late, what has arrived is read first.
    const timer = setTimeout(() => setImmediate(giveUp), this.#options.probeIntervalMs);
    this.#stopping.signal.addEventListener("abort", giveUp);
    const answer = await promise;
    this.#stopping.signal.removeEventListener("abort", giveUp);
    clearTimeout(timer);
    open.cancel();
    return answer;
  }
}
