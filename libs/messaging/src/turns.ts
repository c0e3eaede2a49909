/** Shares the event loop among long work of several frames: one of them runs for a turn, and I/O comes in between. */

/** Longest time that work may keep the event loop before others have their turn. */
export const turnMs = 2;

/** Work that has had at least this many turns counts as long. Fewer prove little: the machine may have run another process meanwhile. */
const longTurns = 2;
/** More short work is expected for this time after short work was done. */
const shortWorkMs = 1_000;

interface Waiting {
  /** Number of turns that its work has had. */
  readonly turns: number;
  readonly resume: () => void;
}

/** In the order of the calls. */
const waiting: Waiting[] = [];
let isShortestNext = true;
/** When the next turn begins: in the next round of the event loop, or after a pause. Null: none is scheduled. */
let coming: "soon" | "after a pause" | null = null;
let pause: NodeJS.Timeout | undefined;
/** On the clock of `performance.now()`. */
let shortWorkAt = Number.NEGATIVE_INFINITY;

/**
 * Resolves in a later turn that this caller has for itself. Turns go alternately to the work that has had the fewest turns and to the one that has
 * had the most: short work does not wait for long work, and long work is finished one after the other, so that few results are half made at a time.
 * While short work comes in, long work alone pauses before each turn for the length of a turn, so that it has at most about half of the time.
 *
 * @param turns that the work has had; 0: it has not begun.
 */
export function nextTurn(turns: number): Promise<void> {
  return new Promise((resume) => {
    waiting.push({ turns, resume });
    schedule();
  });
}

/** Call when work was done that took only one turn. */
export function shortWorkDone(): void {
  shortWorkAt = performance.now();
}

function schedule(): void {
  if (coming === "soon") return;
  if (!pausesNow()) {
    clearTimeout(pause);
    coming = "soon";
    setImmediate(resumeOne);
  } else if (coming === null) {
    coming = "after a pause";
    pause = setTimeout(resumeOne, turnMs);
  }
}

/** Whether to pause: short work comes in, and only long work waits. */
function pausesNow(): boolean {
  return performance.now() - shortWorkAt < shortWorkMs && waiting.every(({ turns }) => turns >= longTurns);
}

function resumeOne(): void {
  coming = null;
  let next = 0;
  for (let at = 1; at < waiting.length; at++) {
    const more = (waiting[at] as Waiting).turns - (waiting[next] as Waiting).turns;
    if (isShortestNext ? more < 0 : more > 0) next = at;
  }
  isShortestNext = !isShortestNext;
  waiting.splice(next, 1)[0]?.resume();
  if (waiting.length === 0) return;
  // The resumed work runs after this call: a pause begins when its turn is over.
  if (!pausesNow()) schedule();
  else
    setImmediate(() => {
      if (waiting.length > 0) schedule();
    });
}
