/** Observations of one source as columns: tens of millions of them, without an object for each. */

import { makePrefix, type Prefix } from "@netfacts/address";
import { GrowableUint8, GrowableUint32, type PlaceNames } from "@netfacts/snapshot";
import type { Vote } from "./consensus.ts";

export interface Observation extends Vote {
  readonly prefix: Prefix;
  readonly method: string | null;
}

/** Coordinates are kept in hundred-thousandths of a degree: about a metre. */
const perDegree = 100_000;
/** Accuracies in hundred metres. */
const perKm = 10;
const none = 0xffff_ffff;

/** About 46 bytes an observation. */
export class ObservationList {
  readonly #version = new GrowableUint8();
  readonly #length = new GrowableUint8();
  readonly #words = new GrowableUint32();
  readonly #place = new GrowableUint32();
  readonly #latitude = new GrowableUint32();
  readonly #longitude = new GrowableUint32();
  readonly #accuracy = new GrowableUint32();
  readonly #observedAt = new GrowableUint32();
  readonly #method = new GrowableUint32();
  readonly #places = new Interned<PlaceNames>();
  readonly #methods = new Interned<string | null>();
  /** Unix seconds; 0 without observations. */
  newest = 0;

  get size(): number {
    return this.#length.length;
  }

  add({ prefix, method, country, region, city, latitude, longitude, accuracyKm, observedAt }: Observation): void {
    this.#version.push(prefix.version);
    this.#length.push(prefix.length);
    for (const word of [prefix.w0, prefix.w1, prefix.w2, prefix.w3]) this.#words.push(word);
    this.#place.push(this.#places.index(JSON.stringify([country, region, city]), { country, region, city }));
    this.#latitude.push(latitude === null ? none : Math.round((latitude + 90) * perDegree));
    this.#longitude.push(longitude === null ? none : Math.round((longitude + 180) * perDegree));
    this.#accuracy.push(accuracyKm === null ? none : Math.round(accuracyKm * perKm));
    this.#observedAt.push(observedAt);
    this.#method.push(this.#methods.index(method ?? "", method));
    this.newest = Math.max(this.newest, observedAt);
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

  /** Equal for observations of one method. */
  methodAt(at: number): number {
    return this.#method.at(at);
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

  index(text: string, value: V): number {
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    this.#indexes.set(text, this.#values.length);
    return this.#values.push(value) - 1;
  }

  at(index: number): V {
    return this.#values[index] as V;
  }
}
