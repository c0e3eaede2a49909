/** Long work of several frames shares the event loop: one of them runs a turn, and I/O comes between. */

/** How long work may keep the event loop before others have their turn. */
export const turnMs = 2;

const waiting: (() => void)[] = [];

/** Resolves in a later turn that this caller has for itself: whoever waits as well has the next ones. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeOne);
  });
}

function resumeOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeOne);
}
