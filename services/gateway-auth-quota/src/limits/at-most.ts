/** Waiting that ends. */

/**
 * Calls back after so many ms, and after what arrived until then was read: an event loop that is late runs its timers before it reads, and
 * would take a reply that is there for one that did not come.
 */
export function afterReplies(ms: number, then: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(then), ms);
}

/** Waits for the work, but no longer than so many ms. */
export async function atMost(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = afterReplies(ms, resolve);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
