/** The keyring: verifies the key of an `Authorization` header, in the order of docs/design/protocols.md#keys. */

import { setTimeout as sleep } from "node:timers/promises";
import { keysChangedSubject, type Scope } from "@netfacts/contracts";
import { type KeyText, keyTextFault, parseKeyText, secretMatches } from "@netfacts/keys";
import { plainAddress, sourceOf } from "../domain/client-address.ts";
import { type KeyRefusal, keyRefusal } from "../domain/key-rules.ts";
import { ChangeIntake } from "./change-intake.ts";
import { ChannelWatch } from "./channel-watch.ts";
import { type CachedKey, KeyCache, type KeyLookup } from "./key-cache.ts";
import { KeyHolds } from "./key-holds.ts";
import { KeyTries, type TryRefusal } from "./key-tries.ts";
import { Rehasher } from "./rehasher.ts";
import { defaultKeyringSettings } from "./settings.ts";
import type { KeyProblemCode, Keyring, KeyringOptions, KeyringSettings, Verification, VerifiedKey } from "./surface.ts";

const bearer = /^bearer +([^ ]+) *$/i;

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
const textFaults = {
  form: "This is not an API key: a key is `nf_live_` or `nf_test_`, 8 characters, `_`, and 38 letters and digits.",
  checksum: "The key is misspelt or incomplete: its checksum is wrong.",
} as const;

const awayRetrySeconds = 1;
/** Longest wait of a try for others in flight. */
const tryWaitMs = 1_000;

