/** Counts the origins of one prefix after another: the peers that see each, and its upstreams. */

import { GrowableUint8, GrowableUint16, GrowableUint32, originKind } from "@netfacts/snapshot";

/** Columns of section `routes`, one item per origin or upstream. */
export class OriginColumns {
  readonly start = new GrowableUint32();
  readonly kind = new GrowableUint8();
  readonly value = new GrowableUint32();
  readonly full = new GrowableUint16();
  readonly partial = new GrowableUint16();
  readonly entry = new GrowableUint32();
  readonly paths = new GrowableUint16();
  readonly upstreamStart = new GrowableUint32();
  readonly upstreamAs = new GrowableUint32();
  readonly upstreamPaths = new GrowableUint16();
  /** Unix seconds of the oldest and the newest table that has the origin; 0: no table has a time. */
  readonly firstSeen = new GrowableUint32();
  readonly lastSeen = new GrowableUint32();
}

/** The largest count in a column of 16 bits; it stands for all larger ones too. */
const countMax = 65_535;

/** One origin of the current prefix. The objects are reused for every prefix. */
interface Origin {
  kind: number;
  value: number;
  full: number;
  partial: number;
  /** The last peer that was counted. */
  peer: number;
  paths: number;
  firstSeen: number;
  lastSeen: number;
  upstreams: number;
  readonly upstreamAs: number[];
  readonly upstreamPaths: number[];
}

/** Takes the routes of one prefix in ascending order of peers, and writes its origins. */
export class OriginTally {
  readonly columns = new OriginColumns();
  readonly #upstreamsMax: number;
  // A prefix has few origins, and an origin few upstreams: a linear search is faster than any map.
  readonly #origins: Origin[] = [];
  #used = 0;
  #peer = -1;
  /** Number of peers that see the prefix. */
  full = 0;
  partial = 0;

  /** @param upstreamsMax  most upstreams that are kept per origin */
  constructor(upstreamsMax: number) {
    this.#upstreamsMax = upstreamsMax;
  }

  begin(): void {
    this.#used = 0;
    this.#peer = -1;
    this.full = 0;
    this.partial = 0;
  }

  /**
   * @param kind, value  the origin, as `originKind` of the section has it.
   * @param time  of the table with the peer's route, in Unix seconds; 0: unknown.
   * @returns the origin, to count the path at.
   */
  add(peer: number, isFull: boolean, kind: number, value: number, time: number): Origin {
    if (peer !== this.#peer) {
      this.#peer = peer;
      if (isFull) this.full++;
      else this.partial++;
    }
    const origin = this.#find(kind, value);
    // A peer with several paths to an origin (ADD-PATH) counts once.
    if (origin.peer !== peer) {
      origin.peer = peer;
      if (isFull) origin.full++;
      else origin.partial++;
      if (time !== 0 && (origin.firstSeen === 0 || time < origin.firstSeen)) origin.firstSeen = time;
      if (time > origin.lastSeen) origin.lastSeen = time;
    }
    return origin;
  }

  /** Counts a path to the origin that names an upstream. */
  addUpstream(origin: Origin, asn: number): void {
    origin.paths++;
    const { upstreamAs, upstreamPaths } = origin;
    for (let at = 0; at < origin.upstreams; at++) {
      if (upstreamAs[at] !== asn) continue;
      (upstreamPaths[at] as number)++;
      return;
    }
    upstreamAs[origin.upstreams] = asn;
    upstreamPaths[origin.upstreams++] = 1;
  }

  /** Writes the origins of the prefix; those that most full-feed peers see come first. */
  finish(entry: number): void {
    const { columns } = this;
    columns.start.push(columns.kind.length);
    const origins = this.#used === 1 ? this.#origins : this.#origins.slice(0, this.#used).sort(compareOrigins);
    for (let at = 0; at < this.#used; at++) {
      const origin = origins[at] as Origin;
      columns.entry.push(entry);
      columns.kind.push(origin.kind);
      columns.value.push(origin.value);
      columns.full.push(origin.full);
      columns.partial.push(origin.partial);
      columns.paths.push(Math.min(origin.paths, countMax));
      // Only origins that are AS numbers have a history.
      columns.firstSeen.push(origin.kind === originKind.as ? origin.firstSeen : 0);
      columns.lastSeen.push(origin.kind === originKind.as ? origin.lastSeen : 0);
      columns.upstreamStart.push(columns.upstreamAs.length);
      if (origin.kind === originKind.as) this.#pushUpstreams(origin);
    }
  }

  #find(kind: number, value: number): Origin {
    const origins = this.#origins;
    for (let at = 0; at < this.#used; at++) {
      const origin = origins[at] as Origin;
      if (origin.value === value && origin.kind === kind) return origin;
    }
    let origin = origins[this.#used++];
    if (origin === undefined) {
      const counts = { full: 0, partial: 0, peer: -1, paths: 0, firstSeen: 0, lastSeen: 0, upstreams: 0 };
      origin = { kind, value, ...counts, upstreamAs: [], upstreamPaths: [] };
      origins.push(origin);
      return origin;
    }
    origin.kind = kind;
    origin.value = value;
    origin.full = 0;
    origin.partial = 0;
    origin.peer = -1;
    origin.paths = 0;
    origin.firstSeen = 0;
    origin.lastSeen = 0;
    origin.upstreams = 0;
    return origin;
  }

  /** Writes the most frequent upstreams; if two are equal, the lower number comes first. */
  #pushUpstreams({ upstreams, upstreamAs, upstreamPaths }: Origin): void {
    const { columns } = this;
    for (let kept = Math.min(upstreams, this.#upstreamsMax); kept > 0; kept--) {
      let most = 0;
      for (let at = 1; at < upstreams; at++) {
        const more = (upstreamPaths[at] as number) - (upstreamPaths[most] as number);
        if (more > 0 || (more === 0 && (upstreamAs[at] as number) < (upstreamAs[most] as number))) most = at;
      }
      columns.upstreamAs.push(upstreamAs[most] as number);
      columns.upstreamPaths.push(Math.min(upstreamPaths[most] as number, countMax));
      upstreamPaths[most] = 0;
    }
  }
}

function compareOrigins(a: Origin, b: Origin): number {
  return b.full - a.full || b.partial - a.partial || a.kind - b.kind || a.value - b.value;
}
