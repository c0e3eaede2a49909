/** Writes results to a response out of memory that is used again and again, at the pace at which the client reads. */

import type { ServerResponse } from "node:http";
import type { Coding } from "../../edge/compression.ts";
import { Packer } from "./packer.ts";

/** Bytes that are collected before they are written, unless the turn of the event loop ends first. */
const memoryBytes = 128 * 1_024;
/** Bytes that the client has not taken, above which no more results are written. */
const unreadBytesMax = 512 * 1_024;
/** Memory that is kept for the next writes, of all batches: new memory each time has V8 collect garbage every few milliseconds. */
const sparesMax = 64;
const spares: Buffer[] = [];

export class Output {
  readonly #response: ServerResponse;
  readonly #onRoom: () => void;
  /** Null: bytes are sent as they are. */
  readonly #packer: Packer | null;
  #memory: Buffer | null = null;
  #used = 0;
  #unread = 0;
  #broken = false;
  /** Something was written since the last flush, which a packer may still hold. */
  #isHeldBack = false;

  /**
   * @param coding how the response is compressed; null: not at all.
   * @param onRoom called when the client has read on, so that there may be room again.
   */
  constructor(response: ServerResponse, coding: Coding | null, onRoom: () => void) {
    this.#response = response;
    this.#onRoom = onRoom;
    this.#packer = coding === null ? null : new Packer(response, coding, onRoom);
  }

  /** Whether more may be written now. */
  get hasRoom(): boolean {
    return this.#unread <= unreadBytesMax;
  }

  /** Bytes that were handed to the connection and not taken by the client. */
  get unread(): number {
    return this.#unread + (this.#packer?.unread ?? 0);
  }

  text(text: string): void {
    const bytesMax = 3 * text.length;
    if (bytesMax > memoryBytes) this.bytes(Buffer.from(text));
    else {
      const memory = this.#room(bytesMax);
      this.#used += memory.write(text, this.#used);
    }
  }

  bytes(bytes: Uint8Array): void {
    if (bytes.length > memoryBytes) {
      this.#writeCollected();
      this.#write(bytes, null);
      return;
    }
    const memory = this.#room(bytes.length);
    memory.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  /** Sends all that was written. */
  flush(): void {
    this.#writeCollected();
    if (this.#isHeldBack) this.#packer?.flush();
    this.#isHeldBack = false;
  }

  /** After the last byte. */
  end(): void {
    this.#writeCollected();
    if (this.#broken) return;
    if (this.#packer === null) this.#response.end();
    else this.#packer.end();
  }

  /** Writes what was collected. */
  #writeCollected(): void {
    const memory = this.#memory;
    if (memory === null) return;
    const used = this.#used;
    this.#memory = null;
    this.#used = 0;
    this.#write(memory.subarray(0, used), memory);
  }

  #room(bytes: number): Buffer {
    if (this.#memory !== null && this.#used + bytes > memoryBytes) this.#writeCollected();
    this.#memory ??= spares.pop() ?? Buffer.allocUnsafeSlow(memoryBytes);
    return this.#memory;
  }

  #write(bytes: Uint8Array, memory: Buffer | null): void {
    if (this.#broken || bytes.length === 0) return;
    this.#unread += bytes.length;
    this.#isHeldBack = true;
    const taken = (error?: Error | null): void => {
      this.#unread -= bytes.length;
      // After a failed write, the memory may still be in use.
      if (error) this.#broken = true;
      else if (memory !== null && spares.length < sparesMax) spares.push(memory);
      this.#onRoom();
    };
    if (this.#packer === null) this.#response.write(bytes, taken);
    else this.#packer.write(bytes, taken);
  }
}
