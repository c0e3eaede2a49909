/** The memory that loaded snapshots take. */

import type { LoadedSnapshot } from "./generation.ts";

/** The memory of a snapshot: its objects and their indexes. A section that several snapshots share has the same buffers in each. */
export function buffersOf({ sections }: LoadedSnapshot): ArrayBufferLike[] {
  return Object.values(sections).flatMap(({ bytes, trie, words }) => [
    bytes.buffer,
    ...(trie === null ? [] : buffersIn(trie)),
    ...(words === undefined ? [] : buffersIn(words)),
  ]);
}

/** Sum of the lengths of `buffers`. */
export function bytesOf(buffers: Iterable<ArrayBufferLike>): number {
  let bytes = 0;
  for (const { byteLength } of buffers) bytes += byteLength;
  return bytes;
}

function buffersIn(value: object): ArrayBufferLike[] {
  return Object.values(value).flatMap((member: unknown) => {
    if (ArrayBuffer.isView(member)) return [member.buffer];
    return typeof member === "object" && member !== null ? buffersIn(member) : [];
  });
}
