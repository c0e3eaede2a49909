/** One batch from its first question to its last result: asked side by side, answered in order, within bounded memory. */

import type { ServerResponse } from "node:http";
import { ProblemError } from "@netfacts/contracts";
import type { ReplyItem } from "@netfacts/messaging";
import type { CallerTurns } from "../../edge/caller-turns.ts";
import type { Coding } from "../../edge/compression.ts";
import type { BatchAsker, Inquiry, Outcome } from "./asker.ts";
import type { Format } from "./form.ts";
import type { Item } from "./item-reader.ts";
import { Output } from "./output.ts";
import type { ResultTexts } from "./result-texts.ts";

/** The window: most questions whose result is not written yet, and about how many bytes their records may have. */
const windowItemsMax = 2_048;
const windowBytesMax = 4 << 20;

/** Waiting for room ends when the window has shrunk to this, so that many questions then share a frame. */
const resumeItems = windowItemsMax - 512;
const resumeBytes = windowBytesMax * 0.75;
/** Results that are written in one step of a turn. */
const stepResults = 8;
/** Length of a problem, about. */
const problemBytes = 512;

/** A question in the window, and its outcome. */
interface Place {
  readonly item: Item;
  readonly weight: number;
  /** Null for what is not asked. */
  inquiry: Inquiry | null;
  outcome: Outcome | null;
}

export interface BatchRunOptions {
  readonly response: ServerResponse;
  readonly format: Format;
  /** How the answer is compressed; null: not at all. */
  readonly coding: Coding | null;
  readonly texts: ResultTexts;
  readonly asker: BatchAsker;
  readonly turns: CallerTurns;
  /** The result of a question was written. */
  readonly onWritten: (item: Item, outcome: Outcome) => void;
}

export class BatchRun {
  readonly #options: BatchRunOptions;
  readonly #output: Output;
  /** In the order of their questions, from `#first` on. */
  #places: Place[] = [];
  #first = 0;
  #weight = 0;
  #written = 0;
  #failed = 0;
  #writeScheduled = false;
  #stopped = false;
  /** The result of every item from now on; null: its own. */
  #refusal: ProblemError | null = null;
  #onRoom: (() => void) | null = null;
  #onWrittenAll: (() => void) | null = null;

