/** Locations of dated files: `{yyyyMMdd}` and similar patterns stand for a time in UTC, on a grid of seconds since midnight. */

const dayLength = 86_400;

const patterns: Readonly<Record<string, (time: Date) => string>> = {
  yyyy: (time) => `${time.getUTCFullYear()}`,
  MM: (time) => twoDigits(time.getUTCMonth() + 1),
  dd: (time) => twoDigits(time.getUTCDate()),
  HH: (time) => twoDigits(time.getUTCHours()),
  mm: (time) => twoDigits(time.getUTCMinutes()),
};

/** Number of files before the newest that are tried; a publisher that is further behind has stopped. */
export const stepsBackMax = 12;

export const templateForm = "{yyyy}, {MM}, {dd}, {HH}, {mm}, or several of them in one such as {yyyyMMdd}";

export function hasTimes(template: string): boolean {
  return /[{}]/.test(template);
}

/** The fault of the braces; null: there is none. */
export function templateFault(template: string): string | null {
  const rest = template.replaceAll(/\{((?:yyyy|MM|dd|HH|mm|[._-])+)\}/g, (whole, body: string) => (/[yMdHm]/.test(body) ? "" : whole));
  return hasTimes(rest) ? `expected ${templateForm} in braces` : null;
}

/**
 * The locations for a time, newest first; only one if the template has no times.
 *
 * @param every  seconds between two files, as in `stepOf`.
 * @param now  Unix ms.
 */
export function locationsAt(template: string, every: number, now: number): string[] {
  if (!hasTimes(template)) return [template];
  const times = [stepOf(now / 1_000, every)];
  for (let at = times[0] ?? 0; times.length <= stepsBackMax; times.push(at)) at = stepOf(at - 1, every);
  // A pattern may be coarser than the grid: several times then have the same name.
  return [...new Set(times.map((time) => locationAt(template, new Date(time * 1_000))))];
}

/**
 * The step that contains a time, both in Unix seconds.
 *
 * @param every  seconds between two steps, counted from 00:00 UTC of each day, so that the last step of a day may be shorter. Steps longer than a day
 *   are counted from 1970-01-01.
 */
export function stepOf(time: number, every: number): number {
  const start = every < dayLength ? Math.floor(time / dayLength) * dayLength : 0;
  return start + Math.floor((time - start) / every) * every;
}

/** The step after one that begins at a time, both in Unix seconds. */
export function nextStep(at: number, every: number): number {
  return stepOf(at + every, every);
}

/** The location for one time of the grid. */
export function locationAt(template: string, time: Date): string {
  return template.replaceAll(/\{([^{}]*)\}/g, (_, body: string) =>
    body.replaceAll(/yyyy|MM|dd|HH|mm/g, (part) => patterns[part]?.(time) ?? part),
  );
}

function twoDigits(value: number): string {
  return `${value}`.padStart(2, "0");
}
