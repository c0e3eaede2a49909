/** Durations, sizes, shares and dates as people write them: `8h`, `4GiB`, `20%`, `2026-11-21`. Each reader returns null for anything else. */

const secondsPerUnit = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
const bytesPerUnit = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
} as const;

/** Ten years: a longer duration is a mistake. */
const secondsMax = 10 * 365 * 86_400;

export const durationForm = "a duration such as 90s, 30m, 8h, 1d or 2w";
export const sizeForm = "a size such as 500MB or 4GiB, or a number of bytes";
export const instantForm = "a date such as 2026-11-21, or a time such as 2026-11-21T08:00:00Z";
export const shareForm = "a share such as 0.2 or 20%";

/** Whole seconds, from 1 to ten years. A bare number has no unit and is refused. */
export function readDuration(value: unknown): number | null {
  const match = typeof value === "string" ? /^(\d{1,12})(s|m|h|d|w)$/.exec(value) : null;
  if (match === null) return null;
  const seconds = Number(match[1]) * secondsPerUnit[match[2] as keyof typeof secondsPerUnit];
  return seconds >= 1 && seconds <= secondsMax ? seconds : null;
}

/** Whole bytes, at least 1. */
export function readSize(value: unknown): number | null {
  const match = typeof value === "string" ? /^(\d{1,15}(?:\.\d{1,3})?) ?([kKMGT]?i?B)$/.exec(value) : null;
  const unit = match?.[2] ?? "B";
  if (!Object.hasOwn(bytesPerUnit, unit)) return null;
  const bytes = match === null ? value : Number(match[1]) * bytesPerUnit[unit as keyof typeof bytesPerUnit];
  return typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= 1 ? bytes : null;
}

/** 0 to 1 as a number, or 0% to 100% as text. */
export function readShare(value: unknown): number | null {
  const match = typeof value === "string" ? /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(value) : null;
  const share = match === null ? value : Number(match[1]) / 100;
  return typeof share === "number" && share >= 0 && share <= 1 ? share : null;
}

/** Unix seconds of a day (its beginning in UTC), or of a second in UTC. */
export function readInstant(value: unknown): number | null {
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}Z)?$/.test(value)) return null;
  const ms = Date.parse(value);
  // Date.parse turns 31 February into a day of March: a date exists only if it is formatted as it was written.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value.replace("Z", "")) ? ms / 1000 : null;
}
