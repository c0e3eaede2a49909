/** The order of test files: the longest begin first, so that none is left to run when all others are done. */

import { startsProcesses } from "./test-groups.ts";

export interface TestFile {
  readonly path: string;
  readonly bytes: number;
  /** How long it took in the last run; undefined when it was never timed. */
  readonly ms: number | undefined;
}

/** A file that was never timed is assumed to last as long as its size suggests. */
const msPerByte = 1;
const msPerByteOfProcesses = 5;

export function inOrder<File extends TestFile>(files: readonly File[]): File[] {
  return files
    .map((file) => ({ file, ms: file.ms ?? file.bytes * (startsProcesses(file.path) ? msPerByteOfProcesses : msPerByte) }))
    .sort((a, b) => b.ms - a.ms)
    .map(({ file }) => file);
}
