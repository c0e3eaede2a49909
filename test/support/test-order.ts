/**
 * The order of test files. Files that start processes mostly wait, and so do others that took long without large inputs: for time-outs. The
 * rest computes. Both kinds are spread evenly over the run, so that some always compute while others wait. Within a kind the longest begin
 * first.
 */

import { isLarge, startsProcesses } from "./test-groups.ts";

export interface TestFile {
  readonly path: string;
  readonly bytes: number;
  /** How long it took in the last run; undefined when it was never timed. */
  readonly ms: number | undefined;
}

/** A file that was never timed is assumed to last as long as its size suggests. */
const msPerByte = 1;
const msPerByteOfProcesses = 5;
/** A file that takes longer, and does not say that it is large, mostly waits. */
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

/** The longest first, each with its place in the run: the share of the kind's whole time that comes before it. */
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