export function createKeyring(options: KeyringOptions): Keyring {
  const settings: KeyringSettings = { ...defaultKeyringSettings, ...options.settings };
  const { clock, store } = options;
  const monotonic = (): number => clock.monotonic?.() ?? performance.now();
  const cache = new KeyCache(store, settings, monotonic);
  const tries = new KeyTries(settings, monotonic);
  const unknownPeppers = new Set<string>();
  const rehasher = new Rehasher(store.keys, settings.pepper);

  const holds = new KeyHolds(({ id, clientAddress, scope }) => {
    const found = cache.lookup(id);
    if (found instanceof Promise) return found.then((lookup) => judgeHeld(lookup, clientAddress, scope));
    return judgeHeld(found, clientAddress, scope);
  }, monotonic);
  const anyChanged = (): void => {
    cache.anyChanged();
    holds.changed(null);
  };

  const intake = new ChangeIntake({
    anyChanged,
    keyChanged(id) {
      cache.keyChanged(id);
      holds.changed(id);
    },
    many: () => options.onManyChanges?.(),
  });
  const subscription = options.messaging?.subscribe(keysChangedSubject, (payload) => intake.hear(changedKeyId(payload)));
  const channel = options.messaging && new ChannelWatch(options.messaging, (hearsChanges) => cache.broadcastsChanged(hearsChanges));
  const endListening = store.onChange(anyChanged);

  const tellUnknownPepper = (id: string | null): void => {
    if (id === null || settings.peppers.has(id) || unknownPeppers.has(id)) return;
    unknownPeppers.add(id);
    options.onUnknownPepper?.(id);
  };

  const matches = (text: KeyText, lookup: CachedKey | null): lookup is CachedKey =>
    secretMatches(text.text, lookup?.record ?? null, settings.peppers);

  /** Judges a key whose secret matched a cached copy: failed tries of others do not affect it. */
  const judgeMatched = (lookup: KeyLookup, text: KeyText, clientAddress: string, scope: Scope | undefined): Verification => {
    if (typeof lookup === "string") return refuseUnread(lookup);
    if (!matches(text, lookup)) return refuse("invalid_api_key");
    rehasher.used(lookup.record, text.text);
    return judgeUse(lookup, clientAddress, scope);
  };

  const lookUp = (text: KeyText, clientAddress: string, scope: Scope | undefined): Verification | Promise<Verification> => {
    const found = cache.lookup(text.id);
    if (found instanceof Promise) return found.then((lookup) => judgeMatched(lookup, text, clientAddress, scope));
    rehasher.used(found.record, text.text);
    return judgeUse(found, clientAddress, scope);
  };

  const tryKey = async (text: KeyText, clientAddress: string, scope: Scope | undefined): Promise<Verification> => {
    const since = performance.now();
    const waitUntil = monotonic() + tryWaitMs;
    const source = sourceOf(plainAddress(clientAddress));
    let attempt = tries.begin(source, !cache.hasFailed(text.id));
    while ("refusedBy" in attempt) {
      if (attempt.room === null) return refuseTry(attempt);
      await attempt.room;
      if (monotonic() > waitUntil) return refuse("upstream_unavailable", { retryAfterSeconds: awayRetrySeconds });
      // Another try of the same key may have loaded it meanwhile.
      if (matches(text, cache.seen(text.id))) return lookUp(text, clientAddress, scope);
      attempt = tries.begin(source, !cache.hasFailed(text.id));
    }
    const isRemembered = cache.hasFailed(text.id);
    let lookup: KeyLookup = null;
    let failed = false;
    try {
      if (!isRemembered) lookup = await cache.load(text.id);
      if (typeof lookup === "string") return refuseUnread(lookup);
      // Hashes and compares for an unknown id too, so that both failures take the same time.
      failed = !matches(text, lookup);
    } finally {
      attempt.end(failed);
    }
    if (!failed) return judgeMatched(lookup, text, clientAddress, scope);
    if (!isRemembered) cache.fail(text.id);
    tellUnknownPepper(lookup?.record.pepperId ?? null);
    await sleepUntil(since + settings.failureMs);
    return attempt.waitMs > 0 ? refuseTry({ refusedBy: "source", waitMs: attempt.waitMs }) : refuse("invalid_api_key");
  };

  /** Judges a key whose secret matched before. */
  const judgeHeld = (lookup: KeyLookup, clientAddress: string, scope: Scope | undefined): Verification => {
    if (typeof lookup === "string") return refuseUnread(lookup);
    return lookup === null ? refuse("invalid_api_key") : judgeUse(lookup, clientAddress, scope);
  };

  const judgeUse = ({ record, allowed, key }: CachedKey, clientAddress: string, scope: Scope | undefined): Verification => {
    const rules = { state: record.state, expiresAt: record.expiresAt, validUntil: record.validUntil, allowed, scopes: key.scopes };
    const address = allowed.length === 0 ? null : plainAddress(clientAddress);
    const refusal = keyRefusal(rules, clock.now(), address, scope ?? null);
    return refusal === null ? { ok: true, key } : refuseKey(refusal, key, scope);
  };

  return {
    verify(authorization, clientAddress, scope) {
      const token = authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
      if (token === undefined) return refuse("missing_api_key");
      const text = parseKeyText(token);
      if (text === null) return refuse("invalid_api_key", { detail: textFaults[keyTextFault(token)] });
      if (!matches(text, cache.seen(text.id))) return tryKey(text, clientAddress, scope);
      return lookUp(text, clientAddress, scope);
    },

    bucketOf(authorization) {
      const text = parseKeyText(bearer.exec(authorization)?.[1] ?? "");
      const seen = text === null ? null : cache.seen(text.id);
      return text !== null && matches(text, seen) ? seen.key.bucket : null;
    },

    hold: (key, clientAddress, scope, onChange) => holds.add({ id: key.id, clientAddress, scope }, key, onChange),

    stop() {
      holds.stop();
      intake.stop();
      void subscription?.stop();
      channel?.stop();
      endListening();
    },
  };
}

/** A timer counts from the start of the event loop's turn, so it may fire early. */
async function sleepUntil(at: number): Promise<void> {
  for (let left = at - performance.now(); left > 0; left = at - performance.now()) await sleep(Math.ceil(left));
}

function refuse(
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

function refuseUnread(lookup: "away" | "invalid"): Verification {
  if (lookup === "invalid") return refuse("internal_error");
  return refuse("upstream_unavailable", { retryAfterSeconds: awayRetrySeconds });
}

function refuseTry({ refusedBy, waitMs }: Pick<TryRefusal, "refusedBy" | "waitMs">): Verification {
  const code = refusedBy === "source" ? "too_many_failed_keys" : "upstream_unavailable";
  return refuse(code, { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}

function refuseKey(code: KeyRefusal, key: VerifiedKey, scope: string | undefined): Verification {
  if (code !== "insufficient_scope") return refuse(code);
  return refuse(code, { detail: `${details.insufficient_scope} \`${scope}\`.`, key });
}

/** The id in `{ key_id, version }`. Null for anything else, such as a change of a plan, which counts as a change of any key. */
function changedKeyId(payload: unknown): string | null {
  const id = typeof payload === "object" && payload !== null && "key_id" in payload ? payload.key_id : null;
  return typeof id === "string" ? id : null;
}
