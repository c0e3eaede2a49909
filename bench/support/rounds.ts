/** Runs sides in turn, round by round, and reports medians. On a noisy machine, only results of alternating rounds are comparable. */

export interface Side {
  readonly name: string;
  /** Runs a round. Returns the number of operations, and must use their results, so that nothing is optimised away. */
  run(): number | Promise<number>;
}

export interface SideResult {
  readonly name: string;
  /** Operations per second: median, smallest, largest. */
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Median of the ratios to the first side in the same round. */
  readonly ratio: number;
}

/** Results do not include warm-up rounds. */
export async function interleave(sides: readonly Side[], rounds: number, warmUp = 1): Promise<SideResult[]> {
  const rates: number[][] = sides.map(() => []);
  for (let round = -warmUp; round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const started = performance.now();
      const done = await side.run();
      const rate = done / ((performance.now() - started) / 1000);
      if (round >= 0) rates[index]?.push(rate);
    }
  }
  return sides.map(({ name }, index) => {
    const own = rates[index] as number[];
    const first = rates[0] as number[];
    return {
      name,
      median: median(own),
      min: Math.min(...own),
      max: Math.max(...own),
      ratio: median(own.map((rate, round) => rate / (first[round] as number))),
    };
  });
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** Prints a table for people, and the same as a line of JSON. */
export function printResults(title: string, unit: string, results: readonly SideResult[], more: object = {}): void {
  const rounded = (value: number) => (value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(3));
  console.log(`\n${title} (${unit}; median of rounds, both sides in one run)`);
  console.log(`${"side".padEnd(34)}${"median".padStart(14)}${"min".padStart(14)}${"max".padStart(14)}${"× first".padStart(10)}`);
  for (const { name, median: middle, min, max, ratio } of results)
    console.log(
      `${name.padEnd(34)}${rounded(middle).padStart(14)}${rounded(min).padStart(14)}${rounded(max).padStart(14)}${ratio.toFixed(2).padStart(10)}`,
    );
  console.log(JSON.stringify({ bench: title, unit, results, ...more }));
}
