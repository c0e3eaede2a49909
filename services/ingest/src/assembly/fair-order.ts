/** The order in which geofeeds of strangers get room that may not be enough for all. */

export interface Placed {
  readonly url: string;
  /** Room that it takes. */
  readonly weight: number;
}

/**
 * The rank of each is the sum of its weight and those of all smaller ones of its host. Taking room in this order gives each host the same share, its
 * smallest first; room that a host does not need is for the others. So the largest of the largest hosts are left out. Equal ones keep their order.
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
