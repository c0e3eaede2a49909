/** How many inputs a property gets, and from which seeds, in the runs that people start. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const module = join(import.meta.dirname, "../support/runs.ts");
const program = `const { runs, seed } = await import(${JSON.stringify(module)});
  console.log(JSON.stringify([runs(20_000), runs(150), runs(8), runs(20, 5), seed(1), seed(2)]));`;

/** What a run with these settings is told: counts for 20,000, 150 and 8 inputs and for 20 of which an ordinary run tries 5, and the seeds of two tests. */
function told(env: Readonly<Record<string, string>>): { values: number[]; err: string; status: number | null } {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "--no-warnings", "--eval", program], {
    env: { PATH: process.env.PATH, ...env },
    encoding: "utf8",
  });
  return { values: status === 0 ? JSON.parse(stdout) : [], err: stderr, status };
}

test("an ordinary run tries a tenth, never fewer than a hundred, all or what the test says, from the tests' own seeds", () => {
  expect(told({})).toEqual({ values: [2_000, 100, 8, 5, 1, 2], err: "", status: 0 });
});

test("a quick run tries a quarter of what an ordinary one tries, and at least one", () => {
  expect(told({ NETFACTS_TEST_QUICK: "1" })).toEqual({ values: [500, 25, 2, 2, 1, 2], err: "", status: 0 });
  expect(told({ NETFACTS_TEST_QUICK: "1", NETFACTS_TEST_LONG: "1" }).values.slice(0, 4)).toEqual([20_000, 150, 8, 20]);
});

test("a long run tries all, from seeds that it prints, and the number that it prints repeats them", () => {
  const first = told({ NETFACTS_TEST_LONG: "1" });
  expect(first.values.slice(0, 4)).toEqual([20_000, 150, 8, 20]);
  expect(first.values[4]).not.toBe(first.values[5]);
  const [, number = ""] = /NETFACTS_TEST_SEED=(\d+)/.exec(first.err) ?? [];
  expect(told({ NETFACTS_TEST_LONG: "1", NETFACTS_TEST_SEED: number }).values).toEqual(first.values);
  expect(told({ NETFACTS_TEST_LONG: "1", NETFACTS_TEST_SEED: `${Number(number) + 1}` }).values.slice(4)).not.toEqual(first.values.slice(4));
});

test("a seed that is no number is refused", () => {
  expect(told({ NETFACTS_TEST_SEED: "one" })).toMatchObject({ status: 1, err: expect.stringContaining("NETFACTS_TEST_SEED") });
});
