/** A connection to a broker with subjects and queue groups, as required by messaging in frames. */

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
  /** Takes nothing new; resolves when everything that the broker sent has been received. */
  drain(): Promise<void>;
}

/** @param unserved  this is the broker's own reply to a request: nobody serves its subject. */
export type Receive = (message: Message, unserved: boolean) => void;

export interface Link {
  /** While this is false, a published message is lost without an error. */
  readonly up: boolean;
  /** Longest message that the broker accepts and that does not delay others for long. */
  readonly messageBytesMax: number;
  /** Called with each subject to which the broker does not allow this connection to publish. */
  onPublishRefused: (subject: string) => void;
  /** Returns a new prefix; this connection may subscribe to `<prefix>.*`, and no other connection uses it. */
  newInbox(): string;
  /** Calls the listener at every change from now on; returns a function that ends this. */
  watch(listener: (up: boolean) => void): () => void;
  /** Returns false when the message cannot be sent: the connection is closed for good, or the broker accepts no message of this size. */
  publish(subject: string, message: Uint8Array, replyTo?: string): boolean;
  /** Like `publish`, for a message in `memory`, which may be written again when `onFree` is called. */
  publishFrom(memory: MessageMemory, bytes: number, subject: string, replyTo: string | undefined, onFree: () => void): void;
  /** @param queue  shares the messages with all other members of this queue group. */
  subscribe(subject: string, receive: Receive, queue?: string): LinkSubscription;
  /** Resolves when the broker has all published messages, or when that cannot be known: at once while the link is down. */
  flush(): Promise<void>;
  /** Whether the broker answers within `msMax`. */
  probe(msMax: number): Promise<boolean>;
  /** Ends subscriptions; resolves when everything that the broker sent them has been received, within `msMax`. */
  drain(subscriptions: readonly LinkSubscription[], msMax: number): Promise<void>;
  close(): Promise<void>;
}
