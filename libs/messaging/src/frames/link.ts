/** A connection to a broker with subjects and queue groups, as messaging in frames needs it. */

import type { MessageMemory } from "./message-memory.ts";

export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Subject for the answer. */
  readonly reply?: string | undefined;
}

export interface LinkSubscription {
  isClosed(): boolean;
  unsubscribe(): void;
  /** Takes nothing new; resolves when all that the broker sent has been received. */
  drain(): Promise<void>;
}

/** @param unserved  the broker's own reply to a request: nobody serves its subject. */
export type Receive = (message: Message, unserved: boolean) => void;

export interface Link {
  /** A message that is published while the link is down neither throws nor arrives. */
  readonly up: boolean;
  /** Longest message that the broker takes and that does not hold up others for long. */
  readonly messageBytesMax: number;
  /** Called with each subject that the broker does not let us publish to. */
  onPublishRefused: (subject: string) => void;
  /** Returns a new prefix; this connection may subscribe to `<prefix>.*`, and no other connection uses it. */
  newInbox(): string;
  /** Calls the listener at every change from now on; returns a function that ends that. */
  watch(listener: (up: boolean) => void): () => void;
  /** Returns false when the message cannot leave: the connection is closed for good, or the broker takes no message of this size. */
  publish(subject: string, message: Uint8Array, replyTo?: string): boolean;
  /** Like `publish`, for a message written into `memory`, which may be written again when `onFree` is called. */
  publishFrom(memory: MessageMemory, bytes: number, subject: string, replyTo: string | undefined, onFree: () => void): void;
  /** @param queue  shares the messages with all others of this queue group. */
  subscribe(subject: string, receive: Receive, queue?: string): LinkSubscription;
  /** Resolves when the broker has all that was published, or when that cannot be known: at once while the link is down. */
  flush(): Promise<void>;
  /** Whether the broker answers within so many ms. */
  probe(msMax: number): Promise<boolean>;
  /** Ends subscriptions; resolves when all that the broker sent them has been received, within `msMax`. */
  drain(subscriptions: readonly LinkSubscription[], msMax: number): Promise<void>;
  close(): Promise<void>;
}
