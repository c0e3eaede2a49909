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
    "Invalid IP address",
    "The path does not contain an IPv4 or IPv6 address.",
    "Send one address such as `193.0.6.139` or `2001:db8::1`, without a port, zone id or brackets.",
  ),
  invalid_prefix: entry(
    400,
    "Invalid prefix",
    "The request does not contain an IPv4 or IPv6 prefix.",
    "Send a prefix in CIDR form, such as `193.0.0.0/21`. The length is 0 to 32 for IPv4 and 0 to 128 for IPv6, without leading zeros.",
  ),
  prefix_has_host_bits: entry(
    400,
    "Prefix has host bits set",
    "The prefix has address bits set beyond its length.",
    "Use the corrected prefix in `errors[].suggestion`.",
  ),
  invalid_asn: entry(
    400,
    "Invalid AS number",
    "The request does not contain an AS number.",
    "Send a number from 0 to 4294967295 as `AS3333`, `3333` or asdot (`1.10`).",
  ),
  invalid_parameter: entry(
    400,
    "Invalid parameter",
    "A parameter in the query or in a header is unknown, repeated, missing, or has an invalid value.",
    "Fix each problem in `errors[]`: every item names the parameter and the values that it accepts.",
  ),
  invalid_cursor: entry(
    400,
    "Invalid cursor",
    "The cursor is incomplete, or belongs to a different request.",
    "Send `next_cursor` unchanged, with the same path and filters as the request that returned it. To start over, omit the cursor.",
  ),
  invalid_body: entry(
    400,
    "Invalid request body",
    "The request body does not match what the route accepts.",
    "Fix each problem in `errors[]`. The documentation of the route describes the body.",
  ),
  bad_request: entry(400, "Invalid HTTP request", "The request could not be parsed as HTTP.", "Send a valid HTTP/1.1 request (RFC 9112)."),
  key_in_query: entry(
    400,
    "API key in the URL",
    "The query string contains an API key. The request was rejected because URLs end up in logs and browser histories.",
    "Send the key as `Authorization: Bearer <key>`, and rotate the key that was in the URL.",
  ),
  missing_api_key: entry(401, "API key required", "The request has no API key.", "Send `Authorization: Bearer <key>`."),
  invalid_api_key: entry(
    401,
    "Invalid API key",
    "The API key is malformed or unknown, or its secret does not match.",
    "Check that you copied the whole key. A key is shown only once, when it is created. If it is lost, create another one.",
  ),
  expired_api_key: entry(
    401,
    "Expired API key",
    "The API key has expired.",
    "Use the key that replaced it, or ask your operator for a new one.",
  ),
  revoked_api_key: entry(
    401,
    "Revoked API key",
    "The API key was revoked. A revoked key cannot be restored.",
    "Ask your operator for another key.",
  ),
  disabled_api_key: entry(403, "Disabled API key", "The API key is currently disabled.", "Ask your operator to enable the key."),
  insufficient_scope: entry(
    403,
    "Insufficient scope",
    "The API key does not have the scope that this request requires.",
    "Ask your operator for the scope that `detail` names, or use a key that has it.",
  ),
  ip_not_allowed: entry(
    403,
    "API key not allowed from this address",
    "The API key may only be used from certain networks, and your address is not in any of them.",
    "Send the request from an allowed network, or ask your operator to add yours. `/api/v1/me` lists the networks of a key.",
  ),
  cost_exceeds_limit: entry(
    403,
    "Request costs more than the rate limit",
    "The request costs more units than the key has in a whole rate window, so it can never be admitted.",
    "Ask for less: a smaller `limit`, or fewer costly items in one JSON batch. Or ask your operator for a higher rate limit.",
  ),
  route_not_found: entry(
    404,
    "Route not found",
    "There is no route at this path.",
    "Check the path against the list of routes at `/docs/reference`.",
  ),
  method_not_allowed: entry(
    405,
    "Method not allowed",
    "The route does not support this method.",
    "Use one of the methods in the `Allow` header.",
  ),
  not_acceptable: entry(
    406,
    "No acceptable format",
    "The `Accept` header excludes every format that this route supports.",
    "Accept `application/json`, or send no `Accept` header. Lists are also available as `application/x-ndjson`, `text/csv` and `text/plain`.",
  ),
  run_not_found: entry(
    404,
    "Run not found",
    "There is no ingest run with this id.",
    "Take the id from `GET /admin/v1/ingest/runs`. The oldest runs are deleted over time.",
  ),
  snapshot_not_found: entry(
    404,
    "Snapshot not found",
    "There is no complete snapshot with this id.",
    "Take the id from `GET /admin/v1/ingest/snapshots`.",
  ),
  upload_not_found: entry(
    404,
    "Upload not found",
    "There is no upload with this id.",
    "Take the id from `GET /admin/v1/ingest/observations/uploads`. Uploads without stored lines are deleted over time.",
  ),
  key_not_found: entry(
    404,
    "Key not found",
    "There is no key with this id.",
    "Take the id from `GET /admin/v1/keys`. It is the eight characters after `nf_live_` or `nf_test_`.",
  ),
  plan_not_found: entry(404, "Plan not found", "There is no plan with this name.", "Take the name from `GET /admin/v1/plans`."),
  profile_not_found: entry(
    404,
    "Profile not found",
    "No source and no override describes this AS, or there is no override to delete.",
    "Take the AS number from `GET /admin/v1/profiles`; `source=override` lists the overrides.",
  ),
  request_timeout: entry(
    408,
    "Request timeout",
    "The request did not arrive completely in time.",
    "Send the whole request without pauses.",
    "later",
  ),
  run_in_progress: entry(
    409,
    "Run in progress",
    "An ingest run is already in progress. Only one can run at a time.",
    "Wait until that run has ended. `GET /admin/v1/ingest/runs` shows its state.",
    "later",
    5,
  ),
  snapshot_conflict: entry(
    409,
    "Another snapshot is the current one",
    "Nothing was changed: `replaces` is not the current snapshot, or `snapshot` is the current one already.",
    "Look at `GET /admin/v1/ingest/snapshots` again. Another snapshot may have been published meanwhile.",
  ),
  upload_conflict: entry(
    409,
    "Conflict with the state of the upload",
    "The upload is in progress, has another format or source, or has fewer stored bytes than `offset`; or the file differs from its stored part.",
    "Request `GET /admin/v1/ingest/observations/uploads/{id}`, and send the file again from its `offset`. Use another `upload` for a different file. If the response has `Retry-After`, another request is sending to this upload: wait for it.",
    "later",
  ),
  idempotency_conflict: entry(
    409,
    "Idempotency-Key already used for another request",
    "This Idempotency-Key was used within the last 24 hours with a different path or body.",
    "Use a new Idempotency-Key for each new request. Use the same one only to retry the same request.",
  ),
  last_admin_key: entry(
    409,
    "Last admin key",
    "Nothing was changed. After this change, no active key with the scope `admin` would remain, or only one that expires, or only one that cannot be used from your address.",
    "Create another admin key first, or repeat the request with `force=true`.",
  ),
  key_state_conflict: entry(
    409,
    "Conflict with the state of the key",
    "The key is in a state that does not allow this operation.",
    "Check the key with `GET /admin/v1/keys/{id}`. A revoked key cannot be changed. If the key was replaced, use its successor.",
  ),
  plan_in_use: entry(
    409,
    "Plan in use",
    "The plan was not deleted, because keys that are not revoked still use it.",
    "Assign another plan to these keys first. `GET /admin/v1/keys?plan=` lists them.",
  ),
  cursor_expired: entry(
    410,
    "Data version no longer available",
    "The request refers to a version of the data that is no longer available.",
    "Start again without the cursor. The response then uses the current version.",
  ),
  as_of_out_of_range: entry(
    410,
    "No snapshot of that time",
    "No snapshot of the time in `as_of` is kept.",
    "Use a time from `earliest` on. Older snapshots are deleted; your operator sets how many days are kept.",
  ),
  payload_too_large: entry(
    413,
    "Request body too large",
    "The request body is larger than the route accepts.",
    "Send a smaller body. Batches of any length can be sent as `application/x-ndjson`.",
  ),
  batch_too_large: entry(
    413,
    "Batch too large",
    "A batch that is sent or returned as a single JSON document has at most 1,000 items.",
    "Split the batch, or send and accept `application/x-ndjson`, which has no such limit.",
  ),
  precondition_failed: entry(
    412,
    "Precondition failed",
    "The response does not satisfy `If-Match` or `If-Unmodified-Since`, or a write of an operator has a condition that the route cannot check. Nothing was changed.",
    "Send the request without the condition. For data, `If-Match` never matches a tag, because all entity tags are weak: use `If-None-Match` instead.",
  ),
  uri_too_long: entry(414, "URL too long", "The URL is longer than the server accepts.", "Shorten the URL."),
  unsupported_media_type: entry(
    415,
    "Unsupported media type",
    "The route does not accept the `Content-Type` or `Content-Encoding` of the request body.",
    "Send a body in UTF-8 of a type that the route documents, either uncompressed or compressed with gzip.",
  ),
  batch_item_invalid: entry(
    422,
    "Invalid batch item",
    "The batch item is not valid JSON, or does not have the form of its kind.",
    "Fix each problem in `errors[]`. The other items of the batch were not affected.",
  ),
  headers_too_large: entry(
    431,
    "Request headers too large",
    "The request headers exceed the size that the server accepts.",
    "Send fewer or smaller headers.",
  ),
  rate_limit_exceeded: entry(
    429,
    "Rate limit exceeded",
    "The current rate window does not have enough units left for this request.",
    "Wait for `Retry-After` seconds. Use the `RateLimit` headers to spread your requests.",
    "later",
  ),
  quota_exceeded: entry(
    429,
    "Monthly quota exceeded",
    "The key has used its quota for this calendar month (UTC).",
    "Wait for the next month, or ask your operator for a larger quota.",
    "later",
  ),
  concurrency_limit_exceeded: entry(
    429,
    "Too many concurrent requests",
    "The key already has the maximum number of requests in progress.",
    "Wait until a request completes, and send fewer at the same time. `/api/v1/me` shows the limit. This request does not count towards the rate limit or the quota.",
    "later",
    1,
  ),
  too_many_uploads: entry(
    429,
    "Too many uploads at the same time",
    "The server already receives as many uploads as it accepts at the same time.",
    "Wait until another upload has ended.",
    "later",
    5,
  ),
  too_many_failed_keys: entry(
    429,
    "Too many invalid API keys",
    "Too many invalid API keys were sent from this address or network.",
    "Send a valid key. Invalid keys from this address are refused for `Retry-After` seconds; a valid key that was not used recently may need another attempt.",
    "later",
    60,
  ),
  internal_error: entry(
    500,
    "Internal error",
    "The request failed because of an error in the server.",
    "Try again later. If the problem persists, send the `request_id` to your operator.",
    "later",
  ),
  upstream_error: entry(
    502,
    "Internal service failed",
    "The service that answers this request failed.",
    "Try again later. If the problem persists, send the `request_id` to your operator.",
    "later",
  ),
  upstream_timeout: entry(
    504,
    "Internal service timed out",
    "The service that answers this request did not respond in time.",
    "Try again.",
    "later",
  ),
  observations_full: entry(
    507,
    "No room for more observations",
    "The store has more observations or uploads than its operator allows. The oldest observations are deleted over time.",
    "Resume the upload later, or ask your operator to raise `OBSERVATIONS_ROWS_MAX`.",
    "later",
    60,
  ),
  data_not_ready: entry(
    503,
    "Data not loaded yet",
    "The data for this request are not loaded yet.",
    "Wait for `Retry-After` seconds. `/api/v1/status` shows what is loaded.",
    "later",
    5,
  ),
  history_loading: entry(
    503,
    "Snapshot of the past is loading",
    "The snapshot of the past that this request needs is still being loaded.",
    "Wait for `Retry-After` seconds and send the request again. Requests about the present are not affected.",
    "later",
    2,
  ),
  history_unavailable: entry(
    503,
    "History unavailable",
    "No service answers requests about the past at the moment.",
    "Ask about the present, without `as_of`, or ask your operator whether history is turned on.",
    "later",
    30,
  ),
  snapshot_unreadable: entry(
    503,
    "Snapshot of the past is damaged",
    "A snapshot of the past that the request needs is damaged or incomplete.",
    "Use another time, and send the `request_id` to your operator. Requests about the present are not affected.",
    "later",
    60,
  ),
  resolver_unavailable: entry(
    503,
    "DNS resolvers unavailable",
    "None of the configured DNS resolvers responds.",
    "Wait for `Retry-After` seconds. If the problem persists, contact your operator. Other routes are not affected.",
    "later",
    5,
  ),
  limits_unavailable: entry(
    503,
    "Limits cannot be checked",
    "The request was rejected because the store of keys and limits is unavailable.",
    "Wait for `Retry-After` seconds. If `detail` names batches of the key, they have reserved the rest of its quota: wait until they end.",
    "later",
    1,
  ),
  upstream_unavailable: entry(
    503,
    "Internal service unavailable",
    "The service that answers this request is temporarily unavailable.",
    "Wait for `Retry-After` seconds.",
    "later",
    2,
  ),
  temporarily_overloaded: entry(
    503,
    "Server overloaded",
    "More requests are waiting than the server can answer in time.",
    "Wait for `Retry-After` seconds, and send fewer requests at the same time.",
    "later",
    1,
  ),
  shutting_down: entry(
    503,
    "Server shutting down",
    "This instance is shutting down and no longer accepts requests.",
    "Send the request again. Another instance answers it, or this one after it has restarted.",
    "later",
    2,
  ),
} as const satisfies Record<string, ErrorEntry>;

export type ProblemCode = keyof typeof table;

/** What each code means, in the order of docs/api/errors.md. */
export const errors: Readonly<Record<ProblemCode, ErrorEntry>> = table;

/** Every code, in the order of the table. */
export const problemCodes = Object.keys(table) as readonly ProblemCode[];
