/** Keys of long answers: checked at each change and at short intervals, so that an answer ends within a second after its key. */

import type { Scope } from "@netfacts/contracts";
import type { KeyChangeListener, Verification, VerifiedKey } from "./surface.ts";

export interface Held {
  readonly id: string;
  readonly clientAddress: string;
  readonly scope: Scope | undefined;
}

interface Hold extends Held {
  key: VerifiedKey;
  readonly onChange: KeyChangeListener;
  /** A check is in progress; a change meanwhile sets `checkAgain`. */
  checking: boolean;
  checkAgain: boolean;
  /** Time since which the key cannot be checked, monotonic ms; null: the last check succeeded. */
  awaySince: number | null;
}

/** Interval of checks, which notice expiry, and read keys again whose cache lifetime has ended. */
const checkMs = 250;
/** The answer of a key that cannot be checked ends after this time, because the key may be invalid. */
const awayMs = 1_000;

export class KeyHolds {
  readonly #check: (held: Held) => Verification | Promise<Verification>;
  readonly #monotonic: () => number;
  readonly #holds = new Set<Hold>();
  #timer: NodeJS.Timeout | null = null;

  /** @param check  checks the current state of a key without its secret. */
  constructor(check: (held: Held) => Verification | Promise<Verification>, monotonic: () => number) {
    this.#check = check;
    this.#monotonic = monotonic;
  }

  /** @returns a function that ends the hold, which also ends by itself after a refusal. */
  add(held: Held, key: VerifiedKey, onChange: KeyChangeListener): () => void {
    const hold: Hold = { ...held, key, onChange, checking: false, checkAgain: false, awaySince: null };
    this.#holds.add(hold);
    this.#timer ??= setInterval(() => this.changed(null), checkMs).unref();
    return () => this.#end(hold);
  }

  /** @param id  the key that may have changed; null: any. */
  changed(id: string | null): void {
    for (const hold of this.#holds) if (id === null || hold.id === id) void this.#look(hold);
  }

  stop(): void {
    for (const hold of this.#holds) this.#end(hold);
  }

  async #look(hold: Hold): Promise<void> {
    hold.checkAgain = true;
    if (hold.checking) return;
    hold.checking = true;
    while (hold.checkAgain && this.#holds.has(hold)) {
      hold.checkAgain = false;
      try {
        this.#judge(hold, await this.#check(hold));
      } catch {
        // A defect in this code. The next request meets it too, and the key is checked again soon.
      }
    }
    hold.checking = false;
  }

  #judge(hold: Hold, verification: Verification): void {
    if (!this.#holds.has(hold)) return;
    const isAway = !verification.ok && verification.code === "upstream_unavailable";
    if (isAway) {
      hold.awaySince ??= this.#monotonic();
      if (this.#monotonic() - hold.awaySince < awayMs) return;
    } else {
      hold.awaySince = null;
    }
    if (!verification.ok) this.#end(hold);
    else if (verification.key === hold.key) return;
    else hold.key = verification.key;
    hold.onChange(verification);
  }

  #end(hold: Hold): void {
    this.#holds.delete(hold);
    if (this.#holds.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
