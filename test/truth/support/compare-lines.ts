/** Two streams of text compared as they come, so that neither is held: a difference is told with its line. */

export interface LineComparison {
  readonly lines: number;
  /** `line N: ours where theirs is right`, of the first line that differs; null when all are the same. */
  readonly difference: string | null;
}

type Text = AsyncIterator<Uint8Array> | Iterator<Uint8Array>;

const lineFeed = 10;

/** Reads both to their ends, or to the first difference. Each line ends with a line feed. */
export async function compareLines(ours: Text, theirs: Text): Promise<LineComparison> {
  const [mine, other] = [new Rest(ours), new Rest(theirs)];
  let lines = 0;
  try {
    for (;;) {
      const [a, b] = [await mine.wholeLines(), await other.wholeLines()];
      const length = Math.min(a.length, b.length);
      if (length === 0) {
        const same = a.length === b.length;
        return { lines, difference: same ? null : differenceAt(lines, a, b) };
      }
      // Where the shorter one ends the longer one has a line's end too, or they differ.
      const [headA, headB] = [a.subarray(0, length), b.subarray(0, length)];
      if (!headA.equals(headB)) return { lines, difference: firstDifference(lines, a, b) };
      lines += lineCount(headA);
      mine.drop(length);
      other.drop(length);
    }
  } finally {
    await ours.return?.();
    await theirs.return?.();
  }
}

/** What was read of a stream and is not yet compared. */
class Rest {
  readonly #source: Text;
  #bytes = Buffer.alloc(0);

  constructor(source: Text) {
    this.#source = source;
  }

  /** Up to the last line feed so far; at the end of the stream all that is left. */
  async wholeLines(): Promise<Buffer> {
    for (;;) {
      const end = this.#bytes.lastIndexOf(lineFeed) + 1;
      if (end > 0) return this.#bytes.subarray(0, end);
      const { value, done } = await this.#source.next();
      if (done === true) return this.#bytes;
      this.#bytes = Buffer.concat([this.#bytes, value]);
    }
  }

  drop(length: number): void {
    this.#bytes = this.#bytes.subarray(length);
  }
}

function lineCount(text: Buffer): number {
  let count = 0;
  for (let at = text.indexOf(lineFeed); at >= 0; at = text.indexOf(lineFeed, at + 1)) count++;
  return count;
}

function firstDifference(before: number, a: Buffer, b: Buffer): string {
  let [fromA, lines] = [0, before];
  for (;;) {
    const end = a.indexOf(lineFeed, fromA) + 1;
    if (end === 0 || !a.subarray(fromA, end).equals(b.subarray(fromA, end)))
      return differenceAt(lines, a.subarray(fromA), b.subarray(fromA));
    fromA = end;
    lines++;
  }
}

function differenceAt(before: number, a: Buffer, b: Buffer): string {
  const line = (text: Buffer) => text.toString("latin1").split("\n", 1)[0] || "(end)";
  return `line ${before + 1}: ${line(a)} where ${line(b)} is right`;
}
