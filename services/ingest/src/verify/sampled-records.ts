/** The records that the sources of one section contain, with a sample for the check of the section. */

import type { SectionName, SectionRecord } from "@netfacts/snapshot";
import { KeyedSample } from "./keyed-sample.ts";
import { randomOf } from "./reservoir.ts";

/** The record of one source, for things of which several sources may have a record. */
export interface Said<V> {
  readonly source: string;
  readonly value: V;
}

/** Keys of one section whose records are kept for the check. */
const sampleMax = 500;

/** Sources are added in the order in which they are read, which is that of `sources.yaml`. */
export class SampledRecords<S extends SectionName> {
  /** All records of the kept keys; they stay when the records are taken. */
  readonly sample: KeyedSample<Said<SectionRecord<S>>>;
  readonly #keyOf: (record: SectionRecord<S>) => number | string;
  #records: SectionRecord<S>[] = [];

  /** @param keyOf  returns what a record is about; records with equal keys are about the same thing */
  constructor(section: S, keyOf: (record: SectionRecord<S>) => number | string) {
    this.sample = new KeyedSample(sampleMax, randomOf(section));
    this.#keyOf = keyOf;
  }

  /** Adds the records of one source. */
  add(source: string, records: Iterable<SectionRecord<S>>): void {
    for (const value of records) {
      this.sample.add(this.#keyOf(value), { source, value });
      this.#records.push(value);
    }
  }

  /** Returns all records, and drops them here. */
  take(): SectionRecord<S>[] {
    const taken = this.#records;
    this.#records = [];
    return taken;
  }
}
