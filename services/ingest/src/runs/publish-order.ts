/** The order in which runs of one process publish: one after the other, each told what the others published meanwhile. */

import type { PublishTurn, Replacement } from "../pipeline/publish-turn.ts";

/** The place of one run in it. */
export interface PublishPlace {
  /** Resolves when no other run is publishing; the others wait from then on until this one leaves. May be called again: the answer is the same. */
  turn(): Promise<PublishTurn>;
  /** Tells the others. Called between `turn` and `leave`. */
  published(replacement: Replacement): void;
  /** At the run's end. */
  leave(): void;
}

interface Place {
  readonly others: Replacement[];
}

export class PublishOrder {
  readonly #places = new Set<Place>();
  #last: Promise<void> = Promise.resolve();

  /** Resolves when nobody is publishing: what is stored from then on is removed by no other run. */
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
