/**
 * Packs the answer of a batch on its way to the client. What was handed in leaves when it is flushed, so that a line is out before the
 * next question comes; what the client does not take is not packed either.
 */

import type { ServerResponse } from "node:http";
import type { Transform } from "node:stream";
import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";
import type { Coding } from "../../edge/compression.ts";

type Packing = Transform & { flush(kind: number, done: () => void): void };

/**
 * The levels of single answers. Windows are small, as a batch may go on for hours and what is alike in its records is near; with them each
 * holds 1 to 2 MiB.
 */
const makers: Readonly<Record<Coding, { readonly make: () => Packing; readonly flush: number }>> = {
  zstd: {
    make: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: 17 } }),
    flush: constants.ZSTD_e_flush,
  },
  br: {
    make: () =>
      createBrotliCompress({
        params: {
          [constants.BROTLI_PARAM_QUALITY]: 4,
          [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
          [constants.BROTLI_PARAM_LGWIN]: 17,
        },
      }),
    flush: constants.BROTLI_OPERATION_FLUSH,
  },
  gzip: { make: () => createGzip({ level: 6 }), flush: constants.Z_SYNC_FLUSH },
};

export class Packer {
  readonly #response: ServerResponse;
  readonly #packing: Packing;
  readonly #flushKind: number;
  #flushing = false;
  #flushAgain = false;

  /** @param onTaken  called when the client has taken more of what was packed. */
  constructor(response: ServerResponse, coding: Coding, onTaken: () => void) {
    const { make, flush } = makers[coding];
    this.#response = response;
    this.#packing = make();
    this.#flushKind = flush;
    this.#packing.on("error", () => response.destroy());
    response.on("drain", onTaken);
    // Frees the compressor when the client goes away: V8 does not know of its memory.
    response.once("close", () => this.#packing.destroy());
    this.#packing.pipe(response);
    if (response.destroyed) this.#packing.destroy();
  }

  /** Packed, and not taken by the client. */
  get unread(): number {
    return this.#packing.readableLength + this.#response.writableLength;
  }

  /** @param done called when the bytes were packed and are free again, or cannot be. */
  write(bytes: Uint8Array, done: (error?: Error | null) => void): void {
    this.#packing.write(bytes, done);
  }

  /** What was written leaves now. Flushes that come while one is under way become one: each costs bytes. */
  flush(): void {
    if (this.#flushing) this.#flushAgain = true;
    else if (!this.#packing.destroyed) {
      this.#flushing = true;
      this.#packing.flush(this.#flushKind, () => {
        this.#flushing = false;
        if (!this.#flushAgain) return;
        this.#flushAgain = false;
        this.flush();
      });
    }
  }

  end(): void {
    this.#packing.end();
  }
}
