/** One connection that asks and reads one answer after the other, so that an answer out of step is seen. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  /** Lower-case names, in their order. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export class RawConnection {
  readonly #port: number;
  #socket: Socket | null = null;
  #received = "";
  #wake: () => void = () => {};

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  /** Opens the connection where it is not; a connection that ends without an answer rejects. */
  async ask(method: string, text: string): Promise<RawAnswer> {
    const socket = this.#socket ?? (await this.#open());
    socket.write(text, "latin1");
    for (;;) {
      const answer = this.#take(method === "HEAD");
      if (answer !== null) {
        if (answer.headers.get("connection") === "close") this.close();
        else if (this.#received !== "") throw new Error(`more than one answer: ${this.#received.slice(0, 200)}`);
        return answer;
      }
      if (socket.destroyed || socket.readableEnded) throw new Error(`the connection ended without an answer to ${text.slice(0, 300)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
    this.#received = "";
  }

  async #open(): Promise<Socket> {
    const socket = connect(this.#port, "127.0.0.1");
    socket.setNoDelay(true).setEncoding("latin1");
    await once(socket, "connect");
    this.#received = "";
    socket.on("data", (piece) => {
      this.#received += piece;
      this.#wake();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      if (this.#socket === socket) this.#socket = null;
      this.#wake();
    });
    this.#socket = socket;
    return socket;
  }

  #take(isHead: boolean): RawAnswer | null {
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return null;
    const [statusLine = "", ...lines] = this.#received.slice(0, end).split("\r\n");
    const status = Number(statusLine.slice(9, 12));
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const start = end + 4;
    if (isHead || status === 304 || status === 204) return this.#cut(status, headers, "", start);
    if (headers.get("transfer-encoding") === "chunked") {
      const last = this.#received.indexOf("0\r\n\r\n", start);
      return last < 0 ? null : this.#cut(status, headers, this.#received.slice(start, last), last + 5);
    }
    const length = Number(headers.get("content-length") ?? Number.NaN);
    if (Number.isNaN(length)) throw new Error(`an answer without a length: ${this.#received.slice(0, end)}`);
    if (this.#received.length < start + length) return null;
    return this.#cut(status, headers, Buffer.from(this.#received.slice(start, start + length), "latin1").toString(), start + length);
  }

  #cut(status: number, headers: ReadonlyMap<string, string>, body: string, length: number): RawAnswer {
    this.#received = this.#received.slice(length);
    return { status, headers, body };
  }
}
