/** Headers of the answers to a replaced key, which name its end. */

/**
 * `Deprecation` (RFC 9745: a date of structured fields, seconds since 1970) and `Sunset` (RFC 8594: an HTTP date).
 *
 * @param replacedAt  time at which the key was replaced, Unix ms.
 * @param endsAt      time at which the key expires, Unix ms.
 */
export function endHeaders(replacedAt: number, endsAt: number): Readonly<Record<"deprecation" | "sunset", string>> {
  return { deprecation: `@${Math.floor(replacedAt / 1_000)}`, sunset: new Date(endsAt).toUTCString() };
}
