/** Order of nameservers: working ones first, then fast ones first; those of about equal speed in the order of the list. */

export interface Rankable {
  readonly up: boolean;
  /** It recently failed or refused more often than it answered. */
  readonly failing: boolean;
  /** Null: not measured, which counts as fast. */
  readonly latencyMs: number | null;
}

/** A nameserver that is slower than the fastest by no more than this keeps its place in the list. */
const slowerFactor = 1.5;
const slowerMs = 5;

/** Nameservers that are down come last: they may be back before another one answers. */
export function rank<Server extends Rankable>(servers: readonly Server[]): readonly Server[] {
  const order: Server[] = [];
  const rest = [...servers];
  while (rest.length > 0) {
    const best = Math.min(...rest.map(badness));
    const candidates = rest.filter((server) => badness(server) === best);
    const quickest = Math.min(...candidates.map(({ latencyMs }) => latencyMs ?? Number.POSITIVE_INFINITY));
    // There is always one: the fastest candidate, or one that is not measured.
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
