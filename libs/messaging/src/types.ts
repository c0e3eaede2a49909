/** What travels between services, and the interface that every transport implements. */

/** One question to a service. */
export interface RequestItem {
  /** Name of the operation in `contracts`. */
  readonly op: string;
  /** Canonical query of the operation. */
  readonly query: string;
  /** At most 64 characters of `[A-Za-z0-9._-]`. */
  readonly requestId: string;
  /** W3C trace context of a sampled request. */
  readonly traceparent: string | null;
  /** Time that is left for the answer, in milliseconds from the call. */
  readonly budgetMs: number;
  /** Who asks: callers take turns. Stays on this side, as `units` do; those without one are one caller. */
  readonly caller?: string;
  /** What the answer costs, in multiples of a plain question's; default 1. */
  readonly units?: number;
  /** No reply is no failure: `requestFailed` does not tell of it. For a question whether anybody answers. */
  readonly mayFail?: boolean;
}

/** One answer. `body`, and `ending` behind it, is what goes out over HTTP, never parsed on the way. */
export interface ReplyItem {
  /** HTTP status. */
  readonly status: number;
  /** `problem`: the body is a `ResponderProblem` as JSON. */
  readonly contentType: "json" | "problem";
  readonly body: Uint8Array;
  /** What other replies of its frame end with as well, so that it travels once; whoever asks gets it in the batch lane only. */
  readonly ending?: Uint8Array;
  /** Costs a unit of the month. */
  readonly counted: boolean;
  readonly cacheable: boolean;
  readonly maxAgeSeconds: number;
  /** What the answer depends on besides the query (section versions, stale flags, warning codes); empty: no ETag. */
  readonly etag: string;
  /** The snapshot that answered; empty: none. */
  readonly snapshotId: string;
  /** Place at which the list in the body goes on, for formats that have no room to tell; absent: at its end, or the body tells. */
  readonly next?: number;
}

/**
 * `single`: plain interactive requests, which are served first. `batch`: batches, and whatever else is long work (`units` above 1), so that
 * no plain request waits for it.
 */
export type Lane = "single" | "batch";

/** Requests that travel together. */
export interface Frame {
  readonly items: readonly RequestItem[];
  /** The snapshot that must answer; null: the current one. */
  readonly pinnedSnapshot: string | null;
  /**
   * Memory for bodies, of at least so many bytes, where the transport copies them: it is used again once they were handed to `answer`,
   * and at the next call. Absent: bodies are kept, and need memory of their own.
   */
  readonly bodyMemory?: (bytes: number) => Buffer;
  /** Runs the work on one item within its span, where there are spans. */
  readonly within?: <T>(index: number, work: () => T) => T;
}

/** `not_yet`: the pinned snapshot is not here yet; another responder is asked, and callers see at last a `data_not_ready` problem. */
export type Answer = (index: number, reply: ReplyItem | "not_yet") => void;

/**
 * Answers the items of one frame: each index at most once, in any order, also after the handler has returned, until its promise
 * ends. A handler that throws or rejects fails the items that it has not answered.
 */
export type FrameHandler = (frame: Frame, answer: Answer) => void | Promise<void>;

export interface Subscription {
  /** Takes nothing new; resolves when what was taken is finished. May be called again. */
  stop(): Promise<void>;
}

/** Typed request and reply between services, and broadcast. Payload meaning is not known here. */
export interface Messaging {
  /**
   * Sends one question to any one responder of the service; what is asked in one event-loop turn shares frames.
   *
   * Rejects with `MessagingError` only: the reply of a responder that refuses is a resolved problem reply.
   *
   * @param pinnedSnapshot the snapshot that must answer; default: the current one.
   */
  request(service: string, lane: Lane, item: RequestItem, pinnedSnapshot?: string | null): Promise<ReplyItem>;
  /** Becomes a responder of the service. Each frame goes to one of its responders. */
  serve(service: string, handler: FrameHandler): Promise<Subscription>;
  /** Tells every subscriber, this process included. `payload` is a JSON value that nobody changes afterwards. At most once, no answer. */
  publish(subject: string, payload: unknown): void;
  /** Listens to one subject, in the order of publication of each publisher. A listener that throws harms no other. */
  subscribe(subject: string, listener: (payload: unknown) => void): Subscription;
  /**
   * Tells whether others can be reached: at once, and at every change. Broadcasts of a time without connection are lost, so what
   * listens to them reads again when it is told true.
   */
  watchConnection(listener: (up: boolean) => void): Subscription;
  /** Whether the broker answers now, within so many ms: a connection may be up long after its other end has stopped. */
  probe(msMax: number): Promise<boolean>;
  /**
   * Refuses new requests, waits for those in flight (between processes for at most 1 s; the rest fail), then ends every
   * subscription. May be called again.
   */
  close(): Promise<void>;
}
