/** A process's side of its thread of the past: forwards questions, and replaces a thread that ended or does not respond. */

import { Worker } from "node:worker_threads";
import { pastCallerOf } from "@netfacts/contracts";
import { problemReply, type ReplyItem, type RequestItem, type Share, Shares } from "@netfacts/messaging";
import { type LoadedSnapshot, type PastOptions, pastDefaults, type StoreSource } from "@netfacts/snapshot";
import type { FromPastThread, PastThreadData, PresentChange, SharedSnapshot, ToPastThread } from "./past-messages.ts";

export interface PastThreadEvents {
  loaded?(snapshot: string, loadMs: number): void;
  failed?(snapshot: string, cause: Error): void;
  /** @param result  `answered`, or the code of the problem. */
  answered?(result: string): void;
  /** The thread ended, or was terminated because it did not respond. The next question starts another one. */
  ended?(cause: Error): void;
}

export interface PastThreadOptions extends PastOptions {
  /** Most questions that may wait for answers; one more is refused. The last quarter is for callers with less than a quarter. Default: 256. */
  readonly questionsMax?: number;
  /** Time without a response after which the thread is replaced. Default: 15 s, which is longer than opening a store takes. */
  readonly hungMs?: number;
  /** Time between the end of a thread and the start of the next one. Default: 1 s. */
  readonly restartMs?: number;
  /** The thread's module. Default: the one of this package. */
  readonly module?: URL;
}

const optionDefaults = { questionsMax: 256, hungMs: 15_000, restartMs: 1_000 };

/** Part of a question's time that is reserved for sending a problem: less than the thread reserves. */
const returnMs = 100;
const pingsPerHang = 10;

/** For records and their parts. Snapshots are shared memory, which is not part of the heap. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };

interface Waiting {
  readonly settle: (reply: ReplyItem) => void;
  readonly reject: (cause: unknown) => void;
  readonly deadline: NodeJS.Timeout;
  readonly share: Share;
}

/** Costs nothing until the first question. */
export class PastThread {
  readonly #source: StoreSource;
  readonly #present: { held(): readonly LoadedSnapshot[] };
  readonly #events: PastThreadEvents;
  readonly #options: PastThreadOptions & typeof optionDefaults;
  readonly #waiting = new Map<number, Waiting>();
  readonly #shares: Shares;
  readonly #keys = new WeakMap<LoadedSnapshot, number>();
  #keysMade = 0;
  #asked = 0;
  #thread: Worker | null = null;
  /** Keys of the present snapshots that the thread knows. */
  #sentKeys: readonly number[] = [];
  #pinging: NodeJS.Timeout | undefined;
  #pingsUnanswered = 0;
  #restartAtMs = 0;
  /** The reason for refusals until `#restartAtMs`. */
  #refusal: "history_unavailable" | "data_not_ready" = "history_unavailable";
  #stopped = false;
  #state = { bytes: 0, kept: 0 };

  /**
   * @param source  the store of snapshots.
   * @param present snapshots that are in memory anyway; the thread shares them.
   */
  constructor(
    source: StoreSource,
    present: { held(): readonly LoadedSnapshot[] },
    events: PastThreadEvents = {},
    options: PastThreadOptions = pastDefaults,
  ) {
    this.#source = source;
    this.#present = present;
    this.#events = events;
    this.#options = { ...optionDefaults, ...options };
    this.#shares = new Shares(this.#options.questionsMax, "kept free");
  }

  /** Whether questions are answered at all. */
  get isOn(): boolean {
    return this.#options.snapshotsMax > 0;
  }

