/** Asks the questions of one batch: all of one snapshot, within budgets, in its turn among other batches. */

import { AsyncLocalStorage } from "node:async_hooks";
import { operations, ProblemError, type ServiceName, services } from "@netfacts/contracts";
import { frameItemsMax, type ReplyItem } from "@netfacts/messaging";
import type { Dispatcher, QuestionContext } from "../dispatcher.ts";
import type { AskGate, WaitingBatch } from "./ask-gate.ts";
import type { AskedItem } from "./item-reader.ts";

export type Outcome = ReplyItem | ProblemError;

/** A question under way. */
export interface Inquiry {
  readonly question: AskedItem;
  readonly done: (outcome: Outcome) => void;
  /** On the clock of `performance.now()`; 0: its budget begins when it is asked next. */
  endsAt: number;
  /** Whether its budget has begun a second time. */
  isRepeated: boolean;
}

/** A question as it was sent. */
interface Sent {
  readonly inquiry: Inquiry;
  /** On the clock of `performance.now()`. */
  readonly askedAt: number;
  /** The snapshot that had to answer; null: any. */
  readonly pinned: string | null;
}

export interface BatchAskerOptions {
  readonly dispatcher: Pick<Dispatcher, "askInBatch" | "budgetMs">;
  readonly gate: AskGate;
  /** The bucket of the key, whose turns at the gate it takes. */
  readonly holder: string;
  readonly context: QuestionContext;
  /** If the snapshot that answers is no longer kept. True: the current one answers the rest. False: the rest gets `cursor_expired`. */
  readonly mayChangeSnapshot: boolean;
  /** No question is asked, and none waited for, after this, on the clock of `performance.now()`. */
  readonly endsAt: number;
}

/** A pod may not have the pinned snapshot for a moment: it is asked again after this time. */
const notReadyRetryMs = 100;
/** Questions that may be sent before a snapshot is pinned: as many as share a frame. The first reply pins the snapshot for all. */
const scoutsMax = frameItemsMax.batch;

export class BatchAsker implements WaitingBatch {
  readonly #options: BatchAskerOptions;
  readonly #waiting = new Map<ServiceName, { items: Inquiry[]; next: number }>();
  /** The pinned snapshot; null until the first reply names one. */
  #snapshot: string | null = null;
  /** Snapshots that have answered, in their order. */
  readonly snapshots: string[] = [];
  /** Questions under way that name no snapshot. */
  #scouts = 0;
  #stopped = false;
  /** The gate calls us within the work of another batch; spans of our questions must belong to our own request. */
  readonly #inOwnContext = AsyncLocalStorage.snapshot();

  constructor(options: BatchAskerOptions) {
    this.#options = options;
  }

  get holder(): string {
    return this.#options.holder;
  }

  /** Tells the outcome once, never within this call. */
  ask(inquiry: Inquiry): void {
    this.#enqueue(inquiry);
  }

  /** Asks nothing any more; what is under way ends by itself and is told to nobody. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
  }

  askNext(service: ServiceName): boolean {
    const queue = this.#waiting.get(service);
    const inquiry = queue?.items[queue.next];
    if (queue === undefined || inquiry === undefined) return false;
    if (services[service].snapshots && this.#snapshot === null && this.#scouts >= scoutsMax) return false;
    queue.next += 1;
    if (queue.next === queue.items.length) this.#waiting.set(service, { items: [], next: 0 });
    this.#inOwnContext(() => this.#send(service, inquiry));
    return true;
  }

  #enqueue(inquiry: Inquiry): void {
    if (this.#stopped) return;
    const { service } = operations[inquiry.question.op];
    const queue = this.#waiting.get(service);
    if (queue === undefined) this.#waiting.set(service, { items: [inquiry], next: 0 });
    else queue.items.push(inquiry);
    this.#options.gate.enter(service, this);
  }

  #send(service: ServiceName, inquiry: Inquiry): void {
    const { dispatcher, gate, context, endsAt } = this.#options;
    const { op, query, units } = inquiry.question;
    const now = performance.now();
    if (inquiry.endsAt === 0) inquiry.endsAt = Math.min(now + dispatcher.budgetMs(op), endsAt);
    const budgetMs = Math.min(Math.floor(inquiry.endsAt - now), 65_535);
    if (budgetMs < 1) {
      // Told later, as every outcome; its turn at the gate is over as well.
      queueMicrotask(() => {
        gate.leave(service, this);
        this.#tell(inquiry, new ProblemError("upstream_timeout"));
      });
      return;
    }
    const pinnedSnapshot = services[service].snapshots ? this.#snapshot : null;
    const isScout = services[service].snapshots && pinnedSnapshot === null;
    if (isScout) this.#scouts += 1;
    dispatcher.askInBatch({ op, query, units, context, budgetMs, pinnedSnapshot }, (outcome) => {
      if (isScout) this.#scouts -= 1;
      const hasReply = !(outcome instanceof ProblemError);
      if (hasReply || outcome.code === "upstream_timeout")
        gate.ended(service, this, { askedAt: now, budgetMs: dispatcher.budgetMs(op), hasReply });
      if (!this.#stopped) this.#receive(service, { inquiry, askedAt: now, pinned: pinnedSnapshot }, outcome);
      gate.leave(service, this);
      if (this.#stopped) return;
      // Questions that waited for a snapshot may go now, or as many as may be asked without one.
      if (isScout) for (const waiting of this.#waiting.keys()) gate.enter(waiting, this);
    });
  }

  #receive(service: ServiceName, sent: Sent, outcome: Outcome): void {
    const { inquiry } = sent;
    const next = services[service].snapshots ? this.#judge(service, sent, outcome) : "final";
    if (next === "final") this.#tell(inquiry, outcome);
    else if (next === "again") this.#enqueue(inquiry);
    else setTimeout(() => this.#enqueue(inquiry), notReadyRetryMs);
  }

  /** Whether the outcome stands, or the question is asked again, at once or later. */
  #judge(service: ServiceName, { inquiry, askedAt, pinned }: Sent, outcome: Outcome): "final" | "again" | "later" {
    const { gate, mayChangeSnapshot } = this.#options;
    if (!(outcome instanceof ProblemError)) {
      const { snapshotId } = outcome;
      if (pinned !== null || snapshotId === "") return "final";
      if (this.#snapshot === null) this.#pin(snapshotId);
      // A question of before the pin is asked again if its pod answered from another snapshot.
      return snapshotId === this.#snapshot ? "final" : "again";
    }
    if (outcome.code === "upstream_timeout" && !inquiry.isRepeated && gate.hasReplied(service, askedAt)) {
      // The service was slower than its window allowed for. The window has shrunk since.
      inquiry.isRepeated = true;
      inquiry.endsAt = 0;
      return "again";
    }
    if (pinned === null) return "final";
    if (outcome.code === "cursor_expired" && mayChangeSnapshot) {
      if (this.#snapshot === pinned) this.#snapshot = null;
      return "again";
    }
    return outcome.code === "data_not_ready" && performance.now() + notReadyRetryMs < inquiry.endsAt ? "later" : "final";
  }

  #pin(snapshotId: string): void {
    this.#snapshot = snapshotId;
    if (!this.snapshots.includes(snapshotId)) this.snapshots.push(snapshotId);
  }

  #tell(inquiry: Inquiry, outcome: Outcome): void {
    if (!this.#stopped) inquiry.done(outcome);
  }
}
