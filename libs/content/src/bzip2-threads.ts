/** Decodes the blocks of bzip2 in several threads at once. Anything unexpected is left to `bunzip2`, which reports it. */

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { type Bzip2State, bunzip2 } from "./bzip2.ts";
import { bitsAt, findMark, type Mark, markBits } from "./bzip2-marks.ts";
import type { BlockReply, BlockRequest } from "./bzip2-thread.ts";

/** Most threads; a reader that processes the output keeps one more core busy. */
const threadsMax = 4;
/** Smaller files are decompressed before threads have started. */
const worthwhileBytes = 2 << 20;
/** No block that bzip2 writes is longer than this. */
const blockBytesMax = 3 << 20;
/** Two, so that no thread waits for its next block; with its output, a block takes some 2 MiB. */
const blocksPerThread = 2;
/** Size of a stream's head. */
const headBytes = 4;
const crcBits = 32;

/**
 * Decompresses `stored` like `bunzip2`: the same bytes up to a damaged block, and the same errors at the same place.
 *
 * Holds at most two blocks per thread in addition to the bytes read. Threads end with the iteration.
 */
export async function* bunzip2InThreads(
  path: string,
  stored: AsyncIterable<Uint8Array>,
  threads = Math.min(threadsMax, availableParallelism()),
): AsyncGenerator<Uint8Array, void, undefined> {
  const window = new StoredWindow(stored);
  let pool: BlockThread[] = [];
  try {
    while (window.length < worthwhileBytes && (await window.more()));
    if (threads < 2 || window.exhausted) return yield* bunzip2(path, window.rest(0));
    pool = Array.from({ length: threads }, () => new BlockThread());
    yield* decode(path, window, pool);
  } finally {
    await Promise.all([...pool.map((thread) => thread.end()), window.close()]);
  }
}

/** Findings that are not passed on yet, in the order of the file. Bits are offsets in the file. */
type Found =
  | {
      readonly kind: "block";
      readonly bit: number;
      readonly endBit: number;
      readonly capacity: number;
      readonly reply: Promise<BlockReply>;
    }
  | { readonly kind: "end"; readonly bit: number; readonly crc: number; readonly capacity: number }
  /** The rest is not understood here. */
  | { readonly kind: "strange"; readonly bit: number; readonly capacity: number };

async function* decode(path: string, window: StoredWindow, pool: readonly BlockThread[]): AsyncGenerator<Uint8Array, void, undefined> {
  const finding = find(window, pool)[Symbol.asyncIterator]();
  const queue: Found[] = [];
  let combined = 0;
  for (let exhausted = false; ; ) {
    while (!exhausted && queue.length < pool.length * blocksPerThread) {
      const { value, done } = await finding.next();
      if (done) exhausted = true;
      else queue.push(value);
    }
    const found = queue.shift();
    if (found === undefined) return;
    const { bit, capacity } = found;
    const reply = found.kind === "block" ? await found.reply : null;
    if (found.kind === "block" && reply !== null && bit + reply.endBit - (bit & 7) === found.endBit) {
      combined = ((combined << 1) | (combined >>> 31)) ^ reply.crc;
      yield* reply.chunks;
    } else if (found.kind === "end" && found.crc === combined >>> 0) combined = 0;
    else {
      const offset = Math.floor(bit / 8);
      const state: Bzip2State | null = capacity === 0 ? null : { offset, bit: bit % 8, capacity, combined };
      return yield* bunzip2(path, window.rest(offset), state);
    }
    window.release(Math.floor((queue[0]?.bit ?? bit) / 8));
  }
}

/** Looks for marks, and passes each block to a thread as soon as its end is known. */
async function* find(window: StoredWindow, pool: readonly BlockThread[]): AsyncGenerator<Found, void, undefined> {
  let blocks = 0;
  let head = await readHead(window, 0);
  if (head === null) return yield { kind: "strange", bit: 0, capacity: 0 };
  for (;;) {
    const { capacity } = head;
    let { mark } = head;
    while (mark.kind === "block") {
      const next: Mark | null = await window.mark(mark.bit + markBits);
      if (next === null) return yield { kind: "strange", bit: mark.bit, capacity };
      const request: BlockRequest = { bytes: window.copy(mark.bit, next.bit), bit: mark.bit % 8, capacity };
      const thread = pool[blocks++ % pool.length] as BlockThread;
      yield { kind: "block", bit: mark.bit, endBit: next.bit, capacity, reply: thread.decode(request) };
      mark = next;
    }
    const { bit } = mark;
    const end = Math.ceil((bit + markBits + crcBits) / 8);
    const whole = await window.has(end);
    const more = await window.has(end + 1);
    head = more ? await readHead(window, end) : null;
    if (!whole || (more && head === null)) return yield { kind: "strange", bit, capacity };
    yield { kind: "end", bit, crc: window.bits(bit + markBits, crcBits), capacity };
    if (head === null) return;
  }
}