  constructor(options: BatchRunOptions) {
    this.#options = options;
    this.#output = new Output(options.response, options.coding, () => {
      if (!this.#stopped) this.#schedule();
    });
    if (options.format === "json") this.#output.text('{"results":[');
  }

  /** Whether the client is gone. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  get count(): number {
    return this.#written;
  }

  get failedCount(): number {
    return this.#failed;
  }

  /** Whether the batch waits for the client: no question is under way, or results are not read. */
  get waitsForClient(): boolean {
    return this.#places.length === this.#first || !this.#output.hasRoom;
  }

  /** Whether the client has not taken all that was written for it. */
  get isUnread(): boolean {
    return this.#output.unread > 0;
  }

  /** Takes the next question. Call only while there is room. */
  put(item: Item): void {
    const known = this.#refusal ?? ("op" in item ? null : item.problem);
    if (known !== null && this.#mayWriteNow) {
      this.#writeResult(item, known);
      this.#schedule();
      return;
    }
    const place: Place = { item, weight: "op" in item ? item.weight : problemBytes, inquiry: null, outcome: null };
    this.#places.push(place);
    this.#weight += place.weight;
    if (known !== null) this.#settle(place, known);
    else if ("op" in item) {
      place.inquiry = { question: item, done: (outcome) => this.#settle(place, outcome), endsAt: 0, isRepeated: false };
      this.#options.asker.ask(place.inquiry);
    }
  }

  /** Null: there is room for another question; else resolves when there is, or when the batch was stopped. */
  room(): Promise<void> | null {
    if (this.#hasRoom) return null;
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }

  /** Resolves when the last result was written, or the batch stopped. */
  async drained(): Promise<void> {
    if (this.#places.length === this.#first || this.#stopped) return;
    await new Promise<void>((resolve) => {
      this.#onWrittenAll = resolve;
    });
  }

  /** Writes the text behind the results, and sends it at once. */
  tell(tail: string): void {
    if (this.#stopped) return;
    this.#output.text(tail);
    this.#output.flush();
  }

  /** @param tail  the text behind the results, unless `tell` has sent it. */
  end(tail = ""): void {
    if (this.#stopped) return;
    this.#output.text(tail);
    this.#output.end();
  }

  /** Asks nothing more: each result that is not written yet becomes the problem. */
  refuse(problem: ProblemError): void {
    this.#refusal = problem;
    this.#options.asker.stop();
    for (const place of this.#places.slice(this.#first)) place.outcome = problem;
    this.#schedule();
  }

  /**
   * Call when the client is gone: nothing more is asked or written.
   *
   * @returns the questions that were asked and whose results are not written, except those that failed.
   */
  stop(): ReadonlySet<Item> {
    this.#stopped = true;
    const asked = new Set(
      this.#places
        .slice(this.#first)
        .filter(wasAsked)
        .map(({ item }) => item),
    );
    this.#options.asker.stop();
    this.#places = [];
    this.#first = 0;
    this.#onRoom?.();
    this.#onWrittenAll?.();
    return asked;
  }

  get #hasRoom(): boolean {
    return this.#stopped || (this.#places.length - this.#first < windowItemsMax && this.#weight < windowBytesMax);
  }

  /** Whether a result may skip the window: thousands of problems that wait there are garbage to collect. */
  get #mayWriteNow(): boolean {
    const { asker, turns } = this.#options;
    return !this.#stopped && this.#places.length === this.#first && this.#output.hasRoom && turns.hasTime(asker.holder);
  }

  #settle(place: Place, outcome: Outcome): void {
    place.outcome = outcome;
    if (place === this.#places[this.#first]) this.#schedule();
  }

  /** Results that come in one turn of the event loop leave together. */
  #schedule(): void {
    if (this.#writeScheduled || this.#stopped) return;
    this.#writeScheduled = true;
    setImmediate(() => this.#writeInTurn());
  }

  #writeInTurn(): void {
    const { asker, turns } = this.#options;
    turns.take(asker.holder, this, () => {
      this.#writeScheduled = false;
      if (!this.#stopped) this.#write();
    });
  }

  #write(): void {
    const { asker, turns } = this.#options;
    let results = 0;
    while (this.#output.hasRoom) {
      const place = this.#places[this.#first];
      if (place?.outcome == null) break;
      if (++results % stepResults === 0 && !turns.hasTime(asker.holder)) {
        this.#writeScheduled = true;
        this.#writeInTurn();
        break;
      }
      this.#places[this.#first] = written;
      this.#first += 1;
      this.#weight -= place.weight;
      this.#writeResult(place.item, place.outcome);
    }
    if (this.#first >= 1_024) {
      this.#places = this.#places.slice(this.#first);
      this.#first = 0;
    }
    this.#output.flush();
    if (this.#onRoom !== null && this.#places.length - this.#first <= resumeItems && this.#weight <= resumeBytes) {
      const resume = this.#onRoom;
      this.#onRoom = null;
      resume();
    }
    if (this.#places.length === this.#first) this.#onWrittenAll?.();
  }

  #writeResult(item: Item, outcome: Outcome): void {
    const { format, texts, onWritten } = this.#options;
    const index = this.#written++;
    if (format === "json" && index > 0) this.#output.text(",");
    if (outcome instanceof ProblemError) {
      this.#failed += 1;
      this.#output.text(texts.problem(index, item.echo, outcome));
    } else {
      this.#writeRecord(index, item.echo, outcome);
    }
    if (format === "ndjson") this.#output.text("\n");
    onWritten(item, outcome);
  }

  #writeRecord(index: number, echo: string, { body, ending }: ReplyItem): void {
    this.#output.text(`{"index":${index},"question":${echo},"record":`);
    this.#output.bytes(body);
    if (ending !== undefined) this.#output.bytes(ending);
    this.#output.text("}");
  }
}

/** Replaces a place whose result was written, so that its bytes can be collected. */
const written: Place = { item: { problem: new ProblemError("internal_error"), echo: "null" }, weight: 0, inquiry: null, outcome: null };

function wasAsked({ inquiry, outcome }: Place): boolean {
  if (inquiry === null || inquiry.endsAt === 0) return false;
  return outcome === null || (!(outcome instanceof ProblemError) && outcome.counted);
}
