/** The order in which runs of one process publish: one at a time, and each learns what the others published meanwhile. */

import type { PublishTurn, Replacement } from "../pipeline/publish-turn.ts";

/** The place of one run in the order. */
export interface PublishPlace {
  /** Resolves when no other run is publishing. From then on, the others wait until this one leaves. Further calls return the same turn. */
  turn(): Promise<PublishTurn>;
  /** Reports to the other runs what was published. Call it between `turn` and `leave`. */
  published(replacement: Replacement): void;
  /** Call it at the end of the run. */
  leave(): void;
}

interface Place {
  readonly others: Replacement[];
}

export class PublishOrder {
  readonly #places = new Set<Place>();
  #last: Promise<void> = Promise.resolve();

  /** Resolves when no run is publishing: what is stored from then on is not removed by another run. */
  async enter(): Promise<PublishPlace> {
    await this.#last;
    const place: Place = { others: [] };
    this.#places.add(place);
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const takeTurn = async (): Promise<PublishTurn> => {
      const before = this.#last;
      this.#last = before.then(() => left);
      await before;
      return { others: place.others, isAlone: this.#places.size === 1 };
    };
    let taken: Promise<PublishTurn> | null = null;
    return {
      turn: () => {
        taken ??= takeTurn();
        return taken;
      },
      published: (replacement) => {
        for (const other of this.#places) if (other !== place) other.others.push(replacement);
      },
      leave: () => {
        this.#places.delete(place);
        leave();
      },
    };
  }
}
