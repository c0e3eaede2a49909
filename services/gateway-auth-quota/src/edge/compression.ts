/**
 * Bodies packed as the caller takes them. What is packed here holds no secret of the caller and echoes nothing that somebody else could
 * have put beside one (BREACH): records of public data, never `/me` or keys; problems only in batches, where they quote the caller's own
 * questions and nothing besides.
 */

import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import { preferredCoding } from "./accept.ts";

const pack = {
  zstd: promisify(zstdCompress),
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
} as const;

export type Coding = keyof typeof pack;

/** In the order of what a byte saved costs. */
const codings: readonly Coding[] = ["zstd", "br", "gzip"];

/** Levels at which a page of a list costs well below a millisecond. */
const levels = {
  zstd: { params: { [constants.ZSTD_c_compressionLevel]: 3 } },
  br: { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT } },
  gzip: { level: 6 },
};

/** Bodies that are being packed at a time; more are sent as they are, which is always allowed and sooner done. */
const packingMax = 64;

export interface PackedBody {
  readonly body: Uint8Array;
  readonly coding: Coding;
}

export class Compressor {
  readonly #bytesMin: number;
  #packing = 0;

  /** @param bytesMin  shorter bodies are sent as they are; -1: all are. */
  constructor(bytesMin: number) {
    this.#bytesMin = bytesMin < 0 ? Number.POSITIVE_INFINITY : bytesMin;
  }

  /** Null at once where the body is to be sent as it is; also later, where packing made it no shorter. */
  pack(body: Uint8Array, acceptEncoding: string | string[] | undefined): Promise<PackedBody | null> | null {
    if (acceptEncoding === undefined || body.length < this.#bytesMin || this.#packing >= packingMax) return null;
    const coding = this.codingOf(acceptEncoding);
    return coding === null ? null : this.#pack(body, coding);
  }

  /** How an answer is to be packed whose length nobody knows yet; null: as it is. */
  codingOf(acceptEncoding: string | string[] | undefined): Coding | null {
    if (acceptEncoding === undefined || this.#bytesMin === Number.POSITIVE_INFINITY) return null;
    return preferredCoding(String(acceptEncoding), codings);
  }

  async #pack(body: Uint8Array, coding: Coding): Promise<PackedBody | null> {
    this.#packing += 1;
    try {
      const packed = await (coding === "zstd"
        ? pack.zstd(body, levels.zstd)
        : coding === "br"
          ? pack.br(body, levels.br)
          : pack.gzip(body, levels.gzip));
      return packed.length < body.length ? { body: packed, coding } : null;
    } finally {
      this.#packing -= 1;
    }
  }
}
