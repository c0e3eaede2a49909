/**
 * Compression of bodies, in a coding that the caller accepts. A compressed body must not hold a secret beside text that somebody else could
 * choose (BREACH). So records of public data are compressed, and `/me` and keys never are. Problems are compressed only in batches, where
 * they quote nothing but the caller's own questions.
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

/** In ascending order of the cost per saved byte. */
const codings: readonly Coding[] = ["zstd", "br", "gzip"];

/** Levels at which a page of a list takes well below a millisecond. */
const levels = {
  zstd: { params: { [constants.ZSTD_c_compressionLevel]: 3 } },
  br: { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT } },
  gzip: { level: 6 },
};

/** Bodies that are being compressed at a time; further ones are sent uncompressed, which is always allowed and takes less time. */
const packingMax = 64;

export interface PackedBody {
  readonly body: Uint8Array;
  readonly coding: Coding;
}

export class Compressor {
  readonly #bytesMin: number;
  #packing = 0;

  /** @param bytesMin  shorter bodies are sent uncompressed; -1: all bodies are. */
  constructor(bytesMin: number) {
    this.#bytesMin = bytesMin < 0 ? Number.POSITIVE_INFINITY : bytesMin;
  }

  /** @returns null, or a promise of null if compression did not make the body shorter: send it uncompressed. */
  pack(body: Uint8Array, acceptEncoding: string | string[] | undefined): Promise<PackedBody | null> | null {
    if (acceptEncoding === undefined || body.length < this.#bytesMin || this.#packing >= packingMax) return null;
    const coding = this.codingOf(acceptEncoding);
    return coding === null ? null : this.#pack(body, coding);
  }

  /** The coding for an answer of unknown length; null: send it uncompressed. */
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
