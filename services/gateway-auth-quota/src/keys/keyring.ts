/** The keyring: verifies the key of an `Authorization` header, in the order of docs/design/protocols.md#keys. */

import { setTimeout as sleep } from "node:timers/promises";
import { keysChangedSubject, type Scope } from "@netfacts/contracts";
import { type KeyText, keyTextFault, parseKeyText, secretMatches } from "@netfacts/keys";
import { plainAddress, sourceOf } from "../domain/client-address.ts";
import { keyRefusal } from "../domain/key-rules.ts";
import { ChangeIntake } from "./change-intake.ts";
import { ChannelWatch } from "./channel-watch.ts";
import { type CachedKey, KeyCache, type KeyLookup } from "./key-cache.ts";
import { type Held, KeyHolds } from "./key-holds.ts";
import { KeyTries } from "./key-tries.ts";
import { awayRetrySeconds, refuse, refuseKey, refuseTry, refuseUnread, textFaults } from "./refusals.ts";
import { Rehasher } from "./rehasher.ts";
import { defaultKeyringSettings } from "./settings.ts";
import type { KeyChangeListener, Keyring, KeyringOptions, KeyringSettings, Verification, VerifiedKey } from "./surface.ts";

const bearer = /^bearer +([^ ]+) *$/i;

/** Longest wait of a try for others in flight. */
const tryWaitMs = 1_000;

export function createKeyring(options: KeyringOptions): Keyring {
  return new StoreKeyring(options);
}

class StoreKeyring implements Keyring {
  readonly #options: KeyringOptions;
  readonly #settings: KeyringSettings;
  readonly #cache: KeyCache;
  readonly #tries: KeyTries;
  readonly #holds: KeyHolds;
  readonly #rehasher: Rehasher;
  readonly #endListening: () => void;
  /** Ids of unknown peppers that were reported. */
  readonly #unknownPeppers = new Set<string>();

  constructor(options: KeyringOptions) {
    const { store } = options;
    const settings = { ...defaultKeyringSettings, ...options.settings };
    const monotonic = (): number => this.#monotonic();
    this.#options = options;
    this.#settings = settings;
    this.#cache = new KeyCache(store, settings, monotonic);
    this.#tries = new KeyTries(settings, monotonic);
    this.#rehasher = new Rehasher(store.keys, settings.pepper);
    this.#holds = new KeyHolds((held) => this.#checkHeld(held), monotonic);
    this.#endListening = listenForChanges(options, this.#cache, this.#holds);
  }

