/** Times in the format of the API. */

/** Regular expression of what `timestamp` returns, without anchors and groups. */
export const timestampPattern = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z";

/** Unix milliseconds as RFC 3339 in UTC, whole seconds. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
