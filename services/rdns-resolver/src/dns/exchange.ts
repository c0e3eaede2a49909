/** One question to the nameservers, from the first attempt to the outcome. */

import type { OpenQuestion, QuestionListener } from "./channel.ts";
import type { DropReason } from "./counts.ts";
import { type Answer, type QuestionMessage, type QuestionType, rcodes, readAnswer, writeQuestion } from "./message.ts";
import type { Nameserver } from "./nameserver.ts";

/** Waits are rounded up to a multiple of this: timers of equal length share a list, and thousands of lengths would dominate the cost. */
const waitGrainMs = 10;

/** `unavailable`: no nameserver is up. `servers` of a failure: the nameservers that failed. */
export type Outcome =
  | { readonly kind: "answer"; readonly answer: Answer; readonly server: Nameserver }
  | { readonly kind: "failed"; readonly status: "servfail" | "refused" | "timeout"; readonly servers: readonly Nameserver[] }
  | { readonly kind: "unavailable" };

/** The queries that one lookup may still send, for all of its questions. */
export interface Allowance {
  left: number;
}

export interface AskedQuestion {
  readonly name: string;
  readonly type: QuestionType;
  /** Asks for the answer even if it fails validation. */
  readonly checkingDisabled?: boolean;
  /** Each query over UDP or TCP uses one; when none is left, no further query is sent. */
  readonly allowance: Allowance;
}

export interface ExchangeOptions {
  readonly question: AskedQuestion;
  /** In the order in which they are asked. */
  readonly servers: readonly Nameserver[];
  /** Rounds through the servers. */
  readonly rounds: number;
  /** Longest time of one attempt before the next one starts. */
  readonly timeoutMs: number;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
}

/** One query to one nameserver. It is its own listener: four functions for each query would cost more. */
class Attempt implements QuestionListener {
  readonly #exchange: Exchange;
  readonly server: Nameserver;
  readonly question: QuestionMessage;
  open: OpenQuestion | null = null;
  /** The answer did not fit into a datagram, or may be forged, and is requested over TCP. */
  overTcp = false;
  /** A possibly forged answer was already verified over TCP. */
  verified = false;

  constructor(exchange: Exchange, server: Nameserver, question: QuestionMessage) {
    this.#exchange = exchange;
    this.server = server;
    this.question = question;
  }

  onMessage(message: Buffer): DropReason | null {
    return this.#exchange.onMessage(this, message);
  }

  onOtherCase(): void {
    void this.#exchange.verify(this);
  }

  onUnreachable(): void {
    this.server.unreachable();
    this.#exchange.rule(this, null);
  }
}

/**
 * Asks the nameservers in turn. Each attempt waits for an equal share of the remaining time, at most `timeoutMs`. Then the next one starts,
 * but an answer to an earlier one still counts. A nameserver that fails or refuses is not asked again for this question.
 */
export function exchange(options: ExchangeOptions): Promise<Outcome> {
  return new Promise((resolve) => new Exchange(options, resolve).start());
}

class Exchange {
  readonly #options: ExchangeOptions;
  readonly #resolve: (outcome: Outcome) => void;
  /** Most attempts: rounds times servers. */
  readonly #attemptsMax: number;
  #nextAttempt = 0;
  #open: Attempt[] = [];
  readonly #excluded: Nameserver[] = [];
  #question: QuestionMessage;
  #current: Attempt | null = null;
  #timer: NodeJS.Timeout | undefined;
  #tcp: AbortController | null = null;
  readonly #failed: Nameserver[] = [];
  #verdict: "servfail" | "refused" | null = null;
  /** Time until which open attempts wait if no further one can follow. */
  #openUntil: number;
  #done = false;

  constructor(options: ExchangeOptions, resolve: (outcome: Outcome) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#question = questionMessage(options.question, true);
    this.#attemptsMax = options.rounds * options.servers.length;
    this.#openUntil = options.deadline;
  }

  start(): void {
    this.#next();
  }

