/** A bounded load on gateways whose every answer is judged: right, a problem that is documented for the fault, or wrong; in time, or hung. */

import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { errors, type ProblemCode } from "@netfacts/contracts";
import { WorldOracle, worldQuestions } from "../load/worlds.ts";
import { isLong } from "../support/runs.ts";

/** Settings of gateways that make `hungMs` hold, and let them read keys and limits often enough for a fault of the store to be met. */
export const faultSettings = {
  LOG_LEVEL: "warn",
  LOOKUP_BUDGET_MS: "2000",
  REVERSE_DNS_BUDGET_MS: "2000",
  KEY_CACHE_LIFETIME_MS: "500",
};
/** Reading the key (1 s), a lease (250 ms) and the budget of the lookup (2 s); the rest is for a busy machine. */
const hungMs = 10_000;
/** So few in an ordinary run that the load is a small part of its processor time. */
export const requestsPerSecond = isLong ? 200 : 40;
/** The longest that a fault lasts until it is met: a slow machine asks less often, and so uses up later what was leased, at its window's end at the latest. */
const meetMsMax = 65_000;
/** More requests than this must meet a fault: a machine that stalls sends few in a second. */
export const meetRequestsMin = 50;
/** What the load makes up for after it could not run itself: more would be a burst that the fault did not make. */
const behindMsMax = 100;
/** Say that a deadline passed, which a busy machine may do at any time. Callers are told, and may ask again. */
const deadlineProblems: readonly string[] = ["upstream_timeout", "limits_unavailable", "resolver_unavailable"] satisfies ProblemCode[];
/** Of all requests so many parts go to the key with a month that ends. */
const monthShare = 10;

/** What happened while one fault was made and mended. */
export interface FaultTally {
  readonly fault: string;
  requests: number;
  right: number;
  readonly problems: Map<string, number>;
  /** Connections of callers that broke: right only where a gateway was killed. */
  cut: number;
  readonly wrong: string[];
  /** What was asked, and of whom. */
  readonly hung: string[];
  /** From the fault's beginning to the last answer that was not right. */
  awaySeconds: number;
  /** The same from its mending. */
  recoverSeconds: number;
}

export interface Fault {
  readonly name: string;
  /** Codes that callers may meet meanwhile. */
  readonly problems: readonly ProblemCode[];
  /** Whether connections of callers may break. */
  readonly cuts?: boolean;
  readonly lastsMs?: number;
  /** Problems of which callers do meet one, sooner or later: the fault lasts on until they have. */
  readonly meets?: readonly ProblemCode[];
  make(): Promise<void> | void;
  /** Resolves when everything that was taken away is there again. */
  mend(): Promise<void> | void;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Question {
  readonly path: string;
  fault(body: string): string | null;
}

export class FaultLoad {
  readonly tallies: FaultTally[] = [];
  /** Answers that cost the key with a month one of its units. */
  admitted = 0;
  readonly #urls: readonly string[];
  readonly #keys: { readonly endless: string; readonly month: string };
  readonly #agent = new Agent({ keepAlive: true });
  readonly #oracle = new WorldOracle([0]);
  readonly #flying = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #sent = 0;
  #fault: Fault | null = null;
  #tally: FaultTally = emptyTally("none");
  #lastBadAt = 0;

