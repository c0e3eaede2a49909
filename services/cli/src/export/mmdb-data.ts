/** The data section of an MMDB file: values in the encoding of MaxMind DB 2.0. Repeated values are stored once. */

/** A value in a record of the database. Numbers are unsigned 32-bit integers. */
export type MmdbValue = string | number | MmdbDouble | MmdbUint16 | readonly MmdbValue[] | MmdbMap;
export interface MmdbMap {
  readonly [name: string]: MmdbValue;
}

/** A number that is always a double: some readers require the type. */
export class MmdbDouble {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }

  /** Remembered values are found by their JSON. The null, which no other value has, distinguishes the types. */
  toJSON(): unknown {
    return [null, "double", this.value];
  }
}

/** An unsigned 16-bit integer, which some readers require. */
export class MmdbUint16 {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }

  toJSON(): unknown {
    return [null, "uint16", this.value];
  }
}

/** Numbers of the types in the format. */
const types = { pointer: 1, string: 2, double: 3, uint16: 5, uint32: 6, map: 7, uint64: 9, array: 11 } as const;

/** Most remembered values. Beyond that all are forgotten, and later values are stored again. */
const rememberedMax = 200_000;
/** Longest value, as JSON, that is remembered: longer ones seldom repeat. */
const rememberedChars = 512;
/** Shortest value that is replaced by a pointer: a shorter one needs no more room than the pointer. */
const pointedBytesMin = 4;

export class MmdbData {
  #bytes = Buffer.alloc(1 << 16);
  #length = 0;
  readonly #known = new Map<string, number>();

  get length(): number {
    return this.#length;
  }

  /** A view of the data, valid until a value is added. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Stores a record, unless an equal one is remembered. @returns its offset. */
  record(value: MmdbMap): number {
    const key = JSON.stringify(value);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const at = this.#length;
    this.#map(value);
    this.#remember(key, at);
    return at;
  }

  /** Stores a value without pointers, as metadata requires. */
  plain(value: MmdbMap): void {
    this.#map(value, false);
  }

  /** @throws RangeError if the value is not an unsigned 16-bit integer. */
  uint16(value: number): void {
    if ((value & 0xffff) !== value) throw new RangeError(`not an unsigned integer of 16 bits: ${value}`);
    this.#control(types.uint16, value === 0 ? 0 : value < 256 ? 1 : 2);
    this.#integer(value, value === 0 ? 0 : value < 256 ? 1 : 2);
  }

  /** @throws RangeError if the value is not an unsigned 32-bit integer. */
  uint32(value: number): void {
    if (value >>> 0 !== value) throw new RangeError(`not an unsigned integer of 32 bits: ${value}`);

    const bytes = value === 0 ? 0 : Math.ceil((32 - Math.clz32(value)) / 8);
    this.#control(types.uint32, bytes);
    this.#integer(value, bytes);
  }

  uint64(value: number): void {
    this.#control(types.uint64, 8);
    this.#integer(value, 8);
  }

  string(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#control(types.string, bytes);
    this.#room(bytes);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Writes the head of a map. The caller writes its names and values next. */
  mapOf(members: number): void {
    this.#control(types.map, members);
  }

  arrayOf(items: number): void {
    this.#control(types.array, items);
  }

  #map(map: MmdbMap, shares = true): void {
    const members = Object.entries(map);
    this.mapOf(members.length);
    for (const [name, value] of members) {
      this.#shared(name, shares);
      this.#shared(value, shares);
    }
  }

  #shared(value: MmdbValue, shares: boolean): void {
    const isShared = shares && (typeof value === "string" || typeof value === "object");
    const key = isShared ? JSON.stringify(value) : "";
    const known = isShared ? this.#known.get(key) : undefined;
    if (known !== undefined) {
      this.#pointer(known);
      return;
    }
    const at = this.#length;
    this.#value(value, shares);
    if (isShared && this.#length - at >= pointedBytesMin) this.#remember(key, at);
  }

  #value(value: MmdbValue, shares: boolean): void {
    if (typeof value === "string") this.string(value);
    else if (typeof value === "number") this.uint32(value);
    else if (value instanceof MmdbUint16) this.uint16(value.value);
    else if (value instanceof MmdbDouble) {
      this.#control(types.double, 8);
      this.#room(8);
      this.#length = this.#bytes.writeDoubleBE(value.value, this.#length);
    } else if (Array.isArray(value)) {
      this.arrayOf(value.length);
      for (const item of value as readonly MmdbValue[]) this.#shared(item, shares);
    } else this.#map(value as MmdbMap, shares);
  }

  /** A pointer has four sizes; each begins where the range of the smaller ones ends. */
  #pointer(to: number): void {
    const control = types.pointer << 5;
    if (to < 2_048) {
      this.#byte(control | (to >> 8));
      this.#byte(to & 0xff);
    } else if (to < 526_336) {
      this.#byte(control | 0b01_000 | ((to - 2_048) >> 16));
      this.#integer((to - 2_048) & 0xffff, 2);
    } else if (to < 134_744_064) {
      this.#byte(control | 0b10_000 | ((to - 526_336) >> 24));
      this.#integer((to - 526_336) & 0xff_ffff, 3);
    } else {
      this.#byte(control | 0b11_000);
      this.#integer(to, 4);
    }
  }

  /** Writes type and size. A type above 7 has a separate byte. */
  #control(type: number, size: number): void {
    const first = type > 7 ? 0 : type << 5;
    const own = size < 29 ? size : size < 285 ? 29 : size < 65_821 ? 30 : 31;
    this.#byte(first | own);
    if (type > 7) this.#byte(type - 7);
    if (own === 29) this.#integer(size - 29, 1);
    else if (own === 30) this.#integer(size - 285, 2);
    else if (own === 31) this.#integer(size - 65_821, 3);
  }

  #byte(value: number): void {
    this.#room(1);
    this.#length = this.#bytes.writeUInt8(value, this.#length);
  }

  #integer(value: number, bytes: number): void {
    this.#room(bytes);
    for (let at = bytes - 1; at >= 0; at--) this.#bytes[this.#length++] = Math.floor(value / 2 ** (8 * at)) % 256;
  }

  #remember(key: string, at: number): void {
    if (key.length > rememberedChars) return;
    if (this.#known.size >= rememberedMax) this.#known.clear();
    this.#known.set(key, at);
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
