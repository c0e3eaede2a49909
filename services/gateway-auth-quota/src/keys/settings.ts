/** Defaults of the keyring's settings, which `KeyringSettings` documents. */

import type { KeyringSettings } from "./surface.ts";

export const defaultKeyringSettings: KeyringSettings = {
  cacheLifetimeMs: 30_000,
  cacheBlindMs: 2_000,
  cacheAwayMs: 300_000,
  cacheEntriesMax: 50_000,
  unknownLifetimeMs: 5_000,
  unknownEntriesMax: 10_000,
  failedKeysMax: 20,
  failedKeysWindowMs: 60_000,
  failedSourcesMax: 10_000,
  failedReadsPerSecond: 5,
  triesPerSecond: 500,
  failureMs: 10,
  defaultLimits: { rate: { limit: 600, windowSeconds: 60 }, month: { limit: 100_000 }, concurrency: null },
  peppers: new Map(),
  pepper: null,
};
