/** Typed arrays that grow by doubling, for columns whose length is known only at the end of a pass. */

/**
 * Frees the memory of columns at once. They are empty afterwards, as are all other views of their buffers. The garbage collector frees memory outside
 * its heap only when there is much of it.
 */
export function release(...columns: readonly ArrayBufferView<ArrayBuffer>[]): void {
  for (const { buffer } of columns) if (!buffer.detached) buffer.transfer(0);
}

abstract class Growable<A extends Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>> {
  length = 0;
  protected abstract array: A;
  protected abstract create(capacity: number): A;

  push(value: number): void {
    if (this.length === this.array.length) this.grow(this.length * 2);
    this.array[this.length++] = value;
  }

  /** Makes room for `count` more items and returns the array to write them to, from `length`; the caller then raises `length`. */
  reserve(count: number): A {
    if (this.length + count > this.array.length) this.grow(Math.max(this.length * 2, this.length + count));
    return this.array;
  }

  at(index: number): number {
    return this.array[index] as number;
  }

  /** The items so far, without a copy: valid until the next push, which may empty it. */
  view(): A {
    return this.array.subarray(0, this.length) as A;
  }

  private grow(capacity: number): void {
    const larger = this.create(capacity);
    larger.set(this.array as never);
    release(this.array);
    this.array = larger;
  }
}

const initialCapacity = 1024;

export class GrowableUint8 extends Growable<Uint8Array<ArrayBuffer>> {
  protected override array = new Uint8Array(initialCapacity);
  protected override create = (capacity: number) => new Uint8Array(capacity);
}
export class GrowableUint16 extends Growable<Uint16Array<ArrayBuffer>> {
  protected override array = new Uint16Array(initialCapacity);
  protected override create = (capacity: number) => new Uint16Array(capacity);
}
export class GrowableUint32 extends Growable<Uint32Array<ArrayBuffer>> {
  protected override array = new Uint32Array(initialCapacity);
  protected override create = (capacity: number) => new Uint32Array(capacity);
}
