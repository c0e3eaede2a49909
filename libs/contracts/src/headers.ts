/** Names of the headers that belong to the contract, in lower case as Node has them. */

export const headers = {
  requestId: "x-request-id",
  requestCost: "x-request-cost",
  rateLimitPolicy: "ratelimit-policy",
  rateLimit: "ratelimit",
  rateLimitLimit: "x-ratelimit-limit",
  rateLimitRemaining: "x-ratelimit-remaining",
  rateLimitReset: "x-ratelimit-reset",
  quotaLimit: "x-quota-limit",
  quotaRemaining: "x-quota-remaining",
  quotaReset: "x-quota-reset",
  retryAfter: "retry-after",
  authenticate: "www-authenticate",
} as const;

/** The headers that tell limits: on every answer to a known key. */
export const limitHeaderNames = [
  headers.rateLimitPolicy,
  headers.rateLimit,
  headers.rateLimitLimit,
  headers.rateLimitRemaining,
  headers.rateLimitReset,
  headers.quotaLimit,
  headers.quotaRemaining,
  headers.quotaReset,
  headers.requestCost,
] as const;

/** Headers between the gateway's proxy and ingest, never taken from a client. */
export const internalHeaders = {
  /** Proves that a request comes from a gateway. */
  proxyToken: "x-netfacts-proxy-token",
  /** Id of the operator's key. */
  keyId: "x-netfacts-key-id",
  /** Set by an ingest process that hands a request on to the one that leads. */
  forwarded: "x-netfacts-handed-on",
} as const;

/** Where ingest's operator API begins, at the gateway and at ingest. */
export const ingestPath = "/admin/v1/ingest";

/** A request id of a caller is kept when it looks like this. */
export const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;
