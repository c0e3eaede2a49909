/** Units of the next window, leased before the current one ends: so a store that is unavailable at the start causes no immediate refusals. */

import type { LimitMark, LimitWindow, RecoverOutcome, TakeOutcome } from "@netfacts/storage";
import type { Window } from "../domain/limit-windows.ts";
import type { LeaseDeps } from "./lease-deps.ts";

/** A change whose outcome is unknown, to be looked up once the store answers. */
export interface Unknown {
  /** `debt`: a take of units that are already spent. */
  readonly kind: "take" | "return" | "debt";
  readonly window: Window;
  readonly units: number;
  readonly mark: LimitMark;
}

export class NextLease {
  readonly #deps: LeaseDeps;
  readonly #counter: (window: Window) => LimitWindow;
  #window: Window | null = null;
  /** Units leased and not returned, and the limit at that time. */
  #units = 0;
  #limit = 0;
  /** The counter, and the units of it that others held, at our last change. */
  #leased: number | null = null;
  #held = 0;
  /** Change with an unknown outcome, which is looked up before or after its window begins. */
  #unknown: Unknown | null = null;

  constructor(deps: LeaseDeps, counter: (window: Window) => LimitWindow) {
    this.#deps = deps;
    this.#counter = counter;
  }

  get isEmpty(): boolean {
    return this.#units === 0 && this.#unknown === null;
  }

  /**
   * Takes units once for each window. Call `recover` before: no outcome may be unknown.
   *
   * @returns null if units were already taken for this window. `isLate`: the window began meanwhile without these units, so the caller must
   *   handle `take` and `change`.
   */
  async take(window: Window, limit: number, units: number): Promise<{ take: TakeOutcome; change: Unknown; isLate: boolean } | null> {
    if (this.#window?.start === window.start) return null;
    this.#forget();
    this.#window = window;
    this.#limit = limit;
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
   * Returns the units to the store once, without those of an unknown outcome.
   *
   * @returns the change if its outcome is unknown and its window began meanwhile: the caller must handle it.
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
    // Units of this window may be taken again.
    else this.#forget();
    return null;
  }

  /**
   * Looks up the change with an unknown outcome before its window begins. If the window begins meanwhile, the caller looks it up again.
   *
   * @returns null if no outcome is unknown.
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
    // Units of this window may be taken again.
    if (this.#units === 0) this.#forget();
    return found;
  }

  /** Call when a window begins. @returns the units and state for this window; null if no units were requested for it. */
  enter(window: Window): { units: number; limit: number; leased: number | null; held: number; unknown: Unknown | null } | null {
    const isThis = this.#window?.start === window.start;
    const unknown = this.#unknown === null ? null : { ...this.#unknown, window };
    const here = { units: this.#units, limit: this.#limit, leased: this.#leased, held: this.#held, unknown };
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
