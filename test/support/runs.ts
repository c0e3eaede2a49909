/**
 * How many inputs a property is tried with, and from which seed they are made.
 *
 * An ordinary run tries a tenth of the inputs from the seed that the test names, so that two runs try the same ones. With
 * NETFACTS_TEST_LONG=1 a run tries all of them, from seeds that no other run has: it prints the number that they follow from, and
 * NETFACTS_TEST_SEED=number repeats them.
 */

export const longVariable = "NETFACTS_TEST_LONG";
export const seedVariable = "NETFACTS_TEST_SEED";

/** A property that is tried with fewer inputs than this is cheap, or hardly proves anything with a tenth of them. */
const leastRuns = 100;

/** Whether this is the long run: all inputs, seeds of its own. */
export const isLong = process.env[longVariable] === "1";
const rotation = rotationOfRun();

/**
 * @param full  the count of a long run.
 * @param ordinary  the count of an ordinary run, for inputs of which each takes long; by default a tenth, and 100 at least.
 * @returns the count of this run.
 */
export function runs(full: number, ordinary = Math.max(leastRuns, Math.ceil(full / 10))): number {
  return isLong ? full : Math.min(full, ordinary);
}

/** @param fixed  the seed of an ordinary run; two properties of a file that should not see the same inputs name different ones. */
export function seed(fixed: number): number {
  return rotation === null ? fixed : (fixed ^ Math.imul(rotation, 0x9e3779b1)) >>> 0;
}

/** null: each test's own seed. */
function rotationOfRun(): number | null {
  const given = process.env[seedVariable];
  if (given) {
    if (!/^\d{1,10}$/.test(given)) throw new Error(`${seedVariable} must be a whole number, not ${JSON.stringify(given)}`);
    return Number(given);
  }
  if (!isLong) return null;
  // Nobody chose one for the whole run: this file chooses its own.
  const chosen = Date.now() % 1_000_000_000;
  process.stderr.write(`to repeat: ${longVariable}=1 ${seedVariable}=${chosen}\n`);
  return chosen;
}
