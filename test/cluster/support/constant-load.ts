/** Requests at a constant rate, each answer compared with the true one: what callers notice of an event in the cluster. */

import { Agent, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { expect } from "@jest/globals";

/** Longer than any deadline of a gateway. */
const answerMsMax = 15_000;
const quietMs = 2_000;
/** As proxies do: a gateway that drains for 10 s tells every connection that is used until then, and closes the others. */
const idleMsMax = 5_000;
/** Lists only the first ones. */
const examplesMax = 5;

export interface Question {
  readonly path: string;
  /** What must be in the answer. */
  readonly isTrue: (record: ReturnType<typeof JSON.parse>) => boolean;
}

export interface EventResult {
  readonly event: string;
  readonly requests: number;
  /** Answered by another status than 200, or not at all. */
  readonly failed: number;
  /** Of the failed ones: 503 `limits_unavailable`. On a busy machine, the database can take longer than the 500 ms that limits have for it. */
  readonly databaseLate: number;
  /** Answered 200 with something else than the truth. */
  readonly wrong: number;
  readonly p99Ms: number;
  /** From the first request that failed until the last one; 0: none failed. */
  readonly secondsToRecover: number;
  /** Whether two seconds passed without a fault in the end. */
  readonly recovered: boolean;
  /** The first faults, for people. */
  readonly faults: readonly string[];
}

interface Outcome {
  readonly at: number;
  readonly ms: number;
  readonly kind: "right" | "failed" | "database late" | "wrong";
  readonly fault: string;
}

export interface LoadOptions {
  readonly url: string;
  readonly key: string;
  readonly questions: readonly Question[];
  readonly perSecond: number;
  /** With https: certificate of the authority that the server's is signed by. */
  readonly ca?: Buffer;
}

/** Callers did not notice the event, apart from at most one in 50 requests for which the database was late. */
export function expectHarmless({ requests, failed, databaseLate, wrong }: EventResult): void {
  expect({ failed: failed - databaseLate, wrong }).toEqual({ failed: 0, wrong: 0 });
  expect(databaseLate).toBeLessThanOrEqual(requests / 50);
}

/**
 * Half of the requests reuse connections, as proxies do; the others open one each, as new callers do. A request is sent on time
 * whether or not earlier ones were answered.
 */
export class ConstantLoad {
  readonly url: string;
  readonly #options: LoadOptions;
  readonly #kept: Agent;
  readonly #outcomes: Outcome[] = [];
  /** Requests without an answer yet, and when each was sent. */
  readonly #pending = new Map<Promise<void>, number>();
  readonly #timer: NodeJS.Timeout;
  #sent = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.url = options.url;
    const kept = { keepAlive: true, maxSockets: 16, timeout: idleMsMax };
    this.#kept = options.url.startsWith("https:") ? new TlsAgent(kept) : new Agent(kept);
    this.#timer = setInterval(() => this.#send(), 1_000 / options.perSecond);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending.keys());
    this.#kept.destroy();
  }

  /**
   * Everything sent from now until the action is done, and for two seconds since requests were answered and none failed or hung.
   *
   * @param recoverMsMax  after the action; then the event is over, recovered or not.
   */
  async during(event: string, action: () => Promise<unknown>, recoverMsMax = 120_000): Promise<EventResult> {
    const from = performance.now();
    await action();
    const done = performance.now();
    const isQuiet = () => {
      const bad = this.#outcomes.filter(({ kind }) => kind !== "right");
      const since = Math.max(done, ...bad.map(({ at, ms }) => at + ms));
      // A request that hangs may yet fail, and silence is no answer.
      const hangs = [...this.#pending.values()].some((at) => performance.now() - at > quietMs / 2);
      const answered = this.#outcomes.filter(({ at }) => at > since).length;
      return performance.now() - since > quietMs && !hangs && answered >= this.#options.perSecond;
    };
    while (!isQuiet() && performance.now() - done < recoverMsMax) await new Promise((resolve) => setTimeout(resolve, 50));
    const recovered = isQuiet();
    const until = performance.now();
    await Promise.all(this.#pending.keys());
    const outcomes = this.#outcomes.filter(({ at }) => at >= from && at < until).sort((a, b) => a.at - b.at);
    const bad = outcomes.filter(({ kind }) => kind !== "right");
    const count = (kind: Outcome["kind"]) => outcomes.filter((outcome) => outcome.kind === kind).length;
    const databaseLate = count("database late");
    const times = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
    return {
      event,
      requests: outcomes.length,
      failed: count("failed") + databaseLate,
      databaseLate,
      wrong: count("wrong"),
      p99Ms: Math.round(times[Math.floor(times.length * 0.99)] ?? Number.NaN),
      secondsToRecover: bad.length === 0 ? 0 : Math.round(((bad.at(-1)?.at ?? 0) - (bad[0]?.at ?? 0)) / 100) / 10,
      recovered,
      faults: bad.slice(0, examplesMax).map(({ fault, at }) => `${((at - from) / 1_000).toFixed(1)} s: ${fault}`),
    };
  }

  #send(): void {
    const { questions } = this.#options;
    const index = this.#sent++;
    const question = questions[index % questions.length];
    if (question === undefined) return;
    // Each question by both kinds of connections.
    const isKept = Math.floor(index / questions.length) % 2 === 0;
    const sent = this.#ask(question, isKept).then((outcome) => {
      this.#outcomes.push(outcome);
      this.#pending.delete(sent);
    });
    this.#pending.set(sent, performance.now());
  }

  #ask({ path, isTrue }: Question, isKept: boolean): Promise<Outcome> {
    const at = performance.now();
    const { url, key, ca } = this.#options;
    const send = url.startsWith("https:") ? tlsRequest : request;
    return new Promise((resolve) => {
      const settle = (kind: Outcome["kind"], fault: string) =>
        resolve({ at, ms: performance.now() - at, kind, fault: `${path}${isKept ? "" : " (new connection)"}: ${fault}` });
      const sending = send(
        `${url}${path}`,
        {
          ...(ca !== undefined && { ca }),
          headers: { authorization: `Bearer ${key}` },
          signal: AbortSignal.timeout(answerMsMax),
          ...(isKept ? { agent: this.#kept } : { agent: false }),
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (part: string) => {
            text += part;
          });
          response.on("error", (error) => settle("failed", error.message));
          response.on("end", () => {
            const status = response.statusCode;
            if (status !== 200) {
              const isLate = status === 503 && text.includes('"code":"limits_unavailable"');
              return settle(isLate ? "database late" : "failed", `${status} ${text.slice(0, 200)}`);
            }
            try {
              settle(isTrue(JSON.parse(text)) ? "right" : "wrong", text.slice(0, 300));
            } catch {
              settle("wrong", text.slice(0, 300));
            }
          });
        },
      );
      sending.on("error", (error) => settle("failed", error.message));
      sending.end();
    });
  }
}
