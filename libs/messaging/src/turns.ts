/** Long work of several frames shares the event loop: one of them runs a turn, and I/O comes between. */

/** How long work may keep the event loop before others have their turn. */
export const turnMs = 2;

/** Work that has had so many turns is long. Fewer tell little: the machine may have run another process meanwhile. */
const longTurns = 2;
/** For so long after short work was done, more of it is expected. */
const shortWorkMs = 1_000;

interface Waiting {
  /** Turns that its work has had. */
  readonly turns: number;
  readonly resume: () => void;
}

/** In the order of asking. */
const waiting: Waiting[] = [];
let isShortestNext = true;
/** Whether the next turn is on its way: in the next round of the event loop, or after a pause. */
let coming: "soon" | "after a pause" | null = null;
let pause: NodeJS.Timeout | undefined;
/** On the clock of `performance.now()`. */
let shortWorkAt = Number.NEGATIVE_INFINITY;

/**
 * Resolves in a later turn that this caller has for itself. Work that has had the fewest turns and work that has had the most take the next
 * ones alternately: what is short does not wait for what is long, and of long work one is finished after the other, so that few results are
 * half made at a time. While short work comes in, long work alone pauses before each turn for as long as a turn may last, so that it has
 * about half of the time at most.
 *
 * @param turns that the work has had; 0: nothing of it is begun.
 */
export function nextTurn(turns: number): Promise<void> {
  return new Promise((resume) => {
    waiting.push({ turns, resume });
    schedule();
  });
}

/** Call when work was done that took one turn. */
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

/** Short work comes in, and only long work waits. */
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
  // The resumed work runs behind this call: a pause begins when its turn is over.
  if (!pausesNow()) schedule();
  else
    setImmediate(() => {
      if (waiting.length > 0) schedule();
    });
}
