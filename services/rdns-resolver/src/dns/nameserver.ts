/** One nameserver: its channel, its TCP connections, and its state. */

import { setTimeout as sleep } from "node:timers/promises";
import type { NameserverAddress } from "../domain/nameservers.ts";
import type { Channel, OpenQuestion, QuestionListener } from "./channel.ts";
import { CookieJar, type CookieVerdict } from "./cookie-jar.ts";
import type { DnsCounts } from "./counts.ts";
import { type Answer, type QuestionMessage, rcodes, readAnswer, sendable, writeQuestion } from "./message.ts";
import { askOverTcp, TcpExchangeError } from "./tcp-exchange.ts";
import { TlsChannel } from "./tls-channel.ts";
import { UdpChannel } from "./udp-channel.ts";

/** Concurrent connections. Answers that do not fit into a datagram are rare, and a nameserver that truncates all must not cause thousands. */
const tcpConnectionsMax = 64;

/** Name that a resolver answers without other servers (RFC 6303), so that a probe tests only the resolver. */
const probeName = "1.0.0.127.in-addr.arpa";

/** Interval of checks for validation: the configuration of a nameserver may change without downtime. */
const validationCheckMs = 600_000;

/** Probe intervals until the check is repeated if its answer was lost, late or a failure. */
const validationRetryProbes = 10;

/** Least timeout for a TLS connection: a handshake takes several round trips. */
const tlsConnectMs = 2_000;

/** Weight of the newest measurement, and of the newest outcome. */
const latencyWeight = 0.3;
const failureWeight = 0.1;

/** Time for which a nameserver that does not echo the case of names is asked in plain case: it may be replaced without downtime. */
const plainCaseMs = 600_000;

export interface NameserverOptions {
  readonly address: NameserverAddress;
  readonly sockets: number;
  /** Consecutive unanswered probes after which it counts as down. */
  readonly silentProbesMax: number;
  /** Interval of probes, and timeout of each. */
  readonly probeIntervalMs: number;
  readonly randomCase: boolean;
  readonly cookies: boolean;
  /** PEM certificates of the trusted authorities for nameservers with TLS; undefined: those of Node. */
  readonly tlsAuthorities: string | undefined;
  readonly counts: DnsCounts;
  /** Called after each unanswered probe of a nameserver that is down. */
  readonly onStillDown: () => void;
}

/**
 * It is down if it is unreachable, or after `silentProbesMax` consecutive unanswered probes; an answered probe ends that. An unanswered
 * question only starts probes: a name may be slow although its resolver works.
 */
export class Nameserver {
  readonly address: NameserverAddress;
  readonly #options: NameserverOptions;
  readonly #channel: Channel;
  readonly #stopping = new AbortController();
  readonly #probe = writeQuestion(probeName, { edns: false });
  /** The root is signed, so a nameserver that validates reports it for this question. */
  readonly #root = writeQuestion(".", { edns: true, type: "SOA" });
  #validates = false;
  #validationDueAt = Number.NEGATIVE_INFINITY;
  #checkingValidation: Promise<void> | null = null;
  /** Set if the last check had no outcome: the next ones run in the background, and no lookup waits for them. */
  #recheck: NodeJS.Timeout | undefined;
  /** Null: unknown. */
  #up: boolean | null = null;
  #tcpConnections = 0;
  /** Questions that wait for a TCP connection, in order. */
  readonly #tcpWaiting = new Set<() => void>();
  readonly #cookies = new CookieJar();
  #plainCaseUntil = Number.NEGATIVE_INFINITY;
  #latencyMs: number | null = null;
  /** Share of failures among its recent outcomes; newer ones have more weight. */
  #failureShare = 0;
  #refusal: string | null = null;
  /** Probes in progress, while its state is in doubt or it is down. */
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

  /** Whether to ask it. */
  get up(): boolean {
    return this.#up !== false;
  }

  get latencyMs(): number | null {
    return this.#latencyMs;
  }

  get failing(): boolean {
    return this.#failureShare > 0.5;
  }

  /** Call with each outcome. A failure or refusal may be caused by the name, but many are not. */
  outcome(failed: boolean): void {
    this.#failureShare += failureWeight * (Number(failed) - this.#failureShare);
  }

