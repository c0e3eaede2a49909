/** The form of snapshot ids; and ids as 64-bit numbers, as they travel in frames: seconds since 1970 in the upper half, the digest in the lower. */

/** Two unsigned 32-bit halves; both 0: no snapshot. Numbers sort as their ids do. */
export interface SnapshotNumber {
  readonly seconds: number;
  readonly digest: number;
}

/** Regular expression of an id such as `20140523T080000Z-1a2b3c4d`, without anchors and groups. */
export const snapshotIdPattern = "[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}";

const wholeId = new RegExp(`^${snapshotIdPattern}$`);
const partsOfId = /^([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})Z-([0-9a-f]{8})$/;

/** Whether the text has the form of an id; its time need not exist. */
export function isSnapshotId(text: string): boolean {
  return wholeId.test(text);
}

/**
 * The number of an id. Reversible: `snapshotIdOf` gives the same text again.
 *
 * @throws RangeError for a text that is no such id, or whose time is none between 1970 and 2106.
 */
export function snapshotNumberOf(id: string): SnapshotNumber {
  const parts = partsOfId.exec(id);
  if (parts !== null) {
    const [, year, month, day, hour, minute, second, digest] = parts;
    const seconds = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) / 1_000;
    const number = { seconds, digest: Number.parseInt(digest as string, 16) };
    // A 31st of June would come back as the 1st of July.
    if (seconds >= 0 && seconds <= 0xffff_ffff && isSome(number) && snapshotIdOf(number) === id) return number;
  }
  throw new RangeError(`not a snapshot id that can travel: ${id}`);
}

/** The id of a number that is not 0. */
export function snapshotIdOf({ seconds, digest }: SnapshotNumber): string {
  const time = new Date(seconds * 1_000).toISOString().slice(0, 19).replace(/[-:]/g, "");
  return `${time}Z-${digest.toString(16).padStart(8, "0")}`;
}

function isSome({ seconds, digest }: SnapshotNumber): boolean {
  return seconds !== 0 || digest !== 0;
}
