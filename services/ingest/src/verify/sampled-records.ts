/** The records that the sources of one section contain, with a sample for the check of the section. */

import type { SectionName } from "@netfacts/snapshot";
import { KeyedSample } from "./keyed-sample.ts";
import { randomOf } from "./reservoir.ts";

/** What one source says of something of which several may speak. */
export interface Said<V> {
  readonly source: string;
  readonly value: V;
}

/** Keys of one section whose records are kept for the check. */
const sampleMax = 500;

/** In the order in which the sources are read, which is that of `sources.yaml`. */
export class SampledRecords<R> {
  /** Everything that was said of the keys that are kept; stays when the records are taken. */
  readonly sample: KeyedSample<Said<R>>;
  readonly #keyOf: (record: R) => number | string;
  #records: R[] = [];

  /** @param keyOf  returns what a record is about. Records with equal keys are about the same thing. */
  constructor(section: SectionName, keyOf: (record: R) => number | string) {
    this.sample = new KeyedSample(sampleMax, randomOf(section));
    this.#keyOf = keyOf;
  }

  /** Adds what one source contains. */
  add(source: string, records: Iterable<R>): void {
    for (const value of records) {
      this.sample.add(this.#keyOf(value), { source, value });
      this.#records.push(value);
    }
  }

  /** All records, which are not held here any longer. */
  take(): R[] {
    const taken = this.#records;
    this.#records = [];
    return taken;
  }
}
