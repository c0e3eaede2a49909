/** Counts the results of a run of Jest. Everything that did not pass counts as failed. */

import { relative } from "node:path";

/** The used part of Jest's `--json` report. */
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
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

/**
 * These count as failed: failed tests; skipped tests and `todo` tests; files that failed otherwise (at import, or after their tests) or did not
 * run; an interrupted run; and a run in which nothing passed.
 *
 * @param isSelected  whether tests were selected by name (`-t`). The others, which Jest reports as skipped, are then not counted.
 */
export function countReport({ testResults, numTotalTestSuites, wasInterrupted = false }: JestReport, isSelected: boolean): Count {
  let passed = 0;
  let failed = Math.max(0, numTotalTestSuites - testResults.length) + (wasInterrupted ? 1 : 0);
  for (const file of testResults) {
    const { counted, wrong, isGood } = resultOf(file, isSelected);
    passed += counted.length - wrong.length;
    failed += wrong.length === 0 && !isGood ? 1 : wrong.length;
  }
  return { passed, failed: passed === 0 ? Math.max(1, failed) : failed };
}

/** The tests that count, those of them that did not pass, and whether the file is good apart from those. */
function resultOf({ status, assertionResults }: JestFile, isSelected: boolean) {
  const counted = isSelected ? assertionResults.filter((test) => test.status !== "pending") : assertionResults;
  const wrong = counted.filter((test) => test.status !== "passed");
  // The status of a file without selected tests is "skipped", and of a file with some of them "focused".
  const isGood = isSelected && counted.length < assertionResults.length ? status !== "failed" : status === "passed" && counted.length > 0;
  return { counted, wrong, isGood };
}

/** What did not pass: a line for each test, or for a file that failed outside of its tests. */
export function failedLines({ testResults }: JestReport, root: string, isSelected: boolean): string[] {
  return testResults.flatMap((file) => {
    const { wrong, isGood } = resultOf(file, isSelected);
    const path = `  ${relative(root, file.name)}`;
    if (wrong.length === 0) return isGood ? [] : [path];
    return wrong.map(({ fullName, status }) => `${path}: ${fullName} (${status})`);
  });
}

/** The last line of `make test` and `.ci/run`. */
export function countLine({ passed, failed }: Count): string {
  return `${passed} passed, ${failed} failed`;
}

/** The number of files and the duration of the run. */
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
