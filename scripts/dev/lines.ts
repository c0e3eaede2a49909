/** One stream of what many processes print: whole lines, each behind the name of its process. */

/** Terminal colours that can be read on light and dark. */
const colours = [36, 33, 35, 32, 34, 31, 96, 93, 95, 92];

export interface LineStreamOptions {
  /** All names, so that lines begin in one column. */
  readonly names: readonly string[];
  readonly isColoured: boolean;
  write(text: string): void;
}

export class LineStream {
  readonly #options: LineStreamOptions;
  readonly #width: number;
  /** What came of a line that has no end yet, by name. */
  readonly #begun = new Map<string, string>();

  constructor(options: LineStreamOptions) {
    this.#options = options;
    this.#width = Math.max(...options.names.map((name) => name.length));
  }

  /** Takes the next piece of what a process printed, wherever it was cut. */
  add(name: string, text: string): void {
    const lines = `${this.#begun.get(name) ?? ""}${text}`.split("\n");
    this.#begun.set(name, lines.pop() ?? "");
    for (const line of lines) this.#write(name, line);
  }

  /** Writes what a process left without an end of line. */
  end(name: string): void {
    const rest = this.#begun.get(name) ?? "";
    this.#begun.delete(name);
    if (rest !== "") this.#write(name, rest);
  }

  #write(name: string, line: string): void {
    const { names, isColoured, write } = this.#options;
    const padded = name.padEnd(this.#width);
    const head = isColoured ? `\u001b[${colours[names.indexOf(name) % colours.length]}m${padded}\u001b[0m` : padded;
    write(`${head} | ${line}\n`);
  }
}
