/** The messages between services, and the interface that every transport implements. */

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
  /** Remaining time for the answer, in milliseconds from the call. */
  readonly budgetMs: number;
  /** The caller, for taking turns. Not sent, like `units`; all requests without it count as one caller. */
  readonly caller?: string;
  /** Cost of the answer, in multiples of a plain question's cost; default 1. */
  readonly units?: number;
  /** A missing reply is not a failure: `requestFailed` does not report it. For a question whether anybody answers. */
  readonly mayFail?: boolean;
}

/** One answer. `body`, followed by `ending`, is sent over HTTP as it is, and is never parsed on the way. */
export interface ReplyItem {
  /** HTTP status. */
  readonly status: number;
  /** `problem`: the body is a `ResponderProblem` as JSON. */
  readonly contentType: "json" | "problem";
  readonly body: Uint8Array;
  /** An ending that other replies of the frame share, so that it is sent once. Only requesters of the batch lane receive it separately. */
  readonly ending?: Uint8Array;
  /** Costs a unit of the month. */
  readonly counted: boolean;
  readonly cacheable: boolean;
  readonly maxAgeSeconds: number;
  /** The input of the ETag besides the query (section versions, stale flags, warning codes); empty: no ETag. */
  readonly etag: string;
  /** The snapshot that answered; empty: none. */
  readonly snapshotId: string;
  /** Place at which the list in the body continues, for formats that cannot say it. Absent: the list is complete, or the body says it. */
  readonly next?: number;
}

/**
 * `single`: plain interactive requests, which are served first. `batch`: batches, and all other long work (`units` above 1), so that no plain request
 * waits for it.
 */
export type Lane = "single" | "batch";

/** Requests that are sent together. */
export interface Frame {
  readonly items: readonly RequestItem[];
  /** The snapshot that must answer; null: the current one. */
  readonly pinnedSnapshot: string | null;
  /**
   * Returns memory for bodies, of at least this size, if the transport copies them. It is reused when the bodies were passed to `answer`, and at the
   * next call. Absent: bodies are kept, and need memory of their own.
   */
  readonly bodyMemory?: (bytes: number) => Buffer;
  /** Runs the work on one item within its span, if there is one. */
  readonly within?: <T>(index: number, work: () => T) => T;
}

/** `not_yet`: the pinned snapshot is not here yet. Another responder is asked; if retries fail, the caller gets a `data_not_ready` problem. */
export type Answer = (index: number, reply: ReplyItem | "not_yet") => void;

/**
 * Answers the items of one frame: each index at most once, in any order, until its promise ends, which may be after the call has returned. If the
 * handler throws or rejects, the items that it has not answered fail.
 */
export type FrameHandler = (frame: Frame, answer: Answer) => void | Promise<void>;

export interface Subscription {
  /** Takes nothing new; resolves when everything that was taken is finished. May be called again. */
  stop(): Promise<void>;
}

/** Typed requests and replies between services, and broadcasts. The meaning of payloads is not known here. */
export interface Messaging {
  /**
   * Sends one question to any one responder of the service; questions of one event-loop turn share frames.
   *
   * Rejects with `MessagingError` only: a refusal by a responder is a resolved problem reply.
   *
   * @param pinnedSnapshot the snapshot that must answer; default: the current one.
   */
  request(service: string, lane: Lane, item: RequestItem, pinnedSnapshot?: string | null): Promise<ReplyItem>;
  /** Becomes a responder of the service. Each frame goes to one of its responders. */
  serve(service: string, handler: FrameHandler): Promise<Subscription>;
  /**
   * Sends to every subscriber, including this process. `payload` is a JSON value that must not be changed afterwards. Delivered at most once, without
   * an answer.
   */
  publish(subject: string, payload: unknown): void;
  /** Listens to one subject; messages of one publisher arrive in their order. A listener that throws does not affect others. */
  subscribe(subject: string, listener: (payload: unknown) => void): Subscription;
  /**
   * Reports whether others can be reached: at once, and at every change. Broadcasts are lost while there is no connection, so a listener of
   * broadcasts must read its data again when it gets true.
   */
  watchConnection(listener: (up: boolean) => void): Subscription;
  /** Whether the broker answers now, within `msMax`: a connection may seem to be up long after its other end has stopped. */
  probe(msMax: number): Promise<boolean>;
  /**
   * Refuses new requests, waits for those in flight (between processes for at most 1 s; the rest fail), then ends every subscription. May be called
   * again.
   */
  close(): Promise<void>;
}
