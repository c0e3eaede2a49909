/** Processor time of a process to the microsecond, what it waited for a processor, and how often its threads were switched (Linux). */

import { readdirSync, readFileSync } from "node:fs";

export interface ProcessUse {
  readonly ranUs: number;
  /** Able to run, and waiting for a processor. */
  readonly waitedUs: number;
  /** Times that one of its threads began to sleep or had to give up its processor. */
  readonly switches: number;
}

/** Of all threads that live now: a thread that has ended takes its time with it. */
export function useOf(pid: number): ProcessUse {
  let [ranUs, waitedUs, switches] = [0, 0, 0];
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ").map(Number);
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
    ranUs += ran / 1_000;
    waitedUs += waited / 1_000;
    for (const [, times] of status.matchAll(/ctxt_switches:\s+(\d+)/g)) switches += Number(times);
  }
  return { ranUs, waitedUs, switches };
}

export function useSince(before: ProcessUse, after: ProcessUse): ProcessUse {
  return {
    ranUs: after.ranUs - before.ranUs,
    waitedUs: after.waitedUs - before.waitedUs,
    switches: after.switches - before.switches,
  };
}
