/** `as_of`: how a time of the past is written. */

const dayLengthMs = 86_400_000;
/** How far the clocks of a caller and of this machine may differ. */
const clockSkewMs = 60_000;

/**
 * Reads RFC 3339 with seconds, or a date, which is the end of that day in UTC, or now if that has not come. A blank is read as `+`, as that is what a
 * URL makes of it. What is ahead by less than clocks may differ is now.
 *
 * @returns Unix seconds, never below 0.
 */
export function parseAsOf(text: string, nowMs: number): number | "invalid" | "future" {
  // Date.parse would take hour 24, which RFC 3339 does not have.
  const [, date = "", time] = /^(\d{4}-\d\d-\d\d)(?:[Tt]((?!24)\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+ -]\d\d:\d\d)))?$/.exec(text) ?? [];
  const dayMs = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(dayMs) || !new Date(dayMs).toISOString().startsWith(date)) return "invalid";
  const ms = time === undefined ? dayMs + dayLengthMs - 1_000 : Date.parse(`${date}T${time.toUpperCase().replace(" ", "+")}`);
  if (Number.isNaN(ms)) return "invalid";
  if ((time === undefined ? dayMs : ms) > nowMs + clockSkewMs) return "future";
  return Math.max(0, Math.floor(Math.min(ms, nowMs) / 1_000));
}
