/** Sends questions to the services, and maps every failure to a problem. */

import {
  changesServiceOf,
  errors,
  isChanges,
  type OperationName,
  operations,
  type ProblemCode,
  ProblemError,
  pastServiceOf,
  type ResponderProblem,
  type ServiceName,
  services,
} from "@netfacts/contracts";
import { type Messaging, MessagingError, type ReplyItem, type RequestItem, withWholeBody } from "@netfacts/messaging";
import type { FastifyRequest } from "fastify";
import type { VerifiedKey } from "../keys/index.ts";

/** How long the questions to each service may take, in ms. */
export type LookupBudgets = Readonly<Record<ServiceName, number>>;

/** The caller, and the request that the question belongs to. */
export interface QuestionContext {
  /** The bucket of the key, by which callers take turns; empty without a key. Services do not get it. */
  readonly caller: string;
  readonly requestId: string;
  readonly traceparent: string | null;
}

/** One question. */
export interface ServiceQuestion {
  readonly op: OperationName;
  /** Canonical query of the operation. */
  readonly query: string;
  readonly units: number;
  readonly context: QuestionContext;
  readonly budgetMs: number;
  /** The snapshot that must answer; null: the current one. */
  readonly pinnedSnapshot: string | null;
  /** Whether the question is about the past. Default: false. */
  readonly isPast?: boolean;
}

/** W3C trace context, version 00. */
const traceparentPattern = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** @param key  that was admitted; null: none is needed. */
export function contextOf({ id, headers: { traceparent } }: FastifyRequest, key: Pick<VerifiedKey, "bucket"> | null): QuestionContext {
  return {
    caller: key?.bucket ?? "",
    requestId: id,
    traceparent: typeof traceparent === "string" && traceparentPattern.test(traceparent) ? traceparent : null,
  };
}

export class Dispatcher {
  readonly #messaging: Messaging;
  readonly #budgets: LookupBudgets;
  readonly #pastBudgetMs: number;
  /** Services that have answered since our start. */
  readonly #seen = new Set<ServiceName>();

  /** @param pastBudgetMs  how long a question about the past may take. */
  constructor(messaging: Messaging, budgets: LookupBudgets, pastBudgetMs = 10_000) {
    this.#messaging = messaging;
    this.#budgets = budgets;
    this.#pastBudgetMs = pastBudgetMs;
  }

  /**
   * Sends one question. Those that cost more than one unit travel with batches, so that plain ones do not wait for them.
   *
   * @returns the reply with its record, in one piece.
   * @throws ProblemError
   */
  ask({ op, query, units, context, pinnedSnapshot, isPast = false }: Omit<ServiceQuestion, "budgetMs">): Promise<ReplyItem> {
    const { service } = operations[op];
    if (isPast) return this.#askPast({ op, query, units, ...context, budgetMs: this.#pastBudgetMs }, service);
    const item = { op, query, units, ...context, budgetMs: this.budgetMs(op) };
    return this.#messaging.request(service, units > 1 ? "batch" : "single", item, pinnedSnapshot).then(
      (reply) => {
        this.#seen.add(service);
        if (reply.contentType === "problem") throw responderProblem(reply);
        return withWholeBody(reply);
      },
      (error: unknown) => {
        throw this.#failure(service, error);
      },
    );
  }

  async #askPast(item: RequestItem, service: ServiceName): Promise<ReplyItem> {
    const served = isChanges(item.op as OperationName) ? changesServiceOf(service) : pastServiceOf(service);
    const reply = await this.#messaging.request(served, "single", { ...item, units: 1 }).catch((error: unknown) => {
      // Pods of an earlier version do not serve it, nor do those whose operator has turned it off.
      if (error instanceof MessagingError && error.code === "no_responders") throw new ProblemError("history_unavailable");
      throw this.#failure(service, error);
    });
    if (reply.contentType === "problem") throw responderProblem(reply);
    return withWholeBody(reply);
  }

  /** Sends one question of a batch, apart from interactive questions. Calls `done` once. */
  askInBatch(
    { op, query, units, context, budgetMs, pinnedSnapshot }: ServiceQuestion,
    done: (outcome: ReplyItem | ProblemError) => void,
  ): void {
    const { service } = operations[op];
    const item = { op, query, units, ...context, budgetMs };
    this.#messaging.request(service, "batch", item, pinnedSnapshot).then(
      (reply) => {
        this.#seen.add(service);
        done(reply.contentType === "problem" ? responderProblem(reply) : reply);
      },
      (error: unknown) => done(this.#failure(service, error)),
    );
  }

  /** How long a question may take. */
  budgetMs(op: OperationName): number {
    return this.#budgets[operations[op].service];
  }

  #failure(service: ServiceName, error: unknown): ProblemError {
    if (!(error instanceof MessagingError)) return new ProblemError("internal_error", { cause: error });
    switch (error.code) {
      case "no_responders":
        return new ProblemError(this.#absence(service));
      case "timeout":
        return new ProblemError("upstream_timeout");
      case "overloaded":
        return new ProblemError("temporarily_overloaded");
      case "closed":
        return new ProblemError("shutting_down");
      case "not_connected":
        return new ProblemError("upstream_unavailable");
      case "invalid_item":
        return new ProblemError("internal_error", { cause: error });
      case "handler_failed":
        return new ProblemError("upstream_error", { cause: error });
    }
  }

  /** A service subscribes when it has its data: one that has never answered is still loading, one that has answered before is unavailable. */
  #absence(service: ServiceName): ProblemCode {
    return !services[service].snapshots || this.#seen.has(service) ? "upstream_unavailable" : "data_not_ready";
  }
}

function responderProblem({ body }: ReplyItem): ProblemError {
  let problem: ResponderProblem;
  try {
    problem = JSON.parse(Buffer.from(body).toString()) as ResponderProblem;
  } catch (cause) {
    return new ProblemError("upstream_error", { cause });
  }
  if (!Object.hasOwn(errors, problem.code))
    return new ProblemError("upstream_error", { cause: new Error("reply with an unknown problem code") });
  return new ProblemError(problem.code, {
    detail: problem.detail,
    ...(problem.errors && { errors: problem.errors }),
    ...(problem.range && { range: problem.range }),
  });
}
