/** One whois client, from its first line to the end of its connection. */

import type { Socket } from "node:net";
import { helpText, plainFormat, readBulkLine, readQuery, type WhoisFormat, type WhoisTarget } from "./whois-query.ts";
import { titleLine } from "./whois-rows.ts";

/** Longest line of a client; no resource and its flags are longer. */
const lineBytesMax = 512;
/** Lines of a bulk that are asked side by side: answers are sent in order. */
const windowMax = 32;

export interface WhoisService {
  /** Lines that answer it, or one that says why there are none. Never throws. */
  answer(target: WhoisTarget, format: WhoisFormat, isBulk: boolean): Promise<readonly string[]>;
  /** Takes what the request costs of what the client's address may send; else how long it has to wait, in ms. */
  take(target: WhoisTarget): number | null;
  /** The same for a line of a bulk, null: one that asks nothing. Resolves when it may go on, in turn with the address's other bulks, or when the client is gone. */
  wait(target: WhoisTarget | null): Promise<void>;
  /** Time for a line to come, if no answer is taken meanwhile, and between two lines of a bulk that ask something, in ms. */
  readonly idleMs: number;
  readonly clock: { now(): number };
}

export class WhoisConnection {
  readonly #socket: Socket;
  readonly #service: WhoisService;
  readonly #lines: AsyncGenerator<string, void>;
  /** Resolves when all answers so far are written. */
  #written: Promise<void> = Promise.resolve();
  /** Answers that are not written. */
  #unwritten = 0;
  /** Ends a client that is too long about a line; null while we do not wait for one. */
  #late: NodeJS.Timeout | null = null;
  #isStopping = false;

  constructor(socket: Socket, service: WhoisService) {
    this.#socket = socket;
    this.#service = service;
    this.#lines = linesOf(socket);
  }

  /** Resolves when the client has what it asked for, or is gone; rejects when it left in the middle. */
  async run(): Promise<void> {
    try {
      const first = await this.#nextLine();
      if (first !== null) await this.#serve(first);
      await this.#written;
    } finally {
      await this.#lines.return();
    }
  }

  /** Nothing more is asked; what was asked is still answered. */
  stop(): void {
    this.#isStopping = true;
    if (this.#unwritten === 0) this.#socket.destroySoon();
  }

  async #serve(line: string): Promise<void> {
    if (line.length > lineBytesMax) return void this.#put(tooLong(1));
    const query = readQuery(line);
    if (query.kind === "bulk") return this.#serveBulk();
    if (query.kind !== "one") return void this.#put(query.kind === "help" ? helpText : noMatch(1));
    const { target, format } = query;
    const waitMs = this.#service.take(query.target);
    if (waitMs !== null) return void this.#put(`Error: too many requests; try again in ${Math.ceil(waitMs / 1_000)} s.\n`);
    if (format.header) this.#put(titleLine(format, target.kind));
    this.#put(this.#service.answer(target, format, false));
  }

  /** A line for each resource, in their order, until `end` or the end of what the client sends. */
  async #serveBulk(): Promise<void> {
    // Team Cymru's bulk mode has no titles unless asked for.
    let format: WhoisFormat = { ...plainFormat, header: false };
    this.#put(`Bulk mode; Netfacts [${new Date(this.#service.clock.now()).toISOString().slice(0, 19).replace("T", " ")} +0000]\n`);
    let number = 1;
    let isTitled = false;
    let askedAt = performance.now();
    for (let line = await this.#nextLine(); line !== null; line = await this.#nextLine()) {
      number += 1;
      if (line.length > lineBytesMax) return void this.#put(tooLong(number));
      const read = readBulkLine(line, format);
      if (read.kind === "end") return;
      if (read.kind !== "target" && performance.now() - askedAt > this.#service.idleMs) return;
      await this.#waitForTurn(read.kind === "target" ? read.target : null);
      if (this.#isOver) return;
      if (read.kind === "format") {
        if (read.format.header && !format.header) isTitled = false;
        format = read.format;
      } else if (read.kind === "unknown") this.#put(noMatch(number));
      else if (read.kind === "target") {
        askedAt = performance.now();
        if (format.header && !isTitled) this.#put(titleLine(format, read.target.kind));
        isTitled = true;
        this.#put(this.#service.answer(read.target, format, true));
      }
      while (this.#unwritten >= windowMax && !this.#isOver) await this.#written;
      if (this.#isOver) return;
    }
  }

  /** Null after the last. Bytes without a line end do not make the time for it longer. */
  async #nextLine(): Promise<string | null> {
    this.#late = setTimeout(() => this.#socket.destroy(), this.#service.idleMs);
    try {
      const line = await this.#lines.next();
      return line.done === true ? null : line.value;
    } finally {
      clearTimeout(this.#late);
      this.#late = null;
    }
  }

  /** Nothing is read meanwhile, so a client sends as fast as it may ask. It is not idle while it waits for us. */
  async #waitForTurn(target: WhoisTarget | null): Promise<void> {
    this.#socket.setTimeout(0);
    await this.#service.wait(target);
    this.#socket.setTimeout(this.#service.idleMs);
  }

  get #isOver(): boolean {
    return this.#isStopping || this.#socket.destroyed;
  }

  /** Writes it behind everything before it. */
  #put(text: string | Promise<readonly string[]>): void {
    this.#unwritten += 1;
    this.#written = this.#written.then(async () => {
      const lines = typeof text === "string" ? [text] : await text;
      await write(this.#socket, lines.join(""));
      this.#unwritten -= 1;
      this.#late?.refresh();
      if (this.#isStopping && this.#unwritten === 0) this.#socket.destroySoon();
    });
  }
}

function noMatch(line: number): string {
  return `Error: no ASN or IP match on line ${line}.\n`;
}

function tooLong(line: number): string {
  return `Error: line ${line} is longer than ${lineBytesMax} bytes. Nothing after it is answered.\n`;
}

/** Lines without their ends; the last one may lack it. A line that is too long is the last one, as far as it was there. */
async function* linesOf(socket: Socket): AsyncGenerator<string, void> {
  let rest = "";
  // What is not ASCII is no resource either.
  for await (const chunk of socket.setEncoding("latin1").iterator({ destroyOnReturn: false })) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      yield line;
      if (line.length > lineBytesMax) return;
    }
    if (rest.length > lineBytesMax) break;
  }
  if (rest !== "") yield rest;
}

/** Resolves when the client has taken enough for more to be written, or is gone. */
async function write(socket: Socket, text: string): Promise<void> {
  if (socket.destroyed || socket.write(text)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      socket.off("drain", done);
      socket.off("close", done);
      resolve();
    };
    socket.on("drain", done);
    socket.on("close", done);
  });
}
