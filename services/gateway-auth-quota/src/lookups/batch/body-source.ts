/** The body of a request, piece by piece at the pace of its reader, decompressed if need be. */

import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip, type Gunzip } from "node:zlib";
import { ProblemError } from "@netfacts/contracts";

/** The client went away before its body ended: nobody is there to be told. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

interface Waiter {
  readonly resolve: (piece: Buffer | null) => void;
  readonly reject: (error: Error) => void;
}

/** Factor by which a body may grow when it is decompressed, beyond the first MiB. gzip reaches a thousand, which no list of questions needs. */
const expansionMax = 100;
const freeBytes = 1 << 20;

/** Reads nothing ahead but what the streams beneath hold, 64 KiB or so each. */
export class BodySource {
  readonly #request: IncomingMessage;
  readonly #stream: Readable;
  /** Null: the body is not packed. */
  readonly #gunzip: Gunzip | null;
  #unpackedBytes = 0;
  #waiter: Waiter | null = null;
  #ended = false;
  #failure: Error | null = null;

  constructor(request: IncomingMessage, encoding: "gzip" | null) {
    this.#request = request;
    this.#gunzip = encoding === null ? null : createGunzip();
    this.#stream = this.#gunzip === null ? request : request.pipe(this.#gunzip);
    this.#stream.on("readable", this.#serve);
    this.#stream.on("end", this.#end);
    this.#stream.on("error", this.#break);
    request.on("error", this.#gone);
    request.on("close", this.#close);
    if (request.destroyed) this.#gone();
  }

  /**
   * The next piece; null after the last. One call at a time.
   *
   * @throws ClientGoneError, or the ProblemError of a body that cannot be unpacked, or of `fail`.
   */
  next(): Promise<Buffer | null> {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#serve();
    });
  }

  /** Ends the reading: `next` rejects with the error, also a call that waits already. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#serve();
  }

  /** Lets go of the request, whose rest stays unread. */
  release(): void {
    for (const stream of [this.#stream, this.#request]) {
      stream.off("readable", this.#serve);
      stream.off("end", this.#end);
      stream.off("close", this.#close);
    }
    if (this.#stream === this.#request) return;
    this.#request.unpipe();
    this.#stream.destroy();
  }

  readonly #serve = (): void => {
    const waiter = this.#waiter;
    if (waiter === null) return;
    const piece = this.#failure === null ? (this.#stream.read() as Buffer | null) : null;
    if (piece !== null) this.#boundExpansion(piece.length);
    if (piece === null && this.#failure === null && !this.#ended) return;
    this.#waiter = null;
    if (this.#failure !== null) waiter.reject(this.#failure);
    else waiter.resolve(piece);
  };

  #boundExpansion(bytes: number): void {
    if (this.#gunzip === null) return;
    this.#unpackedBytes += bytes;
    if (this.#unpackedBytes > freeBytes + expansionMax * this.#gunzip.bytesWritten)
      this.#failure ??= new ProblemError("invalid_body", {
        detail: `The body expands to more than ${expansionMax} times its compressed size.`,
      });
  }

  readonly #end = (): void => {
    this.#ended = true;
    this.#serve();
  };

  readonly #break = (cause: Error): void => {
    if (this.#stream === this.#request) this.#gone();
    else this.fail(new ProblemError("invalid_body", { detail: `The body is not valid gzip: ${reasonOf(cause)}.` }));
  };

  readonly #gone = (): void => this.fail(new ClientGoneError("the client disconnected"));

  readonly #close = (): void => {
    if (!this.#request.complete) this.#gone();
  };
}

/** Our words for zlib's errors: its own are of its inner parts, and change between its versions. */
function reasonOf({ code, message }: Error & { readonly code?: string }): string {
  if (code === "Z_BUF_ERROR") return "its data end too early";
  return message === "incorrect header check" ? "it has no gzip header, or something follows the compressed data" : "its data are damaged";
}