  /**
   * Measures its latency with the probe, which does not depend on the names of callers. If it does not answer, it is probed until it does.
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

  /** Opens the channel without sending anything. Never rejects: an unreachable nameserver is down, and is probed. */
  async start(): Promise<void> {
    try {
      await this.#channel.open();
    } catch {
      this.unreachable();
    }
  }

  /**
   * Whether it validates (DNSSEC): it reported so for the root or for any other answer (`authenticated`). Asks it if this is unknown or old,
   * for at most the time of a probe. After a check without an outcome, no lookup waits for the next one.
   */
  validates(): boolean | Promise<boolean> {
    const isDue = this.#recheck === undefined && performance.now() > this.#validationDueAt;
    if (isDue && !this.#stopping.signal.aborted) this.#checkingValidation ??= this.#checkValidation();
    if (this.#validates || this.#recheck !== undefined || this.#checkingValidation === null) return this.#validates;
    return this.#checkingValidation.then(() => this.#validates);
  }

  /** Call if one of its answers was reported as validated. */
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

  /** Null if no socket can take the question now. */
  ask(listener: QuestionListener): OpenQuestion | null {
    return this.#channel.ask(listener);
  }

  /**
   * Asks over TCP; waits for a free connection until `signal` ends the wait.
   *
   * @throws TcpExchangeError
   */
  async askOverTcp(question: QuestionMessage, signal: AbortSignal): Promise<Buffer> {
    // An answer that is truncated over TLS would be truncated over TCP too.
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

  /** Gives the place to the next waiting question, if there is one. */
  #freeTcpPlace(): void {
    const [next] = this.#tcpWaiting;
    if (next === undefined) {
      this.#tcpConnections -= 1;
      return;
    }
    this.#tcpWaiting.delete(next);
    next();
  }

  /** Whether an answer has the required cookie; remembers the cookie that it has. */
  judgeCookie(question: QuestionMessage, answer: Answer, overTcp: boolean): CookieVerdict {
    return question.edns && this.#options.cookies && this.address.tls === undefined ? this.#cookies.judge(answer.cookie, overTcp) : "fine";
  }

  #prepare(question: QuestionMessage, id: number): Buffer {
    const { cookies, randomCase } = this.#options;
    // Answers over TLS cannot be forged, so they need no protection.
    if (this.address.tls !== undefined) return sendable(question, id, null, false);
    const isRandom = randomCase && (this.#plainCaseUntil < 0 || performance.now() >= this.#plainCaseUntil);
    return sendable(question, id, cookies ? this.#cookies.cookie : null, isRandom);
  }

  #loseCase(): void {
    if (performance.now() >= this.#plainCaseUntil) this.#options.counts.caseLost(this.#label);
    this.#plainCaseUntil = performance.now() + plainCaseMs;
  }

  /** Call for any message from it, which shows that it works. */
  answered(): void {
    this.#turn(true);
  }

  /** Call if an attempt was not answered in time. */
  silence(): void {
    if (!this.#stopping.signal.aborted) this.#probing ??= this.#probeUntilAnswered();
  }

  unreachable(): void {
    this.#turn(false);
    this.#probing ??= this.#probeUntilAnswered();
  }

  /** Reports a reason only once while it repeats. */
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
    // It may be another machine by now.
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

  /** Whether it answered, with any answer. */
  async #probeOnce(): Promise<boolean> {
    try {
      // Open sockets keep the old route, and the old address of a host name.
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

  /** False if the answer has no outcome, and another one may. */
  #judgeRoot(message: Buffer): boolean {
    try {
      const answer = readAnswer(message, this.#root);
      if (this.judgeCookie(this.#root, answer, false) !== "fine") return false;
      const { rcode, authentic, soa } = answer;
      if (authentic) this.#validates = true;
      // It answers for the root without validation. A nameserver that refuses the question may validate with other anchors.
      else if (rcode === rcodes.noError && soa === null) this.#validates = false;
      return rcode === rcodes.noError || rcode === rcodes.refused;
    } catch {
      // Malformed.
      return false;
    }
  }

  /** One query outside all lookups, with the timeout of a probe; null: no answer. */
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
    // If the event loop is late, first read the messages that have arrived.
    const timer = setTimeout(() => setImmediate(giveUp), this.#options.probeIntervalMs);
    this.#stopping.signal.addEventListener("abort", giveUp);
    const answer = await promise;
    this.#stopping.signal.removeEventListener("abort", giveUp);
    clearTimeout(timer);
    open.cancel();
    return answer;
  }
}
