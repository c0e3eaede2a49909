/** Names of the headers that belong to the contract, in lower case as Node has them. */

export const headers = {
  requestId: "x-request-id",
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

/** A request id of a caller is kept when it looks like this. */
export const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;
