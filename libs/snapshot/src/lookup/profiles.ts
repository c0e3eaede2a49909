/** Profiles by AS number. */

import { noType } from "../sections/network-types.ts";
import { type Profile, type ProfileBasis, type ProfilesColumns, profileBases } from "../sections/profiles.ts";
import { stringAt } from "../strings.ts";
import { buildWordIndex, WordIndex } from "../words/word-index.ts";
import { searchAscending } from "./route-table.ts";

/** Immutable; safe from any thread. */
export class ProfileTable {
  readonly #columns: ProfilesColumns;

  #words: WordIndex | null;

  /** @param words  from the loader; null: built at the first request. */
  constructor(columns: ProfilesColumns, words: WordIndex | null = null) {
    this.#columns = columns;
    this.#words = words;
  }

  get size(): number {
    return this.#columns.asn.length;
  }

  /** The profile of an AS; null: there is none. */
  lookupProfile(asn: number): Profile | null {
    const at = searchAscending(this.#columns.asn, asn);
    return at < 0 ? null : this.#profile(at);
  }

  /** AS numbers of the rows, ascending. */
  get asns(): Uint32Array {
    return this.#columns.asn;
  }

  /** The organisation of a row; null: no source gives one. */
  organisationAt(row: number): string | null {
    return stringAt({ start: this.#columns.organisation_start, bytes: this.#columns.organisation_bytes }, row) || null;
  }

  /** The organisation of each row. */
  *texts(): Generator<string | null> {
    for (let row = 0; row < this.size; row++) yield this.organisationAt(row);
  }

  /** The index of the words of all organisations; builds it in steps if it is not built yet. */
  *words(): Generator<void, WordIndex> {
    this.#words ??= new WordIndex(yield* buildWordIndex(this.texts(), { grouped: true }));
    return this.#words;
  }

  /** Every AS number with its profile, ascending. */
  *entries(): Generator<[asn: number, profile: Profile]> {
    for (let at = 0; at < this.size; at++) yield [this.#columns.asn[at] as number, this.#profile(at)];
  }

  #profile(at: number): Profile {
    const columns = this.#columns;
    const type = columns.type[at] as number;
    const words = { start: columns.type_start, bytes: columns.type_bytes };
    const also = columns.also_type.subarray(columns.also_start[at] ?? 0, columns.also_start[at + 1] ?? 0);
    const country = String.fromCharCode(...columns.country.subarray(2 * at, 2 * at + 2)).trim();
    return {
      organisation: this.organisationAt(at),
      website: stringAt({ start: columns.website_start, bytes: columns.website_bytes }, at) || null,
      ...(country !== "" && { country }),
      networkType:
        type === noType
          ? null
          : {
              type: stringAt(words, type),
              basis: profileBases[columns.basis[at] as number] as ProfileBasis,
              confidence: (columns.confidence[at] as number) / 100,
              ...(also.length > 0 && { also: Array.from(also, (code) => stringAt(words, code)) }),
            },
    };
  }
}
