/** Sends replies: those of one event-loop turn share messages, and a body that is too long for one message continues in the next. */

import { problemReply } from "../problem-reply.ts";
import type { ReplyItem } from "../types.ts";
import { withWholeBody } from "../whole-body.ts";
import {
  encodeFailedFrame,
  type FrameVersion,
  headerBytes,
  ReplyFrameWriter,
  type ReplyPart,
  replyPartBytes,
} from "./frame-codec/index.ts";
import type { Link } from "./link.ts";
import { MessageMemory } from "./message-memory.ts";

/**
 * Size limit of messages. The requester reads up to 64 KiB at a time and copies a message that is not within one read; nats-server copies one that is
 * longer than its buffers. 32 KiB cost the three processes least (`docs/performance.md`).
 */
const sharedBytesMax = 32 * 1_024;

/** Memories of sent messages that are kept for reuse. */
const sparesMax = 32;

/** The destination of the replies to one frame. */
export interface ReplyAddress {
  readonly version: FrameVersion;
  readonly frameId: number;
  readonly subject: string;
  /** The name of the answering copy; undefined: it cannot be asked by name. */
  readonly from: string | undefined;
}

/** An unfinished message, for replies of one snapshot. */
interface OpenMessage {
  readonly snapshotId: string;
  readonly memory: MessageMemory;
  readonly writer: ReplyFrameWriter;
}

export class ReplyWriter {
  readonly #link: Link;
  readonly #onError: (what: string, cause: unknown) => void;
  readonly #open = new Map<ReplyAddress, OpenMessage[]>();
  readonly #spares: MessageMemory[] = [];

  constructor(link: Link, onError: (what: string, cause: unknown) => void) {
    this.#link = link;
    this.#onError = onError;
  }

  add(address: ReplyAddress, id: number, reply: ReplyItem | "not_yet"): void {
    try {
      if (reply === "not_yet") this.#write(address, "", { kind: "not_yet", id });
      else this.#write(address, reply.snapshotId, { kind: "reply", id, reply, more: false });
    } catch (cause) {
      this.#onError("a reply cannot be sent", cause);
      this.#write(address, "", { kind: "reply", id, reply: problemReply({ code: "internal_error" }), more: false });
    }
  }

  /** Tells the requester that nothing more comes for this frame. */
  fail(address: ReplyAddress): void {
    this.flush();
    if (this.#link.up) this.#link.publish(address.subject, encodeFailedFrame(address.version, address.frameId), address.from);
  }

  flush(): void {
    for (const [address, messages] of this.#open) {
      for (const message of messages) this.#send(address, message);
    }
    this.#open.clear();
  }

  #write(address: ReplyAddress, snapshotId: string, part: ReplyPart): void {
    const bytes = replyPartBytes(part, address.version);
    const bytesMax = Math.min(sharedBytesMax, this.#link.messageBytesMax);
    if (headerBytes + bytes > bytesMax) {
      this.#sendInPieces(address, snapshotId, part, bytesMax);
      return;
    }
    const messages = this.#messages(address);
    const index = messages.findIndex((message) => message.snapshotId === snapshotId);
    let message = messages[index];
    if (message === undefined) {
      message = this.#begin(address, snapshotId);
      messages.push(message);
    } else if (message.writer.length + message.writer.bytesOf(part) > bytesMax) {
      this.#send(address, message);
      message = this.#begin(address, snapshotId);
      messages[index] = message;
    }
    message.writer.add(part);
  }

  #messages(address: ReplyAddress): OpenMessage[] {
    const known = this.#open.get(address);
    if (known !== undefined) return known;
    const messages: OpenMessage[] = [];
    if (this.#open.set(address, messages).size === 1) setImmediate(() => this.flush());
    return messages;
  }

  #begin(address: ReplyAddress, snapshotId: string): OpenMessage {
    const memory = this.#spares.pop() ?? new MessageMemory(sharedBytesMax);
    return { snapshotId, memory, writer: new ReplyFrameWriter(memory.message, address.version, address.frameId, snapshotId) };
  }

  #send({ subject, from }: ReplyAddress, { memory, writer }: OpenMessage): void {
    const reuse = () => {
      if (this.#spares.length < sparesMax) this.#spares.push(memory);
    };
    // Without connection nothing arrives: requesters that still wait ask again.
    if (!this.#link.up || writer.count === 0) reuse();
    else this.#link.publishFrom(memory, writer.end(), subject, from, reuse);
  }

  /**
   * Sends a part that is too long to share a message in several of the same length. The requester copies nearly all longer messages, which cost it a
   * third of its time in garbage collection.
   */
  #sendInPieces(address: ReplyAddress, snapshotId: string, part: ReplyPart, bytesMax: number): void {
    for (const piece of split(part, address.version, bytesMax - headerBytes)) {
      const message = this.#begin(address, snapshotId);
      message.writer.add(piece);
      this.#send(address, message);
    }
  }
}

/** Returns a part that fits as it is; splits others into a beginning and continuations, each as long as fits. */
function split(part: ReplyPart, version: FrameVersion, bytesMax: number): ReplyPart[] {
  if (part.kind !== "reply" || replyPartBytes(part, version) <= bytesMax) return [part];
  const { id } = part;
  const reply = withWholeBody(part.reply);
  const bytes = replyPartBytes({ ...part, reply }, version);
  if (bytes <= bytesMax) return [{ ...part, reply }];
  const { body } = reply;
  const first = bytesMax - (bytes - body.length);
  const parts: ReplyPart[] = [{ kind: "reply", id, reply: { ...reply, body: body.subarray(0, first) }, more: true }];
  const step = bytesMax - replyPartBytes({ kind: "not_yet", id }, version);
  for (let offset = first; offset < body.length; offset += step)
    parts.push({ kind: "continued", id, offset, body: body.subarray(offset, offset + step), more: offset + step < body.length });
  return parts;
}
