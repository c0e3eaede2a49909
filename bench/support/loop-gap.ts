/**
 * Measures the gaps of a process's event loop from within: `node --import bench/support/loop-gap.ts …`. At each SIGUSR2 it writes
 * `loop gap NUMBER {wallMs, cpuMs}`, the largest since the signal before, to standard error.
 *
 * `wallMs` is how much later than wanted a timer fired; other processes on the machine show in it. `cpuMs` is the most processor time
 * that the main thread used between two firings: what the process itself held up.
 */

const tickMs = 1;
let wallMs = 0;
let cpuMs = 0;
let number = 0;
let lastWall = performance.now();
let lastCpu = threadCpuMs();

setInterval(() => {
  const wall = performance.now();
  const cpu = threadCpuMs();
  wallMs = Math.max(wallMs, wall - lastWall - tickMs);
  cpuMs = Math.max(cpuMs, cpu - lastCpu);
  lastWall = wall;
  lastCpu = cpu;
}, tickMs).unref();

process.on("SIGUSR2", () => {
  number += 1;
  process.stderr.write(`loop gap ${number} ${JSON.stringify({ wallMs, cpuMs })}\n`);
  wallMs = 0;
  cpuMs = 0;
});

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
