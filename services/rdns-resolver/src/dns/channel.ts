/** The path of questions to one nameserver, and of its answers. */

import type { DropReason } from "./counts.ts";
import type { QuestionMessage } from "./message.ts";

/** A question that waits for its answer. */
export interface QuestionListener {
  readonly question: QuestionMessage;
  /** Called with a message that has its id and question. @returns the reason if it is no valid answer: the question then keeps waiting. */
  onMessage(message: Buffer): DropReason | null;
  /** Called if an answer does not echo the case of the name: the nameserver is old, or the answer is forged. Default: it is accepted. */
  onOtherCase?(): void;
  /** Called if the nameserver's host, or the network, refuses messages. */
  onUnreachable(): void;
}

/** Handle of a question that waits. */
export interface OpenQuestion {
  /** Ends the wait; late answers are then dropped and counted. */
  cancel(): void;
}

export interface Channel {
  /** Rejects if the nameserver cannot be reached. */
  open(): Promise<void>;
  /** Opens the channel again: the route, or the address of the host name, may have changed. */
  renew(): Promise<void>;
  /** Null if it can take no question now. */
  ask(listener: QuestionListener): OpenQuestion | null;
  close(): Promise<void>;
}
