/** Shows a run's progress: a bar with rate and ETA on a terminal, a line every few seconds elsewhere. */

import { type Options, SingleBar } from "cli-progress";
import type { ProgressEvent, ProgressListener } from "../pipeline/progress.ts";

/** Time between two lines where there is no terminal. */
const lineIntervalMs = 3_000;

export interface ProgressDisplay {
  readonly listener: ProgressListener;
  /** Ends the bar; to be called whatever became of the run. */
  stop(): void;
}

/** A display on a stream: its form follows from whether the stream is a terminal. */
export function showProgress(out: NodeJS.WriteStream): ProgressDisplay {
  return out.isTTY ? barDisplay(out) : lineDisplay((line) => out.write(`${line}\n`));
}

const barOptions: Options = {
  format: "  {label} [{bar}] {percentage} % | {size} | {rate} | ETA {eta_formatted}",
  barCompleteChar: "█",
  barIncompleteChar: "░",
  hideCursor: true,
  clearOnComplete: false,
  etaBuffer: 20,
};

function barDisplay(out: NodeJS.WriteStream): ProgressDisplay {
  let bar: SingleBar | null = null;
  let label = "";
  let started = 0;
  const end = (): void => {
    bar?.stop();
    bar = null;
  };
  return {
    listener: (event) => {
      if (event.unit === "steps" || event.total === null) {
        end();
        if (event.done === 0) out.write(`  ${event.label} …\n`);
        return;
      }
      if (event.label !== label || bar === null) {
        end();
        label = event.label;
        started = performance.now();
        bar = new SingleBar({ ...barOptions, stream: out });
        bar.start(event.total, 0, { label: label.padEnd(28), size: "", rate: "" });
      }
      bar.update(event.done, { size: bytesText(event.total), rate: rateText(event.done, started) });
      if (event.done >= event.total) end();
    },
    stop: end,
  };
}

/** Lines at most every few seconds, and one when a source is done. */
export function lineDisplay(write: (line: string) => void): ProgressDisplay {
  let label = "";
  let started = performance.now();
  let last = started;
  let pending: ProgressEvent | null = null;
  const finish = (): void => {
    if (pending !== null) write(progressLine(pending, started, performance.now()));
    pending = null;
  };
  return {
    listener: (event) => {
      const now = performance.now();
      if (event.label !== label) {
        finish();
        label = event.label;
        started = now;
        last = now;
        if (event.unit === "steps") write(`${label} …`);
      }
      if (event.unit === "steps") return;
      // The last stored byte is read before its content is unpacked: the source is done when another begins.
      pending = event;
      if (event.done === event.total || now - last < lineIntervalMs) return;
      last = now;
      write(progressLine(event, started, now));
    },
    stop: finish,
  };
}

function progressLine({ label, done, total }: ProgressEvent, started: number, now: number): string {
  if (total === null) return `${label}: ${bytesText(done)}`;
  if (done === total) return `${label}: done, ${bytesText(total)} in ${((now - started) / 1000).toFixed(1)} s`;
  const left = done === 0 ? null : ((now - started) / done) * (total - done);
  const eta = left === null ? "" : `, ETA ${Math.ceil(left / 1000)} s`;
  return `${label}: ${Math.floor((100 * done) / total)} % of ${bytesText(total)}, ${rateText(done, started)}${eta}`;
}

function rateText(done: number, started: number): string {
  const seconds = Math.max((performance.now() - started) / 1000, 0.001);
  return `${bytesText(done / seconds)}/s`;
}

/** Bytes as people read them. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${Math.round(bytes)} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(2)} GB`;
}
