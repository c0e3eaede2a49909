/** Security headers of all answers: browsers guess no types, send no referrer, and use only HTTPS if configured. Pages add their own policy. */

/** @param hstsSeconds  time for which browsers must use HTTPS only (RFC 6797); 0: the header is not sent. */
export function securityHeaders(hstsSeconds: number): Readonly<Record<string, string>> {
  return {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    ...(hstsSeconds > 0 && { "strict-transport-security": `max-age=${hstsSeconds}` }),
  };
}
