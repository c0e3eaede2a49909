/**
 * Measures the gaps of the event loop in its own process: `node --import bench/support/loop-gap.ts …`. At each SIGUSR2, it writes the largest
 * ones since the previous signal to standard error: `loop gap NUMBER {wallMs, cpuMs}`.
 *
 * `wallMs` is the largest delay of a timer, to which other processes on the machine contribute. `cpuMs` is the most processor time that the main
 * thread used between two timers, which is the delay that the process itself caused.
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
