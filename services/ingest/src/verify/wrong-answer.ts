/** What ends a run whose snapshot does not say what its sources do. */

import type { SectionName } from "@netfacts/snapshot";

/** One record of a source, and what the snapshot says of it. */
export interface Disagreement {
  readonly section: SectionName;
  readonly source: string;
  /** The record as people would write it. */
  readonly record: string;
  readonly expected: string;
  readonly found: string;
}

/** The snapshot that was built answers otherwise than a record of a source demands: the build is at fault, not the source. */
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

/** Asks one record after the other, and counts them. */
export class Asking {
  checked = 0;
  readonly #section: SectionName;

  constructor(section: SectionName) {
    this.#section = section;
  }

  /** Begins with a record; `demand` throws `WrongAnswerError` where what was found will not do. */
  of(source: string, record: string): (holds: boolean, expected: string, found: () => string) => void {
    this.checked++;
    return (holds, expected, found) => {
      if (!holds) throw new WrongAnswerError({ section: this.#section, source, record, expected, found: found() });
    };
  }
}
