/** The order in which geofeeds of strangers get room that may not suffice for all of them. */

export interface Placed {
  readonly url: string;
  /** What it takes of the room. */
  readonly weight: number;
}

/**
 * The place of each is the weight of it and of all smaller ones of its host. Who takes room in this order gives each host the same share,
 * its smallest first, and what a host leaves is for those that need more: the largest of the largest hosts are left out. Equal ones keep their order.
 */
export function inFairOrder<T extends Placed>(items: readonly T[]): T[] {
  const placed = [...Map.groupBy(items, ({ url }) => new URL(url).host).values()].flatMap((ofHost) => {
    let sum = 0;
    return ofHost
      .toSorted((a, b) => a.weight - b.weight)
      .map((item) => {
        sum += item.weight;
        return { item, upTo: sum };
      });
  });
  return placed.sort((a, b) => a.upTo - b.upTo).map(({ item }) => item);
}