/** Reads "BZh1"–"BZh9" and the mark that must follow; null: they are not there. */
async function readHead(window: StoredWindow, byte: number): Promise<{ capacity: number; mark: Mark } | null> {
  const bit = byte * 8;
  if (!(await window.has(byte + headBytes)) || window.bits(bit, 24) !== 0x425a68) return null;
  const level = window.bits(bit + 24, 8) - 0x30;
  if (level < 1 || level > 9) return null;
  const mark = await window.mark(bit + 32);
  return mark?.bit === bit + 32 ? { capacity: level * 100_000, mark } : null;
}

/** The current part of a file. Offsets are those in the file, in bytes or bits. */
class StoredWindow {
  readonly #source: AsyncIterator<Uint8Array>;
  #bytes = new Uint8Array(0);
  /** Start and end of the window in `#bytes`, and offset of `#bytes` in the file. */
  #from = 0;
  #end = 0;
  #base = 0;
  exhausted = false;

  constructor(stored: AsyncIterable<Uint8Array>) {
    this.#source = stored[Symbol.asyncIterator]();
  }

  get length(): number {
    return this.#end - this.#from;
  }

  /** Reads the next chunk. @returns false at the end of the file. */
  async more(): Promise<boolean> {
    if (this.exhausted) return false;
    const { done, value } = await this.#source.next();
    if (done) {
      this.exhausted = true;
      return false;
    }
    if (this.#end + value.length > this.#bytes.length) this.#makeRoom(value.length);
    this.#bytes.set(value, this.#end);
    this.#end += value.length;
    return true;
  }

  #makeRoom(length: number): void {
    const left = this.#bytes.subarray(this.#from, this.#end);
    const wanted = 2 * (left.length + length);
    const bytes = this.#bytes.length < wanted ? new Uint8Array(wanted) : this.#bytes;
    // Works within one array too: `set` handles overlapping ranges.
    bytes.set(left);
    this.#bytes = bytes;
    this.#base += this.#from;
    this.#end = left.length;
    this.#from = 0;
  }

  /** Whether the file has at least this many bytes. */
  async has(bytes: number): Promise<boolean> {
    while (this.#base + this.#end < bytes) if (!(await this.more())) return false;
    return true;
  }

  /** The first mark at or after a bit; null when there is none within the length of a block. */
  async mark(bit: number): Promise<Mark | null> {
    for (let from = bit; ; ) {
      const found = findMark(this.#bytes, from - this.#base * 8, this.#end);
      if (found !== null) return { kind: found.kind, bit: found.bit + this.#base * 8 };
      const known = (this.#base + this.#end) * 8;
      if (known - bit > blockBytesMax * 8 || !(await this.more())) return null;
      from = Math.max(bit, known - markBits);
    }
  }

  bits(bit: number, count: number): number {
    return bitsAt(this.#bytes, bit - this.#base * 8, count);
  }

  /** The bytes that contain these bits. */
  copy(fromBit: number, endBit: number): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(Math.floor(fromBit / 8) - this.#base, Math.ceil(endBit / 8) - this.#base);
  }

  /** Drops the bytes before this one. */
  release(byte: number): void {
    this.#from = byte - this.#base;
  }

  /** All bytes from this one to the end of the file. */
  async *rest(byte: number): AsyncGenerator<Uint8Array, void, undefined> {
    yield this.#bytes.slice(byte - this.#base, this.#end);
    for (let next = await this.#source.next(); !next.done; next = await this.#source.next()) yield next.value;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}

/** Decodes blocks in the order of the requests. */
class BlockThread {
  readonly #worker: Worker;
  readonly #waiting: ((reply: BlockReply) => void)[] = [];
  #ended = false;

  constructor() {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    this.#worker = new Worker(new URL(`./bzip2-thread.${extension}`, import.meta.url));
    this.#worker.on("message", (reply: BlockReply) => this.#waiting.shift()?.(reply));
    // A failed thread decodes none of its remaining blocks: they are then decoded here.
    this.#worker.on("error", () => void this.end());
    this.#worker.on("exit", () => void this.end());
  }

  decode(request: BlockRequest): Promise<BlockReply> {
    if (this.#ended) return Promise.resolve(null);
    this.#worker.postMessage(request, [request.bytes.buffer]);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async end(): Promise<void> {
    this.#ended = true;
    for (const settle of this.#waiting.splice(0)) settle(null);
    await this.#worker.terminate();
  }
}
