/** Observations of one source in columns: tens of millions of them, without an object for each. */

import { hashWords, makePrefix, type Prefix } from "@netfacts/address";
import { GrowableUint8, GrowableUint32, type PlaceNames, release } from "@netfacts/snapshot";
import type { Vote } from "./consensus.ts";

export interface Observation extends Vote {
  readonly prefix: Prefix;
  readonly method: string | null;
  /** Origin of the observation, if one list is for several sources. */
  readonly source?: string;
}

/** Coordinates are stored in hundred-thousandths of a degree: about a metre. */
const perDegree = 100_000;
/** Accuracies are stored in units of a hundred metres. */
const perKm = 10;
const none = 0xffff_ffff;
/** The world has about 150,000 cities with more than a thousand people. */
const placesMax = 200_000;
const votersMaxDefault = 1_000;
const daySeconds = 86_400;
/** Largest share of used slots, when votes are counted. */
const fullShare = 0.75;

/**
 * Takes about 46 bytes an observation outside of the heap. In the heap, about 200 bytes for each distinct place, or 1.2 kB with the longest names. A
 * list has at most 200,000 distinct places, and 1,000 distinct methods or as many as set.
 */
export class ObservationList {
  readonly #version = new GrowableUint8();
  readonly #length = new GrowableUint8();
  readonly #words = new GrowableUint32();
  readonly #place = new GrowableUint32();
  readonly #latitude = new GrowableUint32();
  readonly #longitude = new GrowableUint32();
  readonly #accuracy = new GrowableUint32();
  readonly #observedAt = new GrowableUint32();
  readonly #voter = new GrowableUint32();
  readonly #places = new Interned<PlaceNames>(placesMax);
  readonly #voters: Interned<null>;
  readonly #votersMax: number;
  /** Unix seconds; 0 without observations. */
  newest = 0;

  /** @param votersMax  most distinct pairs of source and method */
  constructor(votersMax: number = votersMaxDefault) {
    this.#votersMax = votersMax;
    this.#voters = new Interned(votersMax);
  }

  get size(): number {
    return this.#length.length;
  }

  /** @returns why the list has no room for the observation; null: it was added */
  add({ prefix, source = "", method, country, region, city, latitude, longitude, accuracyKm, observedAt }: Observation): string | null {
    const place = this.#places.index(JSON.stringify([country, region, city]), { country, region, city });
    if (place === null) return `has more than ${placesMax} distinct places (country, region and city)`;
    const voter = this.#voters.index(`${source} ${method ?? ""}`, null);
    if (voter === null) return `has more than ${this.#votersMax} distinct methods`;
    this.#version.push(prefix.version);
    this.#length.push(prefix.length);
    for (const word of [prefix.w0, prefix.w1, prefix.w2, prefix.w3]) this.#words.push(word);
    this.#place.push(place);
    this.#latitude.push(latitude === null ? none : Math.round((latitude + 90) * perDegree));
    this.#longitude.push(longitude === null ? none : Math.round((longitude + 180) * perDegree));
    this.#accuracy.push(accuracyKm === null ? none : Math.round(accuracyKm * perKm));
    this.#observedAt.push(observedAt);
    this.#voter.push(voter);
    this.newest = Math.max(this.newest, observedAt);
    return null;
  }

  prefixAt(at: number): Prefix {
    const word = (index: number) => this.#words.at(at * 4 + index);
    return makePrefix(this.#version.at(at) === 4 ? 4 : 6, word(0), word(1), word(2), word(3), this.#length.at(at));
  }

  /** The first 32 bits of the prefix. */
  firstWordAt(at: number): number {
    return this.#words.at(at * 4);
  }

  observedAt(at: number): number {
    return this.#observedAt.at(at);
  }

  /** Equal for observations of the same source and method. */
  voterAt(at: number): number {
    return this.#voter.at(at);
  }

  /** Days (UTC) since 1970. */
  dayAt(at: number): number {
    return Math.floor(this.#observedAt.at(at) / daySeconds);
  }

  /**
   * Number of votes of the observations (docs/design/semantics.md#location): observations of the same prefix, voter and day are one vote.
   *
   * Cost: about 0.3 µs an observation, and up to 11 bytes each during the count.
   */
  voteCount(): number {
    const slots = new Uint32Array(2 ** Math.ceil(Math.log2(this.size / fullShare + 1)));
    const mask = slots.length - 1;
    const key = new Uint32Array(7);
    let votes = 0;
    for (let at = 0; at < this.size; at++) {
      for (let word = 0; word < 4; word++) key[word] = this.#words.at(at * 4 + word);
      key[4] = (this.#version.at(at) << 8) | this.#length.at(at);
      key[5] = this.voterAt(at);
      key[6] = this.dayAt(at);
      let slot = hashWords(key) & mask;
      // A slot contains the number of an observation plus one; 0: it is free.
      while (slots[slot] !== 0 && !this.#isVote(key, (slots[slot] as number) - 1)) slot = (slot + 1) & mask;
      if (slots[slot] !== 0) continue;
      slots[slot] = at + 1;
      votes++;
    }
    release(slots);
    return votes;
  }

  #isVote(key: Uint32Array, at: number): boolean {
    for (let word = 0; word < 4; word++) if (key[word] !== this.#words.at(at * 4 + word)) return false;
    return key[4] === ((this.#version.at(at) << 8) | this.#length.at(at)) && key[5] === this.voterAt(at) && key[6] === this.dayAt(at);
  }

  voteAt(at: number): Vote {
    const [latitude, longitude, accuracy] = [this.#latitude.at(at), this.#longitude.at(at), this.#accuracy.at(at)];
    return {
      ...this.#places.at(this.#place.at(at)),
      latitude: latitude === none ? null : latitude / perDegree - 90,
      longitude: longitude === none ? null : longitude / perDegree - 180,
      accuracyKm: accuracy === none ? null : accuracy / perKm,
      observedAt: this.#observedAt.at(at),
    };
  }
}

/** Values by their text, each once. */
class Interned<V> {
  readonly #indexes = new Map<string, number>();
  readonly #values: V[] = [];
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Null: the value is new, and there is no room for it. */
  index(text: string, value: V): number | null {
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    if (this.#values.length === this.#max) return null;
    this.#indexes.set(text, this.#values.length);
    return this.#values.push(value) - 1;
  }

  at(index: number): V {
    return this.#values[index] as V;
  }
}
