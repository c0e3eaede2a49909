/** Locations of dated files: `{yyyyMMdd}` and similar patterns stand for a time in UTC, on a grid of seconds since midnight. */

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
 * @param every  seconds between two files; their times are multiples of it since 00:00 UTC.
 * @param now  Unix ms.
 */
export function locationsAt(template: string, every: number, now: number): string[] {
  if (!hasTimes(template)) return [template];
  const newest = Math.floor(now / (every * 1_000)) * every * 1_000;
  const times = Array.from({ length: stepsBackMax + 1 }, (_, back) => new Date(newest - back * every * 1_000));
  // A pattern may be coarser than the grid: several times then have the same name.
  return [...new Set(times.map((time) => locationAt(template, time)))];
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
