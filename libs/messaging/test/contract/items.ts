/** Items, replies and handlers for tests of transports. */

import type { FrameHandler, Messaging, MessagingOptions, ReplyItem, RequestItem } from "../../src/index.ts";

/** Makes a transport of its own, with nobody else on it. `queuedItemsMax` must be 4,096. */
export type CreateMessaging = (options?: MessagingOptions) => Promise<Messaging>;

let count = 0;

export function item(query: string, options: Partial<RequestItem> = {}): RequestItem {
  return { op: "ip", query, requestId: `request-${++count}`, traceparent: null, budgetMs: 5_000, ...options };
}

export function reply(text: string, snapshotId = "20140523T080000Z-1a2b3c4d"): ReplyItem {
  return {
    status: 200,
    contentType: "json",
    body: Buffer.from(text),
    counted: true,
    cacheable: true,
    maxAgeSeconds: 60,
    etag: "routes=1",
    snapshotId,
  };
}

/** The whole body. */
export function textOf({ body, ending = Buffer.alloc(0) }: ReplyItem): string {
  return Buffer.concat([body, ending]).toString();
}

export const echo: FrameHandler = ({ items, pinnedSnapshot }, answer) => {
  for (const [index, { query }] of items.entries()) answer(index, reply(query, pinnedSnapshot ?? undefined));
};

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Two snapshots to pin. */
export const older = "20140523T080000Z-00000001";
export const newer = "20140524T080000Z-00000002";
