/** Stops a process by SIGSTOP, and waits until it is stopped. */

import { readdirSync, readFileSync } from "node:fs";

/** Longest wait in ms. A thread that waits for a slow disk stops only after that. */
const stopMsMax = 30_000;

/** Sends SIGSTOP. On Linux, it returns when all threads have stopped: until then, the process may still answer. */
export function freezeProcess(pid: number): void {
  process.kill(pid, "SIGSTOP");
  if (process.platform !== "linux") return;
  const until = performance.now() + stopMsMax;
  while (!threadStates(pid).every((state) => state === "T" || state === "t")) {
    if (performance.now() > until) throw new Error(`process ${pid} has not stopped within ${stopMsMax} ms of SIGSTOP`);
  }
}

/** State letters of all threads. The letter is after the program's name, which is in parentheses and may contain any character. */
function threadStates(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const stat = statOf(pid, thread);
    return stat === null ? [] : [stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3)];
  });
}

/** Null: the thread has ended meanwhile. */
function statOf(pid: number, thread: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
  } catch {
    return null;
  }
}
