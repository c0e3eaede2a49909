/** Dates as the registries write them. */

/** `yyyymmdd` as a number if that day exists; null for anything else. */
export function readCalendarDate(text: string): number | null {
  if (!/^\d{8}$/.test(text)) return null;
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(4, 6));
  const day = Number(text.slice(6));
  const date = new Date(Date.UTC(year, month - 1, day));
  // Date.UTC reads years below 100 as 19xx: none of them is a valid date here.
  return year >= 1900 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? Number(text) : null;
}
