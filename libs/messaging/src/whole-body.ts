/** Bodies that go out in one piece. */

import type { ReplyItem } from "./types.ts";

/** The same reply without an ending apart from its body. Cost: a copy where there is one. */
export function withWholeBody(reply: ReplyItem): ReplyItem {
  const { ending, ...rest } = reply;
  if (ending === undefined) return reply;
  return { ...rest, body: Buffer.concat([reply.body, ending], reply.body.length + ending.length) };
}
