/** Names that all sources of a section use together, where its columns can number 255 of them. */

import { SourceError } from "../readers/reader-report.ts";

/** The columns have a byte for each, of which 255 stands for none (`noType`, `taNone`). */
const namesMax = 255;

export class BoundedNames {
  readonly #what: string;
  #names: ReadonlySet<string>;

  /** @param what  the names in the plural: "network types". @param reserved  a name that counts from the first. */
  constructor(what: string, reserved: readonly string[] = []) {
    this.#what = what;
    this.#names = new Set(reserved);
  }

  /** Takes those of one source. Throws `SourceError` if there are more than 255 with those of the sources before it, and takes none then. */
  join(file: string, names: Iterable<string>): void {
    const own = new Set(names);
    const joint = new Set([...this.#names, ...own]);
    if (joint.size > namesMax) {
      const together = own.size > namesMax ? "" : `, and there are ${joint.size} with those of the sources before it`;
      throw new SourceError(file, null, `has ${own.size} different ${this.#what}${together}; a snapshot can have ${namesMax}`);
    }
    this.#names = joint;
  }
}
