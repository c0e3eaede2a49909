/** Processor time of a process in µs, its waits for a processor, and the number of its context switches (Linux). */

import { readdirSync, readFileSync } from "node:fs";

export interface ProcessUse {
  readonly ranUs: number;
  /** Time in which threads were ready to run and waited for a processor. */
  readonly waitedUs: number;
  /** Number of times that a thread began to sleep or was preempted. */
  readonly switches: number;
}

/** Sum over all living threads: the time of ended threads is lost. */
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
