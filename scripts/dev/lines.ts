/** Merges the output of many processes into one stream of whole lines, each after the name of its process. */

/** Terminal colours that are readable on light and dark backgrounds. */
const colours = [36, 33, 35, 32, 34, 31, 96, 93, 95, 92];

export interface LineStreamOptions {
  /** All names, so that all lines begin in the same column. */
  readonly names: readonly string[];
  readonly isColoured: boolean;
  write(text: string): void;
}

export class LineStream {
  readonly #options: LineStreamOptions;
  readonly #width: number;
  /** Unfinished lines, by name. */
  readonly #begun = new Map<string, string>();

  constructor(options: LineStreamOptions) {
    this.#options = options;
    this.#width = Math.max(...options.names.map((name) => name.length));
  }

  /** Adds a piece of a process's output, which may end inside a line. */
  add(name: string, text: string): void {
    const lines = `${this.#begun.get(name) ?? ""}${text}`.split("\n");
    this.#begun.set(name, lines.pop() ?? "");
    for (const line of lines) this.#write(name, line);
  }

  /** Writes a process's last line if it has no line end. */
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
