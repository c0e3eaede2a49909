/** A process that is stopped by SIGSTOP, and sure to be. */

import { readdirSync, readFileSync } from "node:fs";

/** Threads of a loaded machine may go on for some milliseconds. */
const stopMsMax = 2_000;

/** Sends SIGSTOP and returns when every thread has stopped: until then the process may still answer. Elsewhere than on Linux it only sends. */
export function freezeProcess(pid: number): void {
  process.kill(pid, "SIGSTOP");
  if (process.platform !== "linux") return;
  const until = performance.now() + stopMsMax;
  while (!threadStates(pid).every((state) => state === "T" || state === "t")) {
    if (performance.now() > until) throw new Error(`process ${pid} has not stopped within ${stopMsMax} ms of SIGSTOP`);
  }
}

/** The letter behind the program's name, which stands in parentheses and may hold any character. */
function threadStates(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const stat = statOf(pid, thread);
    return stat === null ? [] : [stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3)];
  });
}

/** null: the thread has ended meanwhile. */
function statOf(pid: number, thread: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
  } catch {
    return null;
  }
}