  /** Begins at once. */
  constructor(urls: readonly string[], keys: { readonly endless: string; readonly month: string }) {
    this.#urls = urls;
    this.#keys = keys;
    let due = performance.now();
    this.#timer = setInterval(() => {
      due = Math.max(due, performance.now() - behindMsMax);
      for (const now = performance.now(); due < now; due += 1_000 / requestsPerSecond) this.#send();
    }, 10);
  }

  /** Resolves when for a second nothing but right answers came. @throws Error with what came instead. */
  async untilRight(timeoutMs: number): Promise<void> {
    const since = performance.now();
    while (performance.now() - Math.max(since, this.#lastBadAt) < 1_000) {
      if (performance.now() - since > timeoutMs) throw new Error(`not right again within ${timeoutMs} ms: ${tallyText(this.#tally)}`);
      await sleep(20);
    }
  }

  /** Makes the fault, mends it and waits until all answers are right. */
  async meet(fault: Fault, recoverMsMax = 40_000): Promise<FaultTally> {
    const tally = emptyTally(fault.name);
    this.tallies.push(tally);
    this.#tally = tally;
    this.#fault = fault;
    const madeAt = performance.now();
    await fault.make();
    await sleep(fault.lastsMs ?? 1_500);
    const { meets } = fault;
    const isMet = () => tally.requests > meetRequestsMin && (meets === undefined || hasMet(tally, meets));
    while (!isMet() && performance.now() - madeAt < meetMsMax) await sleep(20);
    await fault.mend();
    const mendedAt = performance.now();
    await this.untilRight(recoverMsMax);
    tally.awaySeconds = Math.max(0, this.#lastBadAt - madeAt) / 1_000;
    tally.recoverSeconds = Math.max(0, this.#lastBadAt - mendedAt) / 1_000;
    return tally;
  }

  /** Sends nothing more and waits for what is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#flying);
    this.#agent.destroy();
  }

  table(): string {
    return [
      `${"fault".padEnd(44)} requests  right  problem  cut  wrong  hung  away  seconds to recover`,
      ...this.tallies.map(tallyText),
    ].join("\n");
  }

  #send(): void {
    const flight = this.#ask(this.#sent++).finally(() => this.#flying.delete(flight));
    this.#flying.add(flight);
  }

  async #ask(sent: number): Promise<void> {
    const question = questionOf(sent, this.#oracle);
    const url = `${this.#urls[sent % this.#urls.length]}/api/v1${question.path}`;
    // Drawn apart from questions and gateways, whose counts it has no factor with.
    const month = Math.floor(sent / this.#urls.length) % monthShare === 0;
    const asked = this.#tally.fault;
    const outcome = await get(this.#agent, url, month ? this.#keys.month : this.#keys.endless);
    if (month && typeof outcome !== "string" && outcome.status === 200) this.admitted += 1;
    const verdict = this.#judge(question, outcome, month);
    // Of the fault during which it ended.
    const tally = this.#tally;
    tally.requests += 1;
    if (verdict === "right") {
      tally.right += 1;
      return;
    }
    this.#lastBadAt = performance.now();
    if (verdict === "hung") tally.hung.push(`${url}, asked during: ${asked}`);
    else if (verdict === "cut") tally.cut += 1;
    else if ("code" in verdict) tally.problems.set(verdict.code, (tally.problems.get(verdict.code) ?? 0) + 1);
    else tally.wrong.push(`${tally.fault}: ${url}: ${verdict.wrong}`);
  }

  #judge(
    question: Question,
    outcome: Answer | "hung" | "cut",
    month: boolean,
  ): "right" | "hung" | "cut" | { code: string } | { wrong: string } {
    if (outcome === "hung") return "hung";
    if (outcome === "cut") return this.#fault?.cuts === true ? "cut" : { wrong: "the connection broke" };
    const { status, headers, body } = outcome;
    if (status === 200) {
      const fault = question.fault(body);
      return fault === null ? "right" : { wrong: fault };
    }
    const problem = readProblem(body);
    if (problem === null) return { wrong: `${status} without a problem` };
    const { code } = problem;
    const entry = errors[code];
    const known =
      `${headers["content-type"]}`.startsWith("application/problem+json") && entry?.status === status && problem.status === status;
    if (!known || problem.request_id !== headers["x-request-id"]) return { wrong: `${status} ${code} is not as documented` };
    if (entry.retryAfterSeconds !== null && headers["retry-after"] === undefined) return { wrong: `${code} without Retry-After` };
    if (month && code === "quota_exceeded") return "right";
    return deadlineProblems.includes(code) || this.#fault?.problems.includes(code as ProblemCode) === true
      ? { code }
      : { wrong: `${status} ${code} is not documented for this` };
  }
}

/** Whether callers have met one of the problems. */
export function hasMet({ problems }: FaultTally, codes: readonly ProblemCode[]): boolean {
  return codes.some((code) => problems.has(code));
}

function emptyTally(fault: string): FaultTally {
  return {
    fault,
    requests: 0,
    right: 0,
    problems: new Map(),
    cut: 0,
    wrong: [],
    hung: [],
    awaySeconds: Number.NaN,
    recoverSeconds: Number.NaN,
  };
}

function tallyText({ fault, requests, right, problems, cut, wrong, hung, awaySeconds, recoverSeconds }: FaultTally): string {
  const counts = [requests, right, [...problems.values()].reduce((sum, one) => sum + one, 0), cut, wrong.length, hung.length];
  const widths = [8, 6, 8, 4, 6, 5];
  const numbers = counts.map((count, at) => `${count}`.padStart(widths[at] as number)).join(" ");
  const codes = [...problems].map(([code, count]) => `${code} ${count}`).join(", ");
  return `${fault.padEnd(44)} ${numbers}  ${awaySeconds.toFixed(1).padStart(4)}  ${recoverSeconds.toFixed(2)}${codes === "" ? "" : `  (${codes})`}`;
}

/** Mostly of the made world; every eighth asks for a name that was not asked for lately. */
function questionOf(sent: number, oracle: WorldOracle): Question {
  if (sent % 8 === 7) {
    const octets = [193, sent & 31, (sent >> 5) & 255, 1 + ((sent >> 13) & 127)];
    const name = `host-${octets.toReversed().join("-")}.example`;
    return {
      path: `/reverse-dns/${octets.join(".")}`,
      fault(body) {
        const { status, names } = JSON.parse(body) as { status: string; names: { name: string }[] };
        return status === "ok" && names.length === 1 && names[0]?.name === name ? null : `${status} with ${names[0]?.name}, not ${name}`;
      },
    };
  }
  const question = worldQuestions[(sent * 7) % worldQuestions.length] as (typeof worldQuestions)[number];
  return { path: question.path, fault: (body) => oracle.fault({ question, body, snapshotId: null, pinned: null }) };
}

interface Problem {
  readonly code: ProblemCode;
  readonly status: number;
  readonly request_id: string;
}

function readProblem(body: string): Problem | null {
  try {
    const problem = JSON.parse(body) as Problem;
    return Object.hasOwn(errors, problem.code) ? problem : null;
  } catch {
    return null;
  }
}

/** Kept alive; `hung` when nothing, or not all, came in time. */
function get(agent: Agent, url: string, key: string): Promise<Answer | "hung" | "cut"> {
  return new Promise((done) => {
    const request = httpRequest(url, { agent, headers: { authorization: `Bearer ${key}` } });
    const timer = setTimeout(() => {
      done("hung");
      request.destroy();
    }, hungMs);
    const end = (outcome: Answer | "cut") => {
      clearTimeout(timer);
      done(outcome);
    };
    request.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        body += piece;
      });
      response.on("end", () => end({ status: response.statusCode ?? 0, headers: response.headers, body }));
      response.on("error", () => end("cut"));
      response.on("close", () => end("cut"));
    });
    request.on("error", () => end("cut"));
    request.end();
  });
}
