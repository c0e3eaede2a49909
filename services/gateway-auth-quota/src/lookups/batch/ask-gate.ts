/** Bounds the questions that all batches together have in flight at each service: below what messaging queues, and what a DNS resolver can bear. */

import { type ServiceName, services } from "@netfacts/contracts";
import { type Share, Shares } from "@netfacts/messaging";
import { AskWindow, type EndedQuestion } from "./ask-window.ts";

/** Questions in flight of all batches: below what messaging queues (`queuedItemsMax`), so that no batch is refused because of others. */
const inFlightMax: Readonly<Record<ServiceName, number>> = { "ip-routing": 3_072, "asn-prefix": 3_072, "rdns-resolver": 256 };

/** A batch that waits to ask. */
export interface WaitingBatch {
  /** The holder of the turns that it takes: batches of one key share the turns of the key. */
  readonly holder: string;
  /** Asks the next of its questions for the service; false: it has none any more. */
  askNext(service: ServiceName): boolean;
}

/** The batches of one key at the gate. */
interface Holder {
  /** What its replies allow; null: its questions wait for nameservers, and how long says nothing about the load. */
  readonly window: AskWindow | null;
  /** Its questions in flight; null: none so far. */
  share: Share | null;
  /** In the order of their turns; each once. */
  readonly waiting: WaitingBatch[];
}

interface Gate {
  /** When the service last replied, on the clock of `performance.now()`; 0: never. */
  repliedAt: number;
  /** Shares of the questions in flight. */
  readonly shares: Shares;
  /** In the order of their turns. Those who neither wait nor have a question in flight are dropped. */
  readonly holders: Map<string, Holder>;
}

/** One for all batches of a gateway: keys take turns, question by question, and so do the batches of a key; each has its fair share. */
export class AskGate {
  readonly #gates = new Map<ServiceName, Gate>();

  /** Calls `batch.askNext`, at once or later, until it has no more questions for the service. */
  enter(service: ServiceName, batch: WaitingBatch): void {
    const gate = this.#gate(service);
    let holder = gate.holders.get(batch.holder);
    if (holder === undefined) {
      holder = { window: services[service].snapshots ? new AskWindow() : null, share: null, waiting: [] };
      gate.holders.set(batch.holder, holder);
    }
    if (!holder.waiting.includes(batch)) holder.waiting.push(batch);
    this.#open(service, gate);
  }

  /** A question has its reply, or its budget is over: call before it is asked again, and before `leave`. */
  ended(service: ServiceName, batch: WaitingBatch, question: EndedQuestion): void {
    const gate = this.#gate(service);
    const holder = gate.holders.get(batch.holder);
    const now = performance.now();
    if (question.hasReply) gate.repliedAt = now;
    holder?.window?.ended(question, now, gate.repliedAt <= question.askedAt, holder.share?.places ?? 0);
  }

  /** A question was answered, or given up. Call after it is asked again, if it is: the window of a key without questions is forgotten. */
  leave(service: ServiceName, batch: WaitingBatch): void {
    const gate = this.#gate(service);
    const holder = gate.holders.get(batch.holder);
    if (holder !== undefined) this.#giveBack(gate, batch.holder, holder);
    this.#open(service, gate);
  }

  /** Whether the service has replied to any batch since this time, on the clock of `performance.now()`. */
  hasReplied(service: ServiceName, since: number): boolean {
    return this.#gate(service).repliedAt > since;
  }

  #open(service: ServiceName, gate: Gate): void {
    for (let turn = this.#next(gate); turn !== null; turn = this.#next(gate)) {
      const [name, holder] = turn;
      const batch = holder.waiting.shift() as WaitingBatch;
      holder.share = gate.shares.enter(name);
      // Behind all others, as its turn is over.
      if (gate.holders.size > 1) {
        gate.holders.delete(name);
        gate.holders.set(name, holder);
      }
      if (batch.askNext(service)) holder.waiting.push(batch);
      else this.#giveBack(gate, name, holder);
    }
  }

  /** The first holder that waits and may ask; null: there is none. */
  #next({ shares, holders }: Gate): [string, Holder] | null {
    if (shares.used >= shares.max) return null;
    for (const turn of holders) {
      const [name, { window, share, waiting }] = turn;
      if (waiting.length > 0 && (share?.places ?? 0) < (window?.size ?? shares.max) && shares.mayEnter(name)) return turn;
    }
    return null;
  }

  #giveBack({ shares, holders }: Gate, name: string, { share, waiting }: Holder): void {
    if (share === null) return;
    shares.leave(share);
    if (share.places === 0 && waiting.length === 0) holders.delete(name);
  }

  #gate(service: ServiceName): Gate {
    let gate = this.#gates.get(service);
    if (gate === undefined) {
      gate = { shares: new Shares(inFlightMax[service], "kept free"), repliedAt: 0, holders: new Map() };
      this.#gates.set(service, gate);
    }
    return gate;
  }
}
