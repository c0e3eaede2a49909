/** What browsers are to make of our answers: no guessing of types, no referrer, HTTPS where that is there. Pages add a policy of their own. */

/** @param hstsSeconds  how long browsers are to come by HTTPS only (RFC 6797); 0: not told. */
export function securityHeaders(hstsSeconds: number): Readonly<Record<string, string>> {
  return {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    ...(hstsSeconds > 0 && { "strict-transport-security": `max-age=${hstsSeconds}` }),
  };
}
