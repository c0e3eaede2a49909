/**
 * The order of test files. Files that start processes mostly wait. Files that took long without large inputs also mostly wait, for time-outs. All
 * others compute. Both kinds are spread evenly over the run, so that some files always compute while others wait. Within a kind, the longest
 * files start first.
 */

import { isLarge, startsProcesses } from "./test-groups.ts";

export interface TestFile {
  readonly path: string;
  readonly bytes: number;
  /** Duration in the last run; undefined: unknown. */
  readonly ms: number | undefined;
}

/** Estimates for files of unknown duration, from their size. */
const msPerByte = 1;
const msPerByteOfProcesses = 5;
/** A file that takes longer, and is not marked as large, mostly waits. */
const computesMsMax = 4_000;

export function inOrder<File extends TestFile>(files: readonly File[]): File[] {
  const waiting: Timed<File>[] = [];
  const computing: Timed<File>[] = [];
  for (const file of files) {
    const starts = startsProcesses(file.path);
    const ms = file.ms ?? file.bytes * (starts ? msPerByteOfProcesses : msPerByte);
    const waits = starts || (!isLarge(file.path) && (file.ms ?? 0) > computesMsMax);
    (waits ? waiting : computing).push({ file, ms });
  }
  return [...spread(waiting), ...spread(computing)].sort((a, b) => a.place - b.place).map(({ file }) => file);
}

interface Timed<File> {
  readonly file: File;
  readonly ms: number;
}

/** The files, longest first, each with its place in the run: the share of its kind's total time that is before it. */
function spread<File>(files: readonly Timed<File>[]): { readonly file: File; readonly place: number }[] {
  const sum = files.reduce((total, { ms }) => total + ms, 0) || 1;
  let before = 0;
  return files
    .toSorted((a, b) => b.ms - a.ms)
    .map(({ file, ms }) => {
      const place = before / sum;
      before += ms;
      return { file, place };
    });
}
