/** Units of the window to come, leased while the current one ends: a store that is unavailable when the window begins refuses nothing at once. */

import type { LimitMark, LimitWindow, RecoverOutcome, TakeOutcome } from "@netfacts/storage";
import type { Window } from "../domain/limit-windows.ts";
import type { LeaseDeps } from "./lease-deps.ts";

/** A change whose outcome is unknown, to be looked up once the store answers. */
export interface Unknown {
  /** `debt`: a take of units that were spent before. */
  readonly kind: "take" | "return" | "debt";
  readonly window: Window;
  readonly units: number;
  readonly mark: LimitMark;
}

export class NextLease {
  readonly #deps: LeaseDeps;
  readonly #counter: (window: Window) => LimitWindow;
  #window: Window | null = null;
  /** Leased, and not given back. */
  #units = 0;
  /** The counter, and what others held of it, when it was last changed here. */
  #leased: number | null = null;
  #held = 0;
  /** A change whose outcome is looked up before its window begins, or when it has begun. */
  #unknown: Unknown | null = null;

  constructor(deps: LeaseDeps, counter: (window: Window) => LimitWindow) {
    this.#deps = deps;
    this.#counter = counter;
  }

  get isEmpty(): boolean {
    return this.#units === 0 && this.#unknown === null;
  }

  /**
   * Takes once for each window; nothing may be unknown of it.
   *
   * @returns null when that was done before; `isLate` when the window began meanwhile, without these units: `change` is then the caller's.
   */
  async take(window: Window, limit: number, units: number): Promise<{ take: TakeOutcome; change: Unknown; isLate: boolean } | null> {
    if (this.#window?.start === window.start) return null;
    this.#forget();
    this.#window = window;
    const mark = { ...this.#deps.nextMark(), held: units };
    const change: Unknown = { kind: "take", window, units, mark };
    const take = await this.#deps.limits.take(this.#counter(window), limit, units, mark);
    if (this.#window !== window) return { take, change, isLate: true };
    if (take.outcome === "unknown") this.#unknown = change;
    else {
      this.#leased = take.leased;
      this.#held = take.held ?? 0;
      if (take.outcome === "granted") this.#units = units;
    }
    return { take, change, isLate: false };
  }

  /**
   * Once, and only what is known to be here.
   *
   * @returns a change of unknown outcome whose window began meanwhile: it is the caller's.
   */
  async giveBack(): Promise<Unknown | null> {
    const window = this.#window;
    const units = this.#units;
    if (window === null || units === 0) return null;
    this.#units = 0;
    const mark = { ...this.#deps.nextMark(), held: 0 };
    const reply = await this.#deps.limits.giveBack(this.#counter(window), units, mark);
    const change: Unknown | null = reply.outcome === "unknown" ? { kind: "return", window, units, mark } : null;
    if (this.#window !== window) return change;
    if (change !== null) this.#unknown = change;
    // It may be taken again.
    else this.#forget();
    return null;
  }

  /**
   * Looks up what is unknown before its window has begun. If the window begins meanwhile, the caller looks it up again.
   *
   * @returns null where nothing is unknown.
   */
  async recover(): Promise<RecoverOutcome | null> {
    const change = this.#unknown;
    if (change === null) return null;
    const found = await this.#deps.limits.recover(this.#counter(change.window), change.mark);
    if (found.outcome === "unknown" || this.#unknown !== change) return found;
    this.#unknown = null;
    this.#leased = found.leased;
    this.#held = found.held ?? 0;
    if ((found.outcome === "done") === (change.kind === "take")) this.#units += change.units;
    // It may be taken again.
    if (this.#units === 0) this.#forget();
    return found;
  }

  /** The window of the lease begins: what is here for it; null where nothing was asked for. */
  enter(window: Window): { units: number; leased: number | null; held: number; unknown: Unknown | null } | null {
    const isThis = this.#window?.start === window.start;
    const unknown = this.#unknown === null ? null : { ...this.#unknown, window };
    const here = { units: this.#units, leased: this.#leased, held: this.#held, unknown };
    this.#forget();
    return isThis ? here : null;
  }

  #forget(): void {
    this.#window = null;
    this.#units = 0;
    this.#leased = null;
    this.#held = 0;
    this.#unknown = null;
  }
}
