/** How much of a service all batches together may ask at a time: within what messaging queues, and what a DNS resolver is to bear. */

import type { ServiceName } from "@netfacts/contracts";

/** Questions in flight at a time: below what messaging queues (`queuedItemsMax`), so that no batch is refused because of others. */
const inFlightMax: Readonly<Record<ServiceName, number>> = { "ip-routing": 3_072, "asn-prefix": 3_072, "rdns-resolver": 256 };

/** Who waits to ask. */
export interface Asking {
  /** Asks the next of its questions for the service; false: it has none any more. */
  askNext(service: ServiceName): boolean;
}

interface Gate {
  inFlight: number;
  /** In the order of their turns; each once. */
  readonly waiting: Asking[];
}

/** One for all batches of a gateway: they take turns, question by question. */
export class AskGate {
  readonly #gates = new Map<ServiceName, Gate>();

  /** Has `asking` called back, at once or later, until it has no more to ask of the service. */
  enter(service: ServiceName, asking: Asking): void {
    const gate = this.#gate(service);
    if (!gate.waiting.includes(asking)) gate.waiting.push(asking);
    this.#open(service, gate);
  }

  /** A question was answered, or given up. */
  leave(service: ServiceName): void {
    const gate = this.#gate(service);
    gate.inFlight -= 1;
    if (gate.waiting.length > 0) this.#open(service, gate);
  }

  #open(service: ServiceName, gate: Gate): void {
    while (gate.inFlight < inFlightMax[service]) {
      const asking = gate.waiting.shift();
      if (asking === undefined) return;
      gate.inFlight += 1;
      if (asking.askNext(service)) gate.waiting.push(asking);
      else gate.inFlight -= 1;
    }
  }

  #gate(service: ServiceName): Gate {
    let gate = this.#gates.get(service);
    if (gate === undefined) {
      gate = { inFlight: 0, waiting: [] };
      this.#gates.set(service, gate);
    }
    return gate;
  }
}
