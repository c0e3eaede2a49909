/** Time in which this process ran, for upper bounds that no pause of the machine can break. */

const stepMs = 10;

/**
 * Starts to measure. Each time that the event loop comes to its timers counts as 10 ms at most, however long the machine ran others before: what waits
 * for a timer of this process never takes longer by this clock than by the one on the wall. Work that keeps the event loop is not counted.
 *
 * @returns ends it, and returns the ms.
 */
export function startRunningTime(): () => number {
  let ms = 0;
  const timer = setInterval(() => {
    ms += stepMs;
  }, stepMs);
  return () => {
    clearInterval(timer);
    return ms;
  };
}
