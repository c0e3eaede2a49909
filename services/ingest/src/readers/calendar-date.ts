/** Dates as the registries write them. */

/** `yyyymmdd` as a number where that day exists; null for anything else. */
export function readCalendarDate(text: string): number | null {
  if (!/^\d{8}$/.test(text)) return null;
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(4, 6));
  const day = Number(text.slice(6));
  const date = new Date(Date.UTC(year, month - 1, day));
  // Date.UTC takes years below 100 as of the last century: none of them is a date of ours.
  return year >= 1900 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? Number(text) : null;
}
