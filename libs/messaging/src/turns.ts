/** Long work of several frames shares the event loop: one of them runs a turn, and I/O comes between. */

/** How long work may keep the event loop before others have their turn. */
export const turnMs = 2;

const begun: (() => void)[] = [];
const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn that this caller has for itself; who waits as well has the next ones.
 *
 * @param has `begun` goes first: what is half done is finished before more is begun, so that few results are under way at a time.
 */
export function nextTurn(has: "begun" | "nothing begun" = "nothing begun"): Promise<void> {
  return new Promise((resolve) => {
    (has === "begun" ? begun : waiting).push(resolve);
    if (begun.length + waiting.length === 1) setImmediate(resumeOne);
  });
}

function resumeOne(): void {
  (begun.shift() ?? waiting.shift())?.();
  if (begun.length + waiting.length > 0) setImmediate(resumeOne);
}
