/** Answers that wait for clients who do not read them as fast as they come. */

import type { Socket } from "node:net";

/** Bytes that wait on one connection. */
export interface Waiting {
  readonly caller: string;
  readonly bytes: number;
}

/**
 * The connections to end, so that no more than `bytesMax` wait on the others. Each time the caller for whom most bytes wait loses the connection on
 * which most of them do.
 */
export function longestBeyond<W extends Waiting>(waiting: readonly W[], bytesMax: number): readonly W[] {
  let excess = sumOf(waiting) - bytesMax;
  if (excess <= 0) return [];
  const callers = [...Map.groupBy(waiting, ({ caller }) => caller).values()].map((own) => ({
    bytes: sumOf(own),
    own: own.sort((a, b) => a.bytes - b.bytes),
  }));
  const ended: W[] = [];
  while (excess > 0) {
    const most = callers.reduce((so, each) => (each.bytes > so.bytes ? each : so));
    const longest = most.own.pop();
    if (longest === undefined) break;
    most.bytes -= longest.bytes;
    excess -= longest.bytes;
    ended.push(longest);
  }
  return ended;
}

function sumOf(waiting: readonly Waiting[]): number {
  return waiting.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Bytes that the system has taken from us, including the part of an unfinished write that was taken. Only the handle knows that part. */
export function takenBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
  };
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength;
}