  verify(authorization: string | undefined, clientAddress: string, scope?: Scope): Verification | Promise<Verification> {
    const token = authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
    if (token === undefined) return refuse("missing_api_key");
    const text = parseKeyText(token);
    if (text === null) return refuse("invalid_api_key", { detail: textFaults[keyTextFault(token)] });
    if (!this.#matches(text, this.#cache.seen(text.id))) return this.#try(text, clientAddress, scope);
    return this.#lookUp(text, clientAddress, scope);
  }

  bucketOf(authorization: string): string | null {
    const text = parseKeyText(bearer.exec(authorization)?.[1] ?? "");
    const seen = text === null ? null : this.#cache.seen(text.id);
    return text !== null && this.#matches(text, seen) ? seen.key.bucket : null;
  }

  hold(key: VerifiedKey, clientAddress: string, scope: Scope | undefined, onChange: KeyChangeListener): () => void {
    return this.#holds.add({ id: key.id, clientAddress, scope }, key, onChange);
  }

  stop(): void {
    this.#holds.stop();
    this.#endListening();
  }

  /** Checks a key whose secret matches the cached copy. */
  #lookUp(text: KeyText, clientAddress: string, scope: Scope | undefined): Verification | Promise<Verification> {
    const found = this.#cache.lookup(text.id);
    if (found instanceof Promise) return found.then((lookup) => this.#judgeMatched(lookup, text, clientAddress, scope));
    this.#rehasher.used(found.record, text.text);
    return this.#judgeUse(found, clientAddress, scope);
  }

  /** Checks any other key: from the store, within the limits of failed tries. A failure takes the same time whatever its reason. */
  async #try(text: KeyText, clientAddress: string, scope: Scope | undefined): Promise<Verification> {
    const since = performance.now();
    const waitUntil = this.#monotonic() + tryWaitMs;
    const source = sourceOf(plainAddress(clientAddress));
    let attempt = this.#tries.begin(source, !this.#cache.hasFailed(text.id));
    while ("refusedBy" in attempt) {
      if (attempt.room === null) return refuseTry(attempt);
      await attempt.room;
      if (this.#monotonic() > waitUntil) return refuse("upstream_unavailable", { retryAfterSeconds: awayRetrySeconds });
      // Another try of the same key may have loaded it meanwhile.
      if (this.#matches(text, this.#cache.seen(text.id))) return this.#lookUp(text, clientAddress, scope);
      attempt = this.#tries.begin(source, !this.#cache.hasFailed(text.id));
    }
    const isRemembered = this.#cache.hasFailed(text.id);
    let lookup: KeyLookup = null;
    let failed = false;
    try {
      if (!isRemembered) lookup = await this.#cache.load(text.id);
      if (typeof lookup === "string") return refuseUnread(lookup);
      // Hashes and compares for an unknown id too, so that both failures take the same time.
      failed = !this.#matches(text, lookup);
    } finally {
      attempt.end(failed);
    }
    if (!failed) return this.#judgeMatched(lookup, text, clientAddress, scope);
    if (!isRemembered) this.#cache.fail(text.id);
    this.#tellUnknownPepper(lookup?.record.pepperId ?? null);
    await sleepUntil(since + this.#settings.failureMs);
    return attempt.waitMs > 0 ? refuseTry({ refusedBy: "source", waitMs: attempt.waitMs }) : refuse("invalid_api_key");
  }

  /** Judges a key whose secret matched a cached copy: failed tries of others do not affect it. */
  #judgeMatched(lookup: KeyLookup, text: KeyText, clientAddress: string, scope: Scope | undefined): Verification {
    if (typeof lookup === "string") return refuseUnread(lookup);
    if (!this.#matches(text, lookup)) return refuse("invalid_api_key");
    this.#rehasher.used(lookup.record, text.text);
    return this.#judgeUse(lookup, clientAddress, scope);
  }

  #checkHeld({ id, clientAddress, scope }: Held): Verification | Promise<Verification> {
    const found = this.#cache.lookup(id);
    if (found instanceof Promise) return found.then((lookup) => this.#judgeHeld(lookup, clientAddress, scope));
    return this.#judgeHeld(found, clientAddress, scope);
  }

  /** Judges a key whose secret matched before. */
  #judgeHeld(lookup: KeyLookup, clientAddress: string, scope: Scope | undefined): Verification {
    if (typeof lookup === "string") return refuseUnread(lookup);
    return lookup === null ? refuse("invalid_api_key") : this.#judgeUse(lookup, clientAddress, scope);
  }

  #judgeUse({ record, allowed, key }: CachedKey, clientAddress: string, scope: Scope | undefined): Verification {
    const rules = { state: record.state, expiresAt: record.expiresAt, validUntil: record.validUntil, allowed, scopes: key.scopes };
    const address = allowed.length === 0 ? null : plainAddress(clientAddress);
    const refusal = keyRefusal(rules, this.#options.clock.now(), address, scope ?? null);
    return refusal === null ? { ok: true, key } : refuseKey(refusal, key, scope);
  }

  #matches(text: KeyText, lookup: CachedKey | null): lookup is CachedKey {
    return secretMatches(text.text, lookup?.record ?? null, this.#settings.peppers);
  }

  #tellUnknownPepper(id: string | null): void {
    if (id === null || this.#settings.peppers.has(id) || this.#unknownPeppers.has(id)) return;
    this.#unknownPeppers.add(id);
    this.#options.onUnknownPepper?.(id);
  }

  #monotonic(): number {
    return this.#options.clock.monotonic?.() ?? performance.now();
  }
}

/** Applies changes of keys that the store or other processes report. @returns a function that stops listening. */
function listenForChanges({ store, messaging, onManyChanges }: KeyringOptions, cache: KeyCache, holds: KeyHolds): () => void {
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
    many: () => onManyChanges?.(),
  });
  const subscription = messaging?.subscribe(keysChangedSubject, (payload) => intake.hear(changedKeyId(payload)));
  const channel = messaging && new ChannelWatch(messaging, (hearsChanges) => cache.broadcastsChanged(hearsChanges));
  const endListening = store.onChange(anyChanged);
  return () => {
    intake.stop();
    void subscription?.stop();
    channel?.stop();
    endListening();
  };
}

/** A timer counts from the start of the event loop's turn, so it may fire early. */
async function sleepUntil(at: number): Promise<void> {
  for (let left = at - performance.now(); left > 0; left = at - performance.now()) await sleep(Math.ceil(left));
}

/** The id in `{ key_id, version }`. Null for anything else, such as a change of a plan, which counts as a change of any key. */
function changedKeyId(payload: unknown): string | null {
  const id = typeof payload === "object" && payload !== null && "key_id" in payload ? payload.key_id : null;
  return typeof id === "string" ? id : null;
}
