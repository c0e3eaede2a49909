/** Long work of several frames shares the event loop: one of them runs a turn, and I/O comes between. */

/** How long work may keep the event loop before others have their turn. */
export const turnMs = 2;

/** For so long after short work was done, more of it is expected. */
const shortWorkMs = 1_000;

const begun: (() => void)[] = [];
const waiting: (() => void)[] = [];
/** On the clock of `performance.now()`. */
let shortWorkAt = Number.NEGATIVE_INFINITY;

/**
 * Resolves in a later turn that this caller has for itself; who waits as well has the next ones.
 *
 * @param has `begun` goes first: what is half done is finished before more is begun, so that few results are under way at a time. While
 * short work comes in, it pauses before each turn for as long as a turn may last: all results that take several turns have about half of the
 * time at most.
 */
export function nextTurn(has: "begun" | "nothing begun" = "nothing begun"): Promise<void> {
  return new Promise((resolve) => {
    (has === "begun" ? begun : waiting).push(resolve);
    if (begun.length + waiting.length === 1) schedule();
  });
}

/** Call when work was done that took one turn. */
export function shortWorkDone(): void {
  shortWorkAt = performance.now();
}

function schedule(): void {
  if (begun.length > 0 && performance.now() - shortWorkAt < shortWorkMs) setTimeout(resumeOne, turnMs);
  else setImmediate(resumeOne);
}

function resumeOne(): void {
  (begun.shift() ?? waiting.shift())?.();
  if (begun.length + waiting.length > 0) schedule();
}
