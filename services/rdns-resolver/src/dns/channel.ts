/** How questions reach one nameserver and answers come back. */

import type { DropReason } from "./counts.ts";
import type { QuestionMessage } from "./message.ts";

/** One question as it waits for its answer. */
export interface QuestionListener {
  readonly question: QuestionMessage;
  /** A message with its id and its question; a reason: not an answer after all, so it goes on waiting. */
  onMessage(message: Buffer): DropReason | null;
  /** An answer that does not echo the case of the name: an old nameserver, or a forger. Default: it is as good as another. */
  onOtherCase?(): void;
  /** The nameserver's host, or the way to it, refused. */
  onUnreachable(): void;
}

/** A question that waits. */
export interface OpenQuestion {
  /** Ends the wait; late answers are then dropped and counted. */
  cancel(): void;
}

export interface Channel {
  /** Rejects where there is no way to the nameserver. */
  open(): Promise<void>;
  /** Opens it anew: the way, or what a host name means, may have changed. */
  renew(): Promise<void>;
  /** Null where it can take no question now. */
  ask(listener: QuestionListener): OpenQuestion | null;
  close(): Promise<void>;
}
