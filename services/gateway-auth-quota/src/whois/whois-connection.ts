/** One whois client, from its first line to the end of its connection. */

import type { Socket } from "node:net";
import { helpText, plainFormat, readBulkLine, readQuery, type WhoisFormat, type WhoisTarget } from "./whois-query.ts";
import { titleLine } from "./whois-rows.ts";

/** Longest line of a client. A resource with all its flags is shorter. */
const lineBytesMax = 512;
/** Lines of a bulk that are looked up concurrently. Their answers are sent in order. */
const windowMax = 32;

export interface WhoisService {
  /** The lines of the answer, or one line with the reason why there is none. Never throws. */
  answer(target: WhoisTarget, format: WhoisFormat, isBulk: boolean): Promise<readonly string[]>;
  /** Charges the request to the client's address. @returns null, or, if it was not charged, the time to wait in ms. */
  take(target: WhoisTarget): number | null;
  /**
   * Charges a line of a bulk; null: a line without a resource. Resolves when the line is charged, in turn with other bulks of the address, or
   * when the client is gone.
   */
  wait(target: WhoisTarget | null): Promise<void>;
  /** Longest time without a new line and without a written answer; also between two lines of a bulk with resources. In ms. */
  readonly idleMs: number;
  readonly clock: { now(): number };
}

export class WhoisConnection {
  readonly #socket: Socket;
  readonly #service: WhoisService;
  readonly #lines: AsyncGenerator<string, void>;
  /** Resolves when all previous answers are written. */
  #written: Promise<void> = Promise.resolve();
  /** Number of answers that are not written. */
  #unwritten = 0;
  /** Timer that ends a client whose next line is late; null while none is awaited. */
  #late: NodeJS.Timeout | null = null;
  #isStopping = false;

  constructor(socket: Socket, service: WhoisService) {
    this.#socket = socket;
    this.#service = service;
    this.#lines = linesOf(socket);
  }

  /** Resolves when all answers are written or the client is gone; rejects if its connection fails before. */
  async run(): Promise<void> {
    try {
      const first = await this.#nextLine();
      if (first !== null) await this.#serve(first);
      await this.#written;
    } finally {
      await this.#lines.return();
    }
  }

  /** Reads no more lines; pending answers are still sent. */
  stop(): void {
    this.#isStopping = true;
    if (this.#unwritten === 0) this.#socket.destroySoon();
  }

  async #serve(line: string): Promise<void> {
    if (line.length > lineBytesMax) return void this.#put(tooLong(1));
    const query = readQuery(line);
    if (query.kind === "unknown") return void this.#put(noMatch(1, query.meant));
    if (query.kind === "bulk") return this.#serveBulk();
    if (query.kind === "help") return void this.#put(helpText);
    const { target, format } = query;
    const waitMs = this.#service.take(query.target);
    if (waitMs !== null) return void this.#put(`Error: too many requests; try again in ${Math.ceil(waitMs / 1_000)} s.\n`);
    if (format.header) this.#put(titleLine(format, target.kind));
    this.#put(this.#service.answer(target, format, false));
  }

  /** Answers each resource, in order, until `end` or the end of the input. */
  async #serveBulk(): Promise<void> {
    // Team Cymru's bulk mode has titles only on request.
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
      } else if (read.kind === "unknown") this.#put(noMatch(number, read.meant));
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

  /** Null after the last line. Bytes without a line end do not extend the time. */
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

  /** Reads nothing while it waits, so the client sends only as fast as it is allowed. The client does not count as idle meanwhile. */
  async #waitForTurn(target: WhoisTarget | null): Promise<void> {
    this.#socket.setTimeout(0);
    await this.#service.wait(target);
    this.#socket.setTimeout(this.#service.idleMs);
  }

  get #isOver(): boolean {
    return this.#isStopping || this.#socket.destroyed;
  }

  /** Writes the text after all previous ones. */
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

/** The sentence of Team Cymru's server, which clients know, and what was probably meant. */
function noMatch(line: number, meant: string | null): string {
  return `Error: no ASN or IP match on line ${line}.${meant === null ? "" : ` Did you mean ${meant}?`}\n`;
}

function tooLong(line: number): string {
  return `Error: line ${line} is longer than ${lineBytesMax} bytes. Nothing after it is answered.\n`;
}

/** Lines without line ends; the last one may have none. A line that is too long is the last one, and may be incomplete. */
async function* linesOf(socket: Socket): AsyncGenerator<string, void> {
  let rest = "";
  // No resource has characters other than ASCII, so the encoding does not matter.
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

/** Resolves when more can be written, or the client is gone. */
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