  /**
   * The number of snapshots of the past in memory, as last reported by the thread, and their bytes without memory that is in use anyway; questions
   * that wait.
   */
  get state(): { readonly bytes: number; readonly kept: number; readonly waiting: number } {
    return { ...this.#state, waiting: this.#shares.used };
  }

  /**
   * The answer, or the problem of a question that cannot be answered; within the question's time.
   *
   * @param nowMs  the present time, in ms since 1970.
   *
   * Rejects with the error that the thread threw.
   */
  async ask(item: RequestItem, nowMs: number): Promise<ReplyItem> {
    const reply = await this.#ask(item, nowMs);
    this.#events.answered?.(reply.contentType === "problem" ? codeOf(reply) : "answered");
    return reply;
  }

  /** Ends the thread. Questions that wait get a problem that asks to send them again, which reaches another process. */
  stop(): void {
    this.#stopped = true;
    this.#end(stopping);
  }

  #ask({ op, query, requestId, budgetMs }: RequestItem, nowMs: number): Promise<ReplyItem> {
    if (this.#stopped) return Promise.resolve(stopping());
    const thread = this.#thread ?? this.#start();
    if (thread === null) return Promise.resolve(problemReply({ code: this.#refusal }));
    const share = this.#shares.enter(pastCallerOf(query));
    if (share === null) {
      const whose = this.#shares.hasQuarter(pastCallerOf(query)) ? " of this key" : "";
      return Promise.resolve(problemReply({ code: "history_loading", detail: `Too many requests${whose} about the past are waiting.` }));
    }
    this.#tellPresent(thread);
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      const late = () => this.#waitingFor(id)?.settle(problemReply({ code: "history_loading" }));
      const deadline = setTimeout(late, Math.max(0, budgetMs - returnMs));
      this.#waiting.set(id, { settle: resolve, reject, deadline, share });
      thread.postMessage({ kind: "ask", id, item: { op, query, requestId, budgetMs }, nowMs } satisfies ToPastThread);
    });
  }

  #start(): Worker | null {
    if (performance.now() < this.#restartAtMs) return null;
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const { snapshotsMax, bytesMax, listMs, retryMs, hungMs } = this.#options;
    const options = { snapshotsMax, bytesMax, ...(listMs !== undefined && { listMs }), ...(retryMs !== undefined && { retryMs }) };
    const workerData: PastThreadData = { source: this.#source, options };
    const thread = new Worker(this.#options.module ?? new URL(`./past-worker.${extension}`, import.meta.url), {
      workerData,
      resourceLimits,
    });
    thread.unref();
    this.#thread = thread;
    this.#sentKeys = [];
    this.#pingsUnanswered = 0;
    const isCurrent = () => this.#thread === thread;
    thread.on("message", (message: FromPastThread) => {
      if (isCurrent()) this.#take(message);
    });
    thread.on("error", (cause: Error) => {
      if (isCurrent()) this.#fail(cause);
    });
    thread.on("exit", (code) => {
      if (isCurrent()) this.#fail(new Error(`ended with code ${code}`));
    });
    this.#pinging = setInterval(() => this.#ping(thread), hungMs / pingsPerHang).unref();
    return thread;
  }

  /** Counts pings and not time: after a pause of the whole process, the thread still gets its turn. */
  #ping(thread: Worker): void {
    if (this.#pingsUnanswered >= pingsPerHang) {
      this.#fail(new Error(`did not respond for ${this.#options.hungMs} ms`));
      return;
    }
    this.#pingsUnanswered += 1;
    // The thread must drop snapshots that the process dropped, even if nobody asks about the past.
    this.#tellPresent(thread);
    thread.postMessage({ kind: "ping" } satisfies ToPastThread);
  }

  #take(message: FromPastThread): void {
    this.#pingsUnanswered = 0;
    switch (message.kind) {
      case "answer":
        this.#waitingFor(message.id)?.settle(message.reply);
        break;
      case "failed":
        this.#waitingFor(message.id)?.reject(message.cause);
        break;
      case "loaded":
        this.#events.loaded?.(message.snapshot, message.loadMs);
        break;
      case "not_loaded":
        this.#events.failed?.(message.snapshot, message.cause);
        break;
      case "not_opened":
        this.#fail(message.cause, "data_not_ready");
        break;
      case "pong":
        this.#state = { bytes: message.bytes, kept: message.kept };
        break;
    }
  }

  /** Removes and returns the waiting question; undefined: its time was over. */
  #waitingFor(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    clearTimeout(waiting.deadline);
    this.#waiting.delete(id);
    this.#shares.leave(waiting.share);
    return waiting;
  }

  #tellPresent(thread: Worker): void {
    const held = this.#present.held().map((loaded): SharedSnapshot => {
      const key = this.#keys.get(loaded) ?? ++this.#keysMade;
      this.#keys.set(loaded, key);
      return { key, loaded };
    });
    const keys = held.map(({ key }) => key);
    if (keys.join() === this.#sentKeys.join()) return;
    const added = held.filter(({ key }) => !this.#sentKeys.includes(key));
    this.#sentKeys = keys;
    thread.postMessage({ kind: "present", keys, added } satisfies PresentChange & ToPastThread);
  }

  #fail(cause: Error, refusal: "history_unavailable" | "data_not_ready" = "history_unavailable"): void {
    this.#refusal = refusal;
    this.#restartAtMs = performance.now() + this.#options.restartMs;
    this.#end(() => problemReply({ code: refusal }));
    this.#events.ended?.(cause);
  }

  #end(reply: () => ReplyItem): void {
    const thread = this.#thread;
    this.#thread = null;
    clearInterval(this.#pinging);
    this.#state = { bytes: 0, kept: 0 };
    for (const id of [...this.#waiting.keys()]) this.#waitingFor(id)?.settle(reply());
    // Nobody needs the rest of its work, so its end is not awaited.
    void thread?.terminate();
  }
}

function stopping(): ReplyItem {
  return problemReply({ code: "history_loading", detail: "The service is stopping. Send the request again." });
}

function codeOf({ body }: ReplyItem): string {
  return (JSON.parse(Buffer.from(body).toString()) as { code: string }).code;
}
