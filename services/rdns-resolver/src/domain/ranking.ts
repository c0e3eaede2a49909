/** In which order nameservers are asked: those that work, the quick ones first, and as they are listed where that makes no difference. */

export interface Rankable {
  readonly up: boolean;
  /** Lately it failed or refused more than it answered. */
  readonly failing: boolean;
  /** Null until it was measured: as good as any. */
  readonly latencyMs: number | null;
}

/** One that is not slower than this compared with the quickest keeps its place in the list. */
const slowerFactor = 1.5;
const slowerMs = 5;

/** Those that are down come last: they may be back before anybody else answers. */
export function rank<Server extends Rankable>(servers: readonly Server[]): readonly Server[] {
  const order: Server[] = [];
  const rest = [...servers];
  while (rest.length > 0) {
    const best = Math.min(...rest.map(badness));
    const candidates = rest.filter((server) => badness(server) === best);
    const quickest = Math.min(...candidates.map(({ latencyMs }) => latencyMs ?? Number.POSITIVE_INFINITY));
    // One of them is the quickest.
    const next = candidates.find(({ latencyMs }) => latencyMs === null || latencyMs <= quickest * slowerFactor + slowerMs)!;
    order.push(next);
    rest.splice(rest.indexOf(next), 1);
  }
  return order;
}

function badness({ up, failing }: Rankable): number {
  if (!up) return 2;
  return failing ? 1 : 0;
}
