/** Sends one question of a batch in a separate request. */

import type { Messaging } from "@netfacts/messaging";

export function askOne(messaging: Pick<Messaging, "request">, query: string): ReturnType<Messaging["request"]> {
  return messaging.request("ip-routing", "batch", {
    op: "ip",
    query,
    requestId: "01JD5T7Q9M3W8K2V6B4N1XCZPE",
    traceparent: null,
    budgetMs: 10_000,
  });
}
