/** The one table of problems: every code that an answer can carry, what it means and what helps. Codes never change meaning within v1. */

/** `never`: the same request fails again. `later`: the same request may succeed, after `Retry-After` where the answer carries it. */
export type RetryAdvice = "never" | "later";

export interface ErrorEntry {
  /** HTTP status. */
  readonly status: number;
  /** The same short words in every answer of this code. */
  readonly title: string;
  /** What happened: the `detail` where the answer has nothing more exact to say. Public: reveals nothing internal. */
  readonly happened: string;
  /** What the caller can do. */
  readonly remedy: string;
  readonly retry: RetryAdvice;
  /** `Retry-After` where nothing better is known; null: the answer carries none, or its own. */
  readonly retryAfterSeconds: number | null;
}

function entry(
  status: number,
  title: string,
  happened: string,
  remedy: string,
  retry: RetryAdvice = "never",
  retryAfterSeconds: number | null = null,
): ErrorEntry {
  return { status, title, happened, remedy, retry, retryAfterSeconds };
}

const table = {
  invalid_ip: entry(
    400,
    "The address is not valid",
    "The path does not hold an IPv4 or IPv6 address.",
    "Send one address as in `193.0.6.139` or `2001:db8::1`, without port, zone id or brackets.",
  ),
  invalid_prefix: entry(
    400,
    "The prefix is not valid",
    "The question does not hold an IPv4 or IPv6 prefix.",
    "Send a prefix in CIDR form, as in `193.0.0.0/21`: length 0 to 32 for IPv4, 0 to 128 for IPv6, without leading zeros.",
  ),
  prefix_has_host_bits: entry(
    400,
    "The prefix has host bits set",
    "The address of the prefix has bits set beyond its length.",
    "Use the corrected prefix in `errors[].suggestion`.",
  ),
  invalid_asn: entry(
    400,
    "The AS number is not valid",
    "The question does not hold an AS number.",
    "Send a number from 0 to 4294967295 as `AS3333`, `3333` or asdot (`1.10`).",
  ),
  invalid_parameter: entry(
    400,
    "A query parameter is not valid",
    "A query parameter is unknown, repeated, missing or has a value that it cannot have.",
    "Mend what `errors[]` lists: each item names the parameter and what it takes.",
  ),
  invalid_cursor: entry(
    400,
    "The cursor is not valid",
    "The cursor is not whole, or not one of this question.",
    "Send `next_cursor` as it came, with the path and the filters of the question that it came from; or ask without a cursor, from the start.",
  ),
  invalid_body: entry(
    400,
    "The body is not valid",
    "The body of the request is not what the route takes.",
    "Send what the route is documented to take; mend what `errors[]` lists.",
  ),
  bad_request: entry(
    400,
    "The request is not valid HTTP",
    "The request could not be read as HTTP.",
    "Send an HTTP/1.1 request as RFC 9112 has it.",
  ),
  key_in_query: entry(
    400,
    "API keys do not belong in the URL",
    "The query string holds an API key. URLs are kept in logs and histories, so the request was refused.",
    "Send the key as `Authorization: Bearer <key>`, and rotate the one that stood in the URL.",
  ),
  missing_api_key: entry(401, "An API key is needed", "The request has no API key.", "Send `Authorization: Bearer <key>`."),
  invalid_api_key: entry(
    401,
    "The API key is not valid",
    "The API key is malformed, unknown, or its secret does not match.",
    "Check that the whole key was copied. A key is shown once, when it is made; make another if it is lost.",
  ),
  expired_api_key: entry(
    401,
    "The API key has expired",
    "The API key is past its expiry.",
    "Use the key that replaced it, or ask your operator for one.",
  ),
  revoked_api_key: entry(401, "The API key was revoked", "The API key was revoked, which is final.", "Ask your operator for another key."),
  disabled_api_key: entry(403, "The API key is disabled", "The API key is disabled for now.", "Ask your operator to enable it."),
  insufficient_scope: entry(
    403,
    "The API key lacks the scope",
    "The API key may not ask this kind of question.",
    "Ask your operator for the scope that `detail` names, or use a key that has it.",
  ),
  ip_not_allowed: entry(
    403,
    "The API key is not allowed from this address",
    "The API key is bound to networks that the caller's address is not in.",
    "Call from an allowed network, or ask your operator to add yours. `/api/v1/me` shows the networks of a key.",
  ),
  route_not_found: entry(404, "There is no such route", "Nothing answers at this path.", "Check the path against the list of endpoints."),
  method_not_allowed: entry(
    405,
    "The method is not allowed here",
    "The route exists, but not for this method.",
    "Use one of the methods in the `Allow` header.",
  ),
  not_acceptable: entry(
    406,
    "No acceptable format",
    "The `Accept` header excludes every format that this route has.",
    "Accept `application/json`, or send no `Accept` header. Lists come as `application/x-ndjson`, `text/csv` and `text/plain` too.",
  ),
  run_not_found: entry(
    404,
    "There is no such run",
    "No run of ingest has this id.",
    "Take the id from `GET /admin/v1/ingest/runs`; the oldest runs may be gone.",
  ),
  key_not_found: entry(
    404,
    "There is no such key",
    "No key has this id.",
    "Take the id from `GET /admin/v1/keys`: the eight characters after `nf_live_` or `nf_test_`.",
  ),
  plan_not_found: entry(404, "There is no such plan", "No plan has this name.", "Take the name from `GET /admin/v1/plans`."),
  request_timeout: entry(
    408,
    "The request took too long to arrive",
    "The request was not complete in time.",
    "Send the whole request at once.",
    "later",
  ),
  run_in_progress: entry(
    409,
    "A run is in progress",
    "Ingest runs one import at a time, and one is under way.",
    "Wait until that run has ended; `GET /admin/v1/ingest/runs` shows it.",
    "later",
    5,
  ),
  idempotency_conflict: entry(
    409,
    "The Idempotency-Key stood for another request",
    "Within the last 24 hours this Idempotency-Key came with another path or body.",
    "Send a new Idempotency-Key for a new request, and the same one only to repeat the same request.",
  ),
  last_admin_key: entry(
    409,
    "It is the last admin key",
    "Without this key no active one with the scope `admin` would be left, so nothing was changed.",
    "Make another admin key first, or repeat the request with `force=true`.",
  ),
  key_state_conflict: entry(
    409,
    "The state of the key does not allow it",
    "What was asked for cannot be done to a key in this state.",
    "Look at the key with `GET /admin/v1/keys/{id}`: a revoked one stays so, and of one that was replaced the successor is meant.",
  ),
  plan_in_use: entry(
    409,
    "Keys refer to the plan",
    "The plan is that of keys which are not revoked, so it was not deleted.",
    "Give those keys another plan first; `GET /admin/v1/keys?plan=` lists them.",
  ),
  cursor_expired: entry(
    410,
    "That version of the data is gone",
    "The question is bound to a version of the data that is no longer kept.",
    "Ask again from the start, without the cursor: the answer is then of the current version.",
  ),
  payload_too_large: entry(
    413,
    "The body is too large",
    "The body of the request is larger than the route takes.",
    "Send less at once; batches of any length are asked as `application/x-ndjson`.",
  ),
  batch_too_large: entry(
    413,
    "The batch has too many questions",
    "A batch that is one JSON document, as question or as answer, has at most 1,000 questions.",
    "Split the batch, or send and accept `application/x-ndjson`, which has no such bound.",
  ),
  precondition_failed: entry(
    412,
    "A condition of the request does not hold",
    "The answer is not the one that `If-Match` or `If-Unmodified-Since` asks for.",
    "Ask without the condition. Tags are weak, and `If-Match` holds for none of them; use `If-None-Match`.",
  ),
  uri_too_long: entry(414, "The URL is too long", "The URL is longer than any question needs.", "Shorten the URL."),
  unsupported_media_type: entry(
    415,
    "The body's format is not supported",
    "The `Content-Type` or `Content-Encoding` of the body is not one that the route takes.",
    "Send a body of a type that the route is documented to take, in UTF-8, plain or packed with gzip.",
  ),
  batch_item_invalid: entry(
    422,
    "The question of the batch cannot be read",
    "This item of the batch is not a question: it is not JSON, or not of the form of its kind.",
    "Mend what `errors[]` lists; the other items of the batch were not affected.",
  ),
  headers_too_large: entry(
    431,
    "The request headers are too large",
    "The headers together exceed what is read.",
    "Send fewer or smaller headers.",
  ),
  rate_limit_exceeded: entry(
    429,
    "The rate limit is used up",
    "The key has sent all requests of its current rate window.",
    "Wait for `Retry-After` seconds; spread requests by the `RateLimit` headers.",
    "later",
  ),
  quota_exceeded: entry(
    429,
    "The monthly quota is used up",
    "The key has asked all questions of its calendar month (UTC).",
    "Wait for the next month, or ask your operator for a larger quota.",
    "later",
  ),
  concurrency_limit_exceeded: entry(
    429,
    "Too many requests at a time",
    "As many requests of the key as it may have at a time are being answered.",
    "Wait for one of them to end, and send fewer at a time; `/api/v1/me` shows how many may be. This cost neither rate nor month.",
    "later",
    1,
  ),
  too_many_failed_keys: entry(
    429,
    "Too many failed API keys",
    "This address or network has sent too many keys that are not valid.",
    "Wait for `Retry-After` seconds and send a valid key.",
    "later",
    60,
  ),
  internal_error: entry(
    500,
    "Something went wrong here",
    "The request failed for a reason on our side.",
    "Try again later; if it persists, tell your operator the `request_id`.",
    "later",
  ),
  upstream_error: entry(
    502,
    "An internal service failed",
    "The service that answers this question failed.",
    "Try again later; if it persists, tell your operator the `request_id`.",
    "later",
  ),
  upstream_timeout: entry(
    504,
    "An internal service took too long",
    "The service that answers this question did not do so in time.",
    "Try again.",
    "later",
  ),
  data_not_ready: entry(
    503,
    "The data are not loaded yet",
    "The data that this question needs are not loaded yet.",
    "Wait for `Retry-After` seconds; `/api/v1/status` tells what is loaded.",
    "later",
    5,
  ),
  resolver_unavailable: entry(
    503,
    "No DNS resolver can be reached",
    "None of the configured DNS resolvers answers.",
    "Wait for `Retry-After` seconds; if it persists, tell your operator. Other questions are not affected.",
    "later",
    5,
  ),
  limits_unavailable: entry(
    503,
    "Limits cannot be checked",
    "The store of keys and limits cannot be reached, so the request was not admitted.",
    "Wait for `Retry-After` seconds.",
    "later",
    1,
  ),
  upstream_unavailable: entry(
    503,
    "An internal service is away",
    "The service that answers this question is away for the moment.",
    "Wait for `Retry-After` seconds.",
    "later",
    2,
  ),
  temporarily_overloaded: entry(
    503,
    "Too much is asked at once",
    "More questions wait than can be answered in time.",
    "Wait for `Retry-After` seconds and send fewer at once.",
    "later",
    1,
  ),
  shutting_down: entry(
    503,
    "The service is stopping",
    "This instance is stopping and takes no more requests.",
    "Send the request again; another instance, or the next start, answers it.",
    "later",
    2,
  ),
} as const satisfies Record<string, ErrorEntry>;

export type ProblemCode = keyof typeof table;

/** Code → what it means. Ordered as documented: by what the caller can do about it. */
export const errors: Readonly<Record<ProblemCode, ErrorEntry>> = table;

/** Every code, in the order of the table. */
export const problemCodes = Object.keys(table) as readonly ProblemCode[];
