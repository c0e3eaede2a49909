/** Caches in order of preference: which of them are asked, and whose data are used (RFC 8210 §10). */

import type { RtrSessionSettings, VrpRecords } from "@netfacts/rpki/rtr";
import type { CacheAddress } from "./cache-address.ts";
import { CacheLink, type LinkEvents, type LinkSettings, type LinkState } from "./cache-link.ts";
import { type RtrClock, realClock } from "./clock.ts";

/** The complete set of VRPs of one cache. */
export interface RtrData {
  readonly cache: string;
  readonly version: number;
  readonly sessionId: number;
  readonly serial: number;
  /** Unix ms at which the data were last known to be current. */
  readonly updatedAt: number;
  /** Unix ms at which the data are given up unless the cache confirms them (RFC 8210 §6). */
  readonly expiresAt: number;
  readonly records: VrpRecords;
}

/** Another set is in use than before. */
export type RtrChange =
  /** `added` and `withdrawn` are null if the set is of another cache. */
  | {
      readonly kind: "updated";
      readonly cache: string;
      readonly sessionId: number;
      readonly serial: number;
      readonly vrps: number;
      readonly added: number | null;
      readonly withdrawn: number | null;
    }
  /** There are no data any more. */
  | { readonly kind: "discarded"; readonly reason: string };

/** The state of one cache. */
export interface CacheStatus {
  readonly cache: string;
  readonly state: LinkState;
  /** Whether its data are in use. */
  readonly active: boolean;
  readonly version: number | null;
  readonly sessionId: number | null;
  readonly serial: number | null;
  readonly vrps: number;
  readonly routerKeys: number;
  /** Unix ms; null without data. */
  readonly updatedAt: number | null;
  readonly expiresAt: number | null;
  readonly error: string | null;
  /** Failures since it was last synchronised. */
  readonly failures: number;
  /** Unix ms of its last answer or failure; null: there was neither. */
  readonly checkedAt: number | null;
}

export interface RtrLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface RtrClientOptions {
  /** At least one; the preferred cache first. */
  readonly caches: readonly CacheAddress[];
  readonly log: RtrLog;
  onChange?(change: RtrChange): void;
  /** Called at every change of state, also of caches that are not in use. */
  onStatus?(): void;
  readonly clock?: RtrClock;
  readonly settings?: Partial<LinkSettings>;
  readonly session?: Partial<RtrSessionSettings>;
  readonly random?: () => number;
}

/** The same failure of the same cache is logged again after this time. */
const repeatedFailureMs = 600_000;

/**
 * Keeps a session with the preferred cache, and with the next ones as long as those before them are not synchronised. The data in use are those of
 * the first synchronised cache. If there is none, the previous data stay in use until their Expire Interval.
 */
export class RtrClient {
  readonly #options: RtrClientOptions;
  readonly #clock: RtrClock;
  #links: CacheLink[];
  #active: CacheLink | null = null;
  #told = new Map<string, { readonly reason: string; readonly at: number }>();
  #stopped = false;

  constructor(options: RtrClientOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#links = options.caches.map((cache) => this.#newLink(cache));
  }

  start(): void {
    this.#arrange();
  }

