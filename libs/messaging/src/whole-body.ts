/** Bodies that must be in one piece. */

import type { ReplyItem } from "./types.ts";

/** The same reply with its ending as part of its body. Cost: a copy if there is an ending. */
export function withWholeBody(reply: ReplyItem): ReplyItem {
  const { ending, ...rest } = reply;
  if (ending === undefined) return reply;
  return { ...rest, body: Buffer.concat([reply.body, ending], reply.body.length + ending.length) };
}
