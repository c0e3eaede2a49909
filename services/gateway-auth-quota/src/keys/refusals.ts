/** Refusals of the keyring, with their texts. */

import type { KeyRefusal } from "../domain/key-rules.ts";
import type { TryRefusal } from "./key-tries.ts";
import type { KeyProblemCode, Verification, VerifiedKey } from "./surface.ts";

const details: Record<KeyProblemCode, string> = {
  missing_api_key: "Send the key in the header `Authorization: Bearer <key>`.",
  invalid_api_key: "The key is not valid for this installation.",
  too_many_failed_keys: "Too many requests with an invalid key came from this address.",
  revoked_api_key: "The key was revoked.",
  disabled_api_key: "The key is disabled.",
  expired_api_key: "The key has expired.",
  ip_not_allowed: "The key may not be used from this address.",
  insufficient_scope: "The key does not have the scope",
  upstream_unavailable: "The key cannot be checked at the moment.",
  internal_error: "The key cannot be checked because of an error in the server.",
};

/** Details for a text that cannot be a key of any installation. */
export const textFaults = {
  form: "This is not an API key: a key is `nf_live_` or `nf_test_`, 8 characters, `_`, and 38 letters and digits.",
  checksum: "The key is misspelt or incomplete: its checksum is wrong.",
} as const;

/** Value of `Retry-After` while a key cannot be checked. */
export const awayRetrySeconds = 1;

/** @param more  the detail replaces the usual text of the code. */
export function refuse(
  code: KeyProblemCode,
  more: { retryAfterSeconds?: number; detail?: string; key?: VerifiedKey } = {},
): Extract<Verification, { ok: false }> {
  return {
    ok: false,
    code,
    detail: more.detail ?? details[code],
    retryAfterSeconds: more.retryAfterSeconds ?? null,
    key: more.key ?? null,
  };
}

/** The refusal of a key that could not be read from the store. */
export function refuseUnread(lookup: "away" | "invalid"): Verification {
  if (lookup === "invalid") return refuse("internal_error");
  return refuse("upstream_unavailable", { retryAfterSeconds: awayRetrySeconds });
}

/** The refusal of a try by a limit of failed tries. */
export function refuseTry({ refusedBy, waitMs }: Pick<TryRefusal, "refusedBy" | "waitMs">): Verification {
  const code = refusedBy === "source" ? "too_many_failed_keys" : "upstream_unavailable";
  return refuse(code, { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}

/** The refusal of a key whose secret matched. */
export function refuseKey(code: KeyRefusal, key: VerifiedKey, scope: string | undefined): Verification {
  if (code !== "insufficient_scope") return refuse(code);
  return refuse(code, { detail: `${details.insufficient_scope} \`${scope}\`.`, key });
}