  stop(): void {
    this.#stopped = true;
    for (const link of this.#links) link.stop();
  }

  /** A copy of the set in use; null: there is none. Cost: one pass, 10 to 22 bytes a VRP. */
  current(): RtrData | null {
    const link = this.#active;
    if (link === null || !link.hasData) return null;
    const { session } = link;
    return {
      cache: link.cache.name,
      version: session.version,
      sessionId: session.sessionId ?? 0,
      serial: session.serial ?? 0,
      updatedAt: this.#wall(session.updatedAt) ?? 0,
      expiresAt: this.#wall(session.expiresAt) ?? 0,
      records: session.table.records(),
    };
  }

  /** Time of the clock's `monotonic` at which the data in use were last known to be current; null: there are none. */
  get heardAt(): number | null {
    return this.#active?.session.updatedAt ?? null;
  }

  /** The state of the caches, in order of preference. */
  status(): CacheStatus[] {
    return this.#links.map((link) => {
      const { session } = link;
      return {
        cache: link.cache.name,
        state: link.state,
        active: link === this.#active,
        version: session.sessionId === null ? null : session.version,
        sessionId: session.sessionId,
        serial: session.serial,
        vrps: session.table.size,
        routerKeys: session.routerKeys,
        updatedAt: this.#wall(session.updatedAt),
        expiresAt: this.#wall(session.expiresAt),
        error: link.lastFailure,
        failures: link.failedInARow,
        checkedAt: this.#wall(link.checkedAt),
      };
    });
  }

  /** Whether every cache was tried and none has data, so that none are available at the moment. */
  get isOutOfReach(): boolean {
    return this.#links.every(({ lastFailure, hasData }) => lastFailure !== null && !hasData);
  }

  #newLink(cache: CacheAddress): CacheLink {
    const { settings, session, random } = this.#options;
    return new CacheLink({
      cache,
      clock: this.#clock,
      events: this.#events,
      ...(settings !== undefined && { settings }),
      ...(session !== undefined && { session }),
      ...(random !== undefined && { random }),
    });
  }

  readonly #events: LinkEvents = {
    changed: () => {
      if (this.#stopped) return;
      this.#arrange();
      this.#options.onStatus?.();
    },
    failed: (link, reason, retryMs) => this.#tellFailure(link, reason, retryMs),
    updated: (link, { added, withdrawn, all }) => {
      this.#told.delete(link.cache.name);
      // The same chunk ended the session too: `discarded` follows, and handles the data that were in use.
      if (!link.hasData) return;
      const was = this.#active;
      this.#choose();
      if (link !== this.#active) return;
      if (link !== was) this.#change(null, null);
      else if (added + withdrawn > 0) this.#change(added, withdrawn);
      const fields = { ...this.#fieldsOf(link), added, withdrawn };
      if (added + withdrawn > 0 || all) this.#options.log.info(fields, all ? "VRPs received completely" : "VRPs changed");
    },
    discarded: (link, reason) => {
      if (link !== this.#active) return;
      this.#choose();
      if (this.#active !== null) return this.#change(null, null);
      this.#options.log.error(
        { cache: link.cache.name, reason },
        "RPKI data discarded, and no other cache has any: validity is unknown until a cache responds. Check the caches and the network",
      );
      this.#options.onChange?.({ kind: "discarded", reason });
    },
    noted: (link, message) => this.#options.log.warn({ cache: link.cache.name }, message),
  };

  /** Starts the caches that must be asked, and stops those that are not needed. */
  #arrange(): void {
    if (this.#stopped) return;
    const first = this.#links.findIndex(({ session }) => session.isSynchronised);
    for (const [at, link] of this.#links.entries()) {
      const isNeeded = first >= 0 ? at <= first : this.#links.slice(0, at).every(({ isTroubled }) => isTroubled);
      if (isNeeded) link.start();
      else if (first >= 0 && link.state !== "stopped") this.#replace(at, link);
    }
    const was = this.#active;
    this.#choose();
    if (was !== this.#active && this.#active !== null) this.#change(null, null);
  }

  /** Drops a cache that is not needed, with its data. */
  #replace(at: number, link: CacheLink): void {
    link.stop();
    this.#links[at] = this.#newLink(link.cache);
  }

  #choose(): void {
    const synchronised = this.#links.find(({ session }) => session.isSynchronised);
    const kept = this.#active?.hasData === true ? this.#active : this.#links.find(({ hasData }) => hasData);
    const next = synchronised ?? kept ?? null;
    if (next === this.#active) return;
    const from = this.#active?.cache.name ?? null;
    this.#active = next;
    if (next === null) return;
    const fields = { ...this.#fieldsOf(next), from };
    const isPreferred = next === this.#links[0];
    if (from === null) this.#options.log.info(fields, "RPKI data of this cache are in use");
    else if (isPreferred) this.#options.log.info(fields, "back to the preferred RTR cache");
    else this.#options.log.warn(fields, "fell back to another RTR cache; still trying the preferred one");
  }

  #change(added: number | null, withdrawn: number | null): void {
    const link = this.#active;
    if (link === null) return;
    const { sessionId, serial, table } = link.session;
    this.#options.onChange?.({
      kind: "updated",
      cache: link.cache.name,
      sessionId: sessionId ?? 0,
      serial: serial ?? 0,
      vrps: table.size,
      added,
      withdrawn,
    });
  }

  #tellFailure(link: CacheLink, reason: string, retryMs: number): void {
    const { name } = link.cache;
    const now = this.#clock.monotonic();
    const told = this.#told.get(name);
    if (told?.reason === reason && now < told.at + repeatedFailureMs) return;
    this.#told.set(name, { reason, at: now });
    const { expiresAt } = link.session;
    const expiresIn = expiresAt === null ? null : Math.round((expiresAt - now) / 1_000);
    this.#options.log.warn(
      { cache: name, reason, retry_in_s: Math.ceil(retryMs / 1_000), data_expire_in_s: expiresIn },
      expiresIn === null ? "RTR cache cannot be used; retrying" : "RTR cache failed; its data are used until they expire; retrying",
    );
  }

  #fieldsOf({ cache, session }: CacheLink): object {
    return { cache: cache.name, version: session.version, session_id: session.sessionId, serial: session.serial, vrps: session.table.size };
  }

  /** Converts a monotonic time to Unix ms. */
  #wall(at: number | null): number | null {
    return at === null ? null : Math.round(this.#clock.now() + at - this.#clock.monotonic());
  }
}
