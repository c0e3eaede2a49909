/** The key of a tab: in memory, and in `sessionStorage` only if its owner wants this. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";

export interface KeyHolder {
  readonly key: ReadonlySignal<string | null>;
  readonly hasKey: ReadonlySignal<boolean>;
  /** Whether the key survives a reload of the tab. */
  readonly isKept: Signal<boolean>;
  /** @param kept  whether the key survives a reload of this tab. @returns false for a text that cannot be a key. */
  use(text: string, kept: boolean): boolean;
  forget(): void;
}

/** A text that can be sent as a key. */
const mayBeKey = /^[!-~]+$/;

/** @param storedName  name in `sessionStorage`; a different one for each kind of key. */
export function createKeyHolder(storedName: string): KeyHolder {
  const key = signal<string | null>(readStored(storedName));
  const isKept = signal(key.value !== null);
  return {
    key,
    hasKey: computed(() => key.value !== null),
    isKept,
    use(text, kept) {
      const given = text.trim();
      if (!mayBeKey.test(given)) return false;
      key.value = given;
      isKept.value = kept && store(storedName, given);
      return true;
    },
    forget() {
      key.value = null;
      isKept.value = false;
      store(storedName, null);
    },
  };
}

/** Returns null if there is no key, or if the browser's settings forbid storage. */
function readStored(name: string): string | null {
  try {
    const stored = sessionStorage.getItem(name);
    return stored !== null && mayBeKey.test(stored) ? stored : null;
  } catch {
    return null;
  }
}

function store(name: string, key: string | null): boolean {
  try {
    if (key === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, key);
    return true;
  } catch {
    return false;
  }
}
