/** Waiting with a time limit. */

/**
 * Calls `then` after `ms`, and after the replies that arrived until then were read. A late event loop runs its timers before it reads, and
 * would otherwise miss a reply that has arrived.
 */
export function afterReplies(ms: number, then: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(then), ms);
}

/** Waits for the work, but no longer than `ms`. */
export async function atMost(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = afterReplies(ms, resolve);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
