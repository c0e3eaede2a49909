/** A frame handler made of one function per operation. The items of a frame share one context, and an item that fails does not affect the others. */

import { type ProblemCode, ProblemError } from "@netfacts/contracts";
import { problemReply } from "./problem-reply.ts";
import { nextTurn, shortWorkDone, turnMs } from "./turns.ts";
import type { Answer, FrameHandler, ReplyItem, RequestItem } from "./types.ts";

/** The shared context of the items of a frame, or the reason why none of them can be answered. */
export type Entry<C> = { readonly context: C } | { readonly refusal: ProblemCode | "not_yet" };

/** Answers one item: at once, later, or, for long work, in steps between which others may have a turn. May throw `ProblemError`. */
export type ItemHandler<C> = (item: RequestItem, context: C) => ReplyItem | Promise<ReplyItem | ReplySteps> | ReplySteps;

/** An answer that is built in steps. */
export type ReplySteps = Generator<void, ReplyItem>;

export interface ResponderOptions<C> {
  /**
   * Called once per frame, so that all its items are answered from the same data.
   *
   * @param pinnedSnapshot the snapshot that must answer; null: the current one.
   */
  readonly enter: (pinnedSnapshot: string | null) => Entry<C>;
  readonly ops: ReadonlyMap<string, ItemHandler<C>>;
  /**
   * Answers as many items of a frame as possible at once, where that costs less than one by one. Returns the indexes of the others; if it throws, all
   * items without an answer are answered one by one.
   *
   * @param bodyMemory as for a frame, or new memory at each call.
   */
  readonly together?: (
    items: readonly RequestItem[],
    context: C,
    answer: (index: number, reply: ReplyItem) => void,
    bodyMemory: (bytes: number) => Buffer,
  ) => readonly number[];
  /** Called with the cause of an `internal_error`, which the caller must not see. Runs within the item's span, if there is one. */
  readonly onFailure: (item: RequestItem, cause: unknown) => void;
}

/** The promise of the handler ends when every item is answered; slow items delay no others. */
export function createResponder<C>(options: ResponderOptions<C>): FrameHandler {
  const { enter, ops, onFailure } = options;
  return async ({ items, pinnedSnapshot, within, bodyMemory }, answer) => {
    const fail = (index: number, cause: unknown) => {
      if (cause instanceof ProblemError) return answer(index, problemReply({ code: cause.code, detail: cause.message }));
      const tell = () => onFailure(items[index] as RequestItem, cause);
      if (within === undefined) tell();
      else within(index, tell);
      answer(index, problemReply({ code: "internal_error" }));
    };
    let entry: Entry<C>;
    try {
      entry = enter(pinnedSnapshot);
    } catch (cause) {
      for (const index of items.keys()) fail(index, cause);
      return;
    }
    if ("refusal" in entry) {
      const reply = entry.refusal === "not_yet" ? "not_yet" : problemReply({ code: entry.refusal });
      for (const index of items.keys()) answer(index, reply);
      return;
    }

    const { context } = entry;
    const slow: Promise<void>[] = [];
    const turn = new Turn();
    for (const index of answerTogether(options, items, context, answer, bodyMemory)) {
      if (turn.isOver) await turn.next(0);
      const item = items[index] as RequestItem;
      const run: Run = (work) => (within === undefined ? work() : within(index, work));
      try {
        const handler = handlerOf(ops, item);
        const reply = run(() => handler(item, context));
        if (Symbol.iterator in reply) answer(index, await lastStep(reply, run, turn));
        else if ("then" in reply)
          slow.push(
            lateReply(reply, run)
              .then((late) => answer(index, late))
              .catch((cause: unknown) => fail(index, cause)),
          );
        else answer(index, reply);
      } catch (cause) {
        fail(index, cause);
      }
    }
    if (turn.isFirst) shortWorkDone();
    await Promise.all(slow);
  };
}

type Run = <T>(work: () => T) => T;

/** The time that one piece of work has on the event loop before others have their turn. */
class Turn {
  /** True until the first turn has ended. */
  isFirst = true;
  #startedAt = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#startedAt > turnMs;
  }

  /** @param turns  as for `nextTurn`. */
  async next(turns: number): Promise<void> {
    this.isFirst = false;
    await nextTurn(turns);
    this.#startedAt = performance.now();
  }
}

/** Runs all steps and returns the reply; gives up the turn whenever it is over. */
async function lastStep(steps: ReplySteps, run: Run, turn: Turn): Promise<ReplyItem> {
  for (let turns = 0; ; ) {
    const step = run(() => steps.next());
    if (step.done === true) return step.value;
    if (turn.isOver) await turn.next(++turns);
  }
}

/** Waits for a later reply; its steps, if it has any, begin in a turn of their own. */
async function lateReply(reply: Promise<ReplyItem | ReplySteps>, run: Run): Promise<ReplyItem> {
  const late = await reply;
  if (!(Symbol.iterator in late)) return late;
  const turn = new Turn();
  await turn.next(0);
  return lastStep(late, run, turn);
}

/** Returns the indexes of the items that must be answered one by one. */
function answerTogether<C>(
  { together }: ResponderOptions<C>,
  items: readonly RequestItem[],
  context: C,
  answer: Answer,
  bodyMemory: (bytes: number) => Buffer = Buffer.allocUnsafeSlow,
): Iterable<number> {
  if (together === undefined) return items.keys();
  const answered = new Set<number>();
  try {
    const tell = (index: number, reply: ReplyItem) => {
      answered.add(index);
      answer(index, reply);
    };
    return together(items, context, tell, bodyMemory);
  } catch {
    // Answered one by one, only the faulty item fails, and its cause is reported.
    return [...items.keys()].filter((index) => !answered.has(index));
  }
}

function handlerOf<C>(ops: ReadonlyMap<string, ItemHandler<C>>, item: RequestItem): ItemHandler<C> {
  const handler = ops.get(item.op);
  if (handler === undefined) throw new Error(`operation ${item.op} is not served here`);
  return handler;
}
