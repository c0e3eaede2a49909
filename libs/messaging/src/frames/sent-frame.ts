/** A sent frame: its items, those of them without an answer, and the bodies that have arrived in part. */

import { isCostly } from "../bounds.ts";
import type { Watched } from "../deadlines.ts";
import type { Share } from "../shares.ts";
import type { ReplyItem } from "../types.ts";
import type { Copy } from "./copies.ts";
import type { FrameVersion, ReplyPart } from "./frame-codec/index.ts";
import type { Pending, RequestQueue } from "./request-queue.ts";

interface Body {
  readonly reply: ReplyItem;
  readonly parts: Uint8Array[];
  length: number;
}

type Sent = Pick<SentFrame, "version" | "id" | "firstItemId" | "queue" | "items" | "copy" | "sentAt">;

export class SentFrame implements Watched {
  bucket: Watched["bucket"] = null;
  /** The copy that was asked. */
  readonly copy: Copy;
  /** On the clock of `performance.now()`. */
  readonly sentAt: number;
  isAnswered = false;
  /** Waited longer than usual for its first answer. */
  isMissed = false;
  /** Time of its next check. */
  lookAt = 0;
  readonly version: FrameVersion;
  readonly id: number;
  readonly firstItemId: number;
  readonly queue: RequestQueue;
  readonly items: readonly Pending[];
  readonly isCostly: boolean;
  /** The caller whose turn it was. */
  readonly begunBy: Share;
  /** Number of items that only this frame can answer so far: while there are any, the frame counts as in flight. */
  open: number;
  /** Number of items whose answer from this frame would still be used. */
  awaited: number;
  readonly #bodies = new Map<number, Body>();

  constructor({ version, id, firstItemId, queue, items, copy, sentAt }: Sent) {
    this.version = version;
    this.id = id;
    this.firstItemId = firstItemId;
    this.queue = queue;
    this.copy = copy;
    this.sentAt = sentAt;
    this.items = items;
    // A frame is never empty.
    const first = items[0] as Pending;
    this.isCostly = isCostly(first.item);
    this.begunBy = first.share;
    this.open = items.length;
    this.awaited = items.length;
  }

  /** The item with this id; undefined: it was never in this frame. */
  item(id: number): Pending | undefined {
    return this.items[(id - this.firstItemId) >>> 0];
  }

  /** The complete reply, `more` when some of its body is still missing, or `broken` when a part of it was lost. */
  join(part: Exclude<ReplyPart, { kind: "not_yet" }>): ReplyItem | "more" | "broken" {
    if (part.kind === "reply") {
      if (!part.more) return part.reply;
      this.#bodies.set(part.id, { reply: part.reply, parts: [part.reply.body], length: part.reply.body.length });
      return "more";
    }
    const body = this.#bodies.get(part.id);
    if (body === undefined || body.length !== part.offset) return "broken";
    body.parts.push(part.body);
    body.length += part.body.length;
    return part.more ? "more" : { ...body.reply, body: Buffer.concat(body.parts, body.length) };
  }
}
