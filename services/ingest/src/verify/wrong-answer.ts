/** The error that ends a run whose snapshot disagrees with its sources. */

import type { SectionName } from "@netfacts/snapshot";

/** A record of a source, and the differing content of the snapshot. */
export interface Disagreement {
  readonly section: SectionName;
  readonly source: string;
  /** The record in a readable form. */
  readonly record: string;
  readonly expected: string;
  readonly found: string;
}

/** The built snapshot disagrees with a record of a source: a fault of the build, not of the source. */
export class WrongAnswerError extends Error implements Disagreement {
  override readonly name = "WrongAnswerError";
  readonly section: SectionName;
  readonly source: string;
  readonly record: string;
  readonly expected: string;
  readonly found: string;

  constructor({ section, source, record, expected, found }: Disagreement) {
    super(
      `section ${section} does not match its sources: ${record} of ${source}: expected ${expected}, found ${found}; nothing was published`,
    );
    this.section = section;
    this.source = source;
    this.record = record;
    this.expected = expected;
    this.found = found;
  }
}

/** Compares records one after another, and counts them. */
export class Asking {
  checked = 0;
  readonly #section: SectionName;

  constructor(section: SectionName) {
    this.#section = section;
  }

  /** Begins with a record. The returned function throws `WrongAnswerError` unless its condition holds. */
  of(source: string, record: string): (holds: boolean, expected: string, found: () => string) => void {
    this.checked++;
    return (holds, expected, found) => {
      if (!holds) throw new WrongAnswerError({ section: this.#section, source, record, expected, found: found() });
    };
  }
}
