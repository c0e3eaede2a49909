/** Two streams of lines compared in blocks, so that neither is held: a difference is told with its block and first line. */

import { createHash } from "node:crypto";

const blockLines = 10_000;

export interface LineComparison {
  readonly lines: number;
  /** `line N: ours | theirs`, of the first block that differs; null when all are the same. */
  readonly difference: string | null;
}

type Lines = AsyncIterator<string> | Iterator<string>;

/** Reads both to their ends, or to the first block that differs; lines come without their newlines. */
export async function compareLines(ours: Lines, theirs: Lines): Promise<LineComparison> {
  let lines = 0;
  try {
    for (;;) {
      const [mine, other] = [await nextBlock(ours), await nextBlock(theirs)];
      if (digest(mine) !== digest(other)) return { lines: lines + mine.length, difference: firstDifference(mine, other, lines) };
      lines += mine.length;
      if (mine.length < blockLines) return { lines, difference: null };
    }
  } finally {
    await ours.return?.();
    await theirs.return?.();
  }
}

async function nextBlock(lines: Lines): Promise<string[]> {
  const block: string[] = [];
  while (block.length < blockLines) {
    const { value, done } = await lines.next();
    if (done === true) break;
    block.push(value);
  }
  return block;
}

function digest(block: readonly string[]): string {
  return createHash("sha256").update(block.join("\n")).digest("hex");
}

function firstDifference(mine: readonly string[], other: readonly string[], before: number): string {
  const at = mine.findIndex((line, index) => line !== other[index]);
  const index = at < 0 ? mine.length : at;
  return `line ${before + index + 1}: ${mine[index] ?? "(end)"} where ${other[index] ?? "(end)"} is right`;
}
