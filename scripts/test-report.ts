/** What a run of Jest comes to: counted so that nothing that did not pass can look as if it had. */

import { relative } from "node:path";

/** The part of Jest's `--json` report that is read here. */
export interface JestReport {
  readonly testResults: readonly JestFile[];
  readonly numTotalTestSuites: number;
  readonly wasInterrupted?: boolean;
}

export interface JestFile {
  readonly name: string;
  readonly status: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly { readonly status: string; readonly fullName?: string }[];
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

/**
 * Failed are: tests that failed; tests that were skipped or left to do; files that failed otherwise (they crashed at import, or after their
 * tests) or did not run; and a run in which nothing passed.
 *
 * @param isSelected  tests were selected by their name (`-t`): the others, which Jest reports as skipped, count for nothing.
 */
export function countReport({ testResults, numTotalTestSuites, wasInterrupted = false }: JestReport, isSelected: boolean): Count {
  let passed = 0;
  let failed = Math.max(0, numTotalTestSuites - testResults.length) + (wasInterrupted ? 1 : 0);
  for (const { status, assertionResults } of testResults) {
    const counted = isSelected ? assertionResults.filter((test) => test.status !== "pending") : assertionResults;
    const wrong = counted.filter((test) => test.status !== "passed").length;
    passed += counted.length - wrong;
    // With all tests of other names, Jest calls a file "skipped", and with some of them "focused".
    const isGood = isSelected && counted.length < assertionResults.length ? status !== "failed" : status === "passed" && counted.length > 0;
    failed += wrong === 0 && !isGood ? 1 : wrong;
  }
  return { passed, failed: passed === 0 ? Math.max(1, failed) : failed };
}

/** The last line of `make test` and `.ci/run`. */
export function countLine({ passed, failed }: Count): string {
  return `${passed} passed, ${failed} failed`;
}

/** How long the run took by the clock. */
export function timeLine({ testResults }: JestReport, seconds: number): string {
  return `${testResults.length} files in ${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

/** The slowest files, slowest first. */
export function slowestLines({ testResults }: JestReport, root: string, linesMax = 10): string[] {
  return testResults
    .map(({ name, startTime, endTime }) => ({ path: relative(root, name), seconds: (endTime - startTime) / 1_000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, linesMax)
    .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}`);
}
