/** How much of a service all batches together may ask at a time: within what messaging queues, and what a DNS resolver is to bear. */

import type { ServiceName } from "@netfacts/contracts";

/** Questions in flight at a time: below what messaging queues (`queuedItemsMax`), so that no batch is refused because of others. */
const inFlightMax: Readonly<Record<ServiceName, number>> = { "ip-routing": 3_072, "asn-prefix": 3_072, "rdns-resolver": 256 };

/** Who waits to ask. */
export interface Asking {
  /** Whose turn it takes: batches of one key share the turns of the key. */
  readonly holder: string;
  /** Asks the next of its questions for the service; false: it has none any more. */
  askNext(service: ServiceName): boolean;
}

/** The batches of one key at the gate. */
interface Holder {
  inFlight: number;
  /** In the order of their turns; each once. */
  readonly waiting: Asking[];
}

interface Gate {
  inFlight: number;
  /** In the order of their turns. Those who neither wait nor have a question in flight are dropped. */
  readonly holders: Map<string, Holder>;
}

/**
 * One for all batches of a gateway: keys take turns, question by question, and so do the batches of a key. A key that has a quarter of all
 * questions in flight leaves the last quarter of the places to others.
 */
export class AskGate {
  readonly #gates = new Map<ServiceName, Gate>();

  /** Has `asking` called back, at once or later, until it has no more to ask of the service. */
  enter(service: ServiceName, asking: Asking): void {
    const gate = this.#gate(service);
    let holder = gate.holders.get(asking.holder);
    if (holder === undefined) {
      holder = { inFlight: 0, waiting: [] };
      gate.holders.set(asking.holder, holder);
    }
    if (!holder.waiting.includes(asking)) holder.waiting.push(asking);
    this.#open(service, gate);
  }

  /** A question was answered, or given up. */
  leave(service: ServiceName, asking: Asking): void {
    const gate = this.#gate(service);
    gate.inFlight -= 1;
    const holder = gate.holders.get(asking.holder);
    if (holder !== undefined) {
      holder.inFlight -= 1;
      this.#drop(gate, asking.holder, holder);
    }
    this.#open(service, gate);
  }

  #open(service: ServiceName, gate: Gate): void {
    for (let turn = this.#next(service, gate); turn !== null; turn = this.#next(service, gate)) {
      const [name, holder] = turn;
      const asking = holder.waiting.shift() as Asking;
      gate.inFlight += 1;
      holder.inFlight += 1;
      // Behind all others, as its turn is over.
      if (gate.holders.size > 1) {
        gate.holders.delete(name);
        gate.holders.set(name, holder);
      }
      if (asking.askNext(service)) holder.waiting.push(asking);
      else {
        gate.inFlight -= 1;
        holder.inFlight -= 1;
        this.#drop(gate, name, holder);
      }
    }
  }

  /** The first that waits and may ask; null: nobody. */
  #next(service: ServiceName, gate: Gate): [string, Holder] | null {
    const free = inFlightMax[service] - gate.inFlight;
    if (free <= 0) return null;
    const quarter = inFlightMax[service] / 4;
    for (const turn of gate.holders) {
      const [, { inFlight, waiting }] = turn;
      if (waiting.length > 0 && (inFlight < quarter || free > quarter)) return turn;
    }
    return null;
  }

  #drop(gate: Gate, name: string, { inFlight, waiting }: Holder): void {
    if (inFlight === 0 && waiting.length === 0) gate.holders.delete(name);
  }

  #gate(service: ServiceName): Gate {
    let gate = this.#gates.get(service);
    if (gate === undefined) {
      gate = { inFlight: 0, holders: new Map() };
      this.#gates.set(service, gate);
    }
    return gate;
  }
}