  /**
   * Starts the next attempt. If none is left, ends, unless an answer over TCP is awaited. If only the allowance is used up, open attempts
   * get the time of another attempt.
   */
  #next(): void {
    this.#stopWaiting();
    while (this.#nextAttempt < this.#attemptsMax && this.#options.question.allowance.left > 0) {
      const server = this.#serverOf(this.#nextAttempt);
      this.#nextAttempt += 1;
      if (!this.#usable(server)) continue;
      this.#ask(server);
      return;
    }
    const now = performance.now();
    const isCutShort = this.#nextAttempt < this.#attemptsMax && this.#open.length > 0;
    if (isCutShort) this.#openUntil = Math.min(this.#openUntil, now + this.#options.timeoutMs);
    if (this.#open.some((attempt) => attempt.overTcp)) this.#failAt(this.#options.deadline);
    else if (isCutShort && now < this.#openUntil) this.#failAt(this.#openUntil);
    else this.#fail();
  }

  #failAt(time: number): void {
    this.#after(time - performance.now(), () => this.#fail());
  }

  #serverOf(attempt: number): Nameserver {
    const { servers } = this.#options;
    // The remainder is an index of the list.
    return servers[attempt % servers.length]!;
  }

  #usable(server: Nameserver): boolean {
    return server.up && !this.#excluded.includes(server);
  }

  #ask(server: Nameserver): void {
    const attempt = new Attempt(this, server, this.#question);
    attempt.open = server.ask(attempt);
    if (attempt.open === null) {
      this.#next();
      return;
    }
    this.#options.question.allowance.left -= 1;
    this.#open.push(attempt);
    this.#current = attempt;
    let sharers = 1;
    for (let later = this.#nextAttempt; later < this.#attemptsMax; later += 1) if (this.#usable(this.#serverOf(later))) sharers += 1;
    const share = (this.#options.deadline - performance.now()) / sharers;
    this.#after(Math.min(share, this.#options.timeoutMs), () => this.#onSilence(attempt));
  }

  /** Calls `then` unless the wait is stopped before. If the event loop is late, first reads the messages that have arrived. */
  #after(ms: number, then: () => void): void {
    const act = () => {
      if (this.#timer === timer) then();
    };
    const timer = setTimeout(() => setImmediate(act), Math.max(1, Math.ceil(ms / waitGrainMs)) * waitGrainMs);
    this.#timer = timer;
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #onSilence(attempt: Attempt): void {
    if (!attempt.overTcp) attempt.server.silence();
    this.#next();
  }

  /** @returns the reason if the message is no valid answer: the attempt then keeps waiting for one. */
  onMessage(attempt: Attempt, message: Buffer): DropReason | null {
    attempt.server.answered();
    const answer = this.#read(attempt.question, message);
    if (answer === null) return "malformed";
    if (answer.truncated) {
      void this.#askOverTcp(attempt);
      return null;
    }
    const cookie = attempt.server.judgeCookie(attempt.question, answer, false);
    if (cookie === "foreign") return "foreign_cookie";
    if (cookie === "missing") {
      void this.verify(attempt);
      return "no_cookie";
    }
    this.#judge(attempt, answer);
    return null;
  }

  #read(question: QuestionMessage, message: Buffer): Answer | null {
    try {
      return readAnswer(message, question);
    } catch {
      // Malformed. Errors of every class are caught here, because no message of a stranger may end the process.
      return null;
    }
  }

  #judge(attempt: Attempt, answer: Answer): void {
    const { rcode, referral } = answer;
    const found = (rcode === rcodes.noError && !referral) || rcode === rcodes.nxDomain;
    // Servers older than EDNS answer so (RFC 6891 §7).
    const knowsNoEdns = attempt.question.edns && (rcode === rcodes.formErr || rcode === rcodes.notImp);
    if (found) attempt.server.outcome(false);
    if (found) this.#finish({ kind: "answer", answer, server: attempt.server });
    // The server gave a new cookie for later questions. This question is asked again over TCP (RFC 7873 §5.3).
    else if (rcode === rcodes.badCookie && !attempt.overTcp) void this.#askOverTcp(attempt);
    else if (knowsNoEdns && this.#options.question.allowance.left > 0) this.#askWithoutEdns(attempt);
    else if (knowsNoEdns) this.#giveUp(attempt);
    else this.rule(attempt, rcode === rcodes.refused ? "refused" : "servfail");
  }

  #askWithoutEdns(attempt: Attempt): void {
    this.#close(attempt);
    this.#question = questionMessage(this.#options.question, false);
    this.#stopWaiting();
    this.#ask(attempt.server);
  }

  async #askOverTcp(attempt: Attempt): Promise<void> {
    if (this.#options.question.allowance.left <= 0) return this.#giveUp(attempt);
    const answer = await this.#answerOverTcp(attempt);
    if (this.#done) return;
    if (answer === null) this.rule(attempt, "servfail");
    else this.#judge(attempt, answer);
  }

  /** Asks again over TCP, which cannot be forged, after an answer that may be. Meanwhile the attempt keeps waiting for a valid answer. */
  async verify(attempt: Attempt): Promise<void> {
    if (attempt.verified || attempt.overTcp || this.#options.question.allowance.left <= 0) return;
    attempt.verified = true;
    const answer = await this.#answerOverTcp(attempt);
    if (this.#done) return;
    if (answer !== null) this.#judge(attempt, answer);
    else attempt.overTcp = false;
  }

  /** Null: no answer, because the connection was refused, closed or too slow, or the answer is not valid. */
  async #answerOverTcp(attempt: Attempt): Promise<Answer | null> {
    attempt.overTcp = true;
    this.#options.question.allowance.left -= 1;
    this.#tcp ??= new AbortController();
    const { server } = attempt;
    let message: Buffer;
    try {
      message = await server.askOverTcp(attempt.question, this.#tcp.signal);
    } catch {
      return null;
    }
    const answer = this.#read(attempt.question, message);
    if (answer === null || answer.truncated) return null;
    return server.judgeCookie(attempt.question, answer, true) === "fine" ? answer : null;
  }

  /** Ends an attempt without an answer. @param verdict  null: the query did not reach the server. */
  rule(attempt: Attempt, verdict: "servfail" | "refused" | null): void {
    if (this.#done) return;
    if (verdict !== null) attempt.server.outcome(true);
    if (verdict === "servfail") this.#failed.push(attempt.server);
    this.#exclude(attempt, verdict);
  }

  /** Ends an attempt that would need another query when none is left. Our own limit says nothing about the server. */
  #giveUp(attempt: Attempt): void {
    if (!this.#done) this.#exclude(attempt, "servfail");
  }

  #exclude(attempt: Attempt, verdict: "servfail" | "refused" | null): void {
    this.#close(attempt);
    this.#excluded.push(attempt.server);
    if (verdict !== null && this.#verdict !== "servfail") this.#verdict = verdict;
    // Other attempts continue, and the latest one keeps its time before the next starts.
    if (attempt === this.#current || this.#open.length === 0) this.#next();
  }

  #fail(): void {
    const isUp = this.#options.servers.some((server) => server.up);
    const status = this.#verdict ?? "timeout";
    if (this.#verdict !== null || isUp) this.#finish({ kind: "failed", status, servers: this.#failed });
    else this.#finish({ kind: "unavailable" });
  }

  #close(attempt: Attempt): void {
    attempt.open?.cancel();
    this.#open = this.#open.filter((one) => one !== attempt);
  }

  #finish(outcome: Outcome): void {
    if (this.#done) return;
    this.#done = true;
    this.#stopWaiting();
    for (const attempt of this.#open) attempt.open?.cancel();
    this.#open = [];
    this.#tcp?.abort();
    this.#resolve(outcome);
  }
}

function questionMessage({ name, type, checkingDisabled = false }: AskedQuestion, edns: boolean): QuestionMessage {
  return writeQuestion(name, { edns, type, checkingDisabled });
}
