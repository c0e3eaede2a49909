/** Replies on their way back: those of one event-loop turn share messages, and a body that is too long for one goes on in the next. */

import { problemReply } from "../problem-reply.ts";
import type { ReplyItem } from "../types.ts";
import { encodeFailedFrame, encodeReplyFrame, headerBytes, type ReplyPart, replyPartBytes } from "./frame-codec/index.ts";
import type { Link } from "./link.ts";

/** Where the replies of one frame go. */
export interface ReplyAddress {
  readonly frameId: number;
  readonly subject: string;
}

export class ReplyWriter {
  readonly #link: Link;
  readonly #onError: (what: string, cause: unknown) => void;
  readonly #waiting = new Map<ReplyAddress, ReplyPart[]>();

  constructor(link: Link, onError: (what: string, cause: unknown) => void) {
    this.#link = link;
    this.#onError = onError;
  }

  add(address: ReplyAddress, id: number, reply: ReplyItem | "not_yet"): void {
    const part: ReplyPart = reply === "not_yet" ? { kind: "not_yet", id } : { kind: "reply", id, reply, more: false };
    const parts = this.#waiting.get(address);
    if (parts !== undefined) parts.push(part);
    else if (this.#waiting.set(address, [part]).size === 1) setImmediate(() => this.flush());
  }

  /** Nothing more comes for this frame. */
  fail(address: ReplyAddress): void {
    this.flush();
    if (this.#link.up) this.#link.publish(address.subject, encodeFailedFrame(address.frameId));
  }

  flush(): void {
    for (const [address, parts] of this.#waiting) {
      // Without connection nothing arrives: whoever still waits asks again.
      if (this.#link.up) this.#write(address, parts);
    }
    this.#waiting.clear();
  }

  #write(address: ReplyAddress, parts: readonly ReplyPart[]): void {
    const bySnapshot = Map.groupBy(parts, (part) => (part.kind === "reply" ? part.reply.snapshotId : ""));
    for (const [snapshotId, alike] of bySnapshot) {
      const bytesMax = this.#link.messageBytesMax;
      let message: ReplyPart[] = [];
      let bytes = headerBytes;
      const send = () => {
        if (message.length > 0) this.#publish(address, snapshotId, message, bytes);
        message = [];
        bytes = headerBytes;
      };
      for (const part of alike.flatMap((whole) => split(whole, bytesMax - headerBytes))) {
        const partBytes = replyPartBytes(part);
        if (bytes + partBytes > bytesMax) send();
        message.push(part);
        bytes += partBytes;
      }
      send();
    }
  }

  #publish(address: ReplyAddress, snapshotId: string, parts: ReplyPart[], bytes: number): void {
    let message: Buffer;
    try {
      message = encodeReplyFrame({ frameId: address.frameId, snapshotId, parts }, bytes);
    } catch (cause) {
      this.#onError("a reply cannot travel", cause);
      const reply = problemReply({ code: "internal_error" });
      const instead: ReplyPart[] = parts.map(({ id }) => ({ kind: "reply", id, reply, more: false }));
      const insteadBytes = instead.reduce((sum, part) => sum + replyPartBytes(part), headerBytes);
      message = encodeReplyFrame({ frameId: address.frameId, snapshotId: "", parts: instead }, insteadBytes);
    }
    this.#link.publish(address.subject, message);
  }
}

/** A part that fits, or its beginning and what goes on, each as long as fits. */
function split(part: ReplyPart, bytesMax: number): ReplyPart[] {
  const bytes = replyPartBytes(part);
  if (part.kind !== "reply" || bytes <= bytesMax) return [part];
  const { id, reply } = part;
  const { body } = reply;
  const first = bytesMax - (bytes - body.length);
  const parts: ReplyPart[] = [{ kind: "reply", id, reply: { ...reply, body: body.subarray(0, first) }, more: true }];
  const step = bytesMax - replyPartBytes({ kind: "not_yet", id });
  for (let offset = first; offset < body.length; offset += step)
    parts.push({ kind: "continued", id, offset, body: body.subarray(offset, offset + step), more: offset + step < body.length });
  return parts;
}
