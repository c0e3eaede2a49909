/**
 * The number of inputs of a property in a test, and their seed.
 *
 * An ordinary run tries a tenth of the inputs, from the seed in the test, so that all runs try the same ones. With NETFACTS_TEST_QUICK=1, a run
 * tries a quarter of those. With NETFACTS_TEST_LONG=1, a run tries all inputs from new seeds. It prints the number from which it derived them;
 * NETFACTS_TEST_SEED=number repeats them.
 */

export const longVariable = "NETFACTS_TEST_LONG";
export const quickVariable = "NETFACTS_TEST_QUICK";
export const seedVariable = "NETFACTS_TEST_SEED";

/** Least number of inputs of an ordinary run. A property with fewer is cheap, or would hardly prove anything with a tenth of them. */
const leastRuns = 100;

/** Whether this is a long run: all inputs, from new seeds. */
export const isLong = process.env[longVariable] === "1";
/** Whether this is a quick run: a part of the inputs of an ordinary one. */
const isQuick = !isLong && process.env[quickVariable] === "1";
/** Number of inputs of an ordinary run for each input of a quick one. */
const quickDivisor = 4;
const rotation = rotationOfRun();

/**
 * @param full  number of inputs in a long run.
 * @param ordinary  number of inputs in an ordinary run, if each takes long. Default: a tenth, at least 100.
 * @returns number of inputs in this run.
 */
export function runs(full: number, ordinary = Math.max(leastRuns, Math.ceil(full / 10))): number {
  if (isLong) return full;
  const inputs = Math.min(full, ordinary);
  return isQuick ? Math.ceil(inputs / quickDivisor) : inputs;
}

/** @param fixed  seed of an ordinary run. Use different seeds for properties of a file that need different inputs. */
export function seed(fixed: number): number {
  return rotation === null ? fixed : (fixed ^ Math.imul(rotation, 0x9e3779b1)) >>> 0;
}

/** Null: use the seed of each test. */
function rotationOfRun(): number | null {
  const given = process.env[seedVariable];
  if (given) {
    if (!/^\d{1,10}$/.test(given)) throw new Error(`${seedVariable} must be a whole number, not ${JSON.stringify(given)}`);
    return Number(given);
  }
  if (!isLong) return null;
  // No seed was given for the whole run, so each test file chooses one.
  const chosen = Date.now() % 1_000_000_000;
  process.stderr.write(`to repeat: ${longVariable}=1 ${seedVariable}=${chosen}\n`);
  return chosen;
}
