/** The sessions of all RTR sources of a list; the current data of each are in a file that a run reads. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defaultIntervals } from "@netfacts/rpki/rtr";
import { readCacheList } from "./cache-address.ts";
import type { LinkSettings } from "./cache-link.ts";
import { type RtrClock, realClock } from "./clock.ts";
import { type CacheStatus, RtrClient, type RtrLog } from "./rtr-client.ts";
import type { RtrMetrics } from "./rtr-metrics.ts";
import { writeVrpFile } from "./vrp-file.ts";

/** Time for a cache to send all its changes; short enough to publish a change within seconds. */
export const rtrDelayMsDefault = 2_000;

/** The settings of a source. */
export interface RtrSource {
  readonly name: string;
  /** `rtr://…`, or several. */
  readonly location: string;
  /** Unchanged data get a file with a new time at this interval, so that they do not count as stale. */
  readonly intervalSeconds: number;
}

/** The current data of a source. */
export type RtrStock =
  | { readonly kind: "file"; readonly path: string; readonly sha256: string; readonly cache: string; readonly updatedAt: number }
  /** The data were given up: what was published of them must be withdrawn. */
  | { readonly kind: "given-up"; readonly reason: string };

export interface RtrSourcesDeps {
  /** Folder of the files. */
  readonly folder: string;
  /** Time from a change to the file that includes it; further changes within it go into the same file. */
  readonly delayMs: number;
  readonly log: RtrLog;
  readonly metrics: RtrMetrics;
  /** Called when `stock` of the source has changed. */
  onChange(source: string): void;
  readonly clock?: RtrClock;
  readonly settings?: Partial<LinkSettings>;
  /** For tests of slow disks. */
  readonly write?: typeof writeVrpFile;
}

interface Followed {
  source: RtrSource;
  readonly client: RtrClient;
  stock: RtrStock | null;
  /** `heardAt` of the data in the file of `stock`; null: it has none. Wall-clock times cannot be compared, since that clock may be set back. */
  deliveredAt: number | null;
  /** Time of the clock's `monotonic` until which data of another process may be in use; null: nobody asked. */
  inheritedUntil: number | null;
  /** Cancels the pending write; null: none is pending. */
  callOff: (() => void) | null;
  callOffRefresh: () => void;
  writing: Promise<void>;
  isStopped: boolean;
}

/** A failed write is tried again after this time. */
const writeAgainMs = 60_000;

export class RtrSources {
  readonly #deps: RtrSourcesDeps;
  readonly #clock: RtrClock;
  readonly #followed = new Map<string, Followed>();
  /** By source: resolves when the file of its previous session is removed, since the next session uses the same path. */
  readonly #leaving = new Map<string, Promise<void>>();

  constructor(deps: RtrSourcesDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? realClock;
  }

  /** Follows these sources from now on: sessions of others end, new ones begin, and those with the same location continue. */
  follow(sources: readonly RtrSource[]): void {
    const wanted = new Map(sources.map((source) => [source.name, source]));
    for (const [name, { source }] of this.#followed) if (wanted.get(name)?.location !== source.location) this.#leave(name);
    for (const source of wanted.values()) {
      const followed = this.#followed.get(source.name);
      if (followed === undefined) this.#begin(source);
      else this.#continue(followed, source);
    }
  }

  /** Null: no data are known yet. */
  stock(name: string): RtrStock | null {
    return this.#followed.get(name)?.stock ?? null;
  }

  /**
   * Gives up data that another process had from this source and published, known to be current at `asOf` (Unix ms), if no cache has sent any within
   * the Expire Interval that RFC 8210 recommends, and each was tried. The interval that the cache sent is not known here.
   */
  giveUpInherited(name: string, asOf: number): void {
    const followed = this.#followed.get(name);
    if (followed === undefined || followed.stock !== null) return;
    // The clock that dated them may have been ahead: they count as current now at the most.
    const ageMs = Math.max(0, this.#clock.now() - asOf);
    followed.inheritedUntil ??= this.#clock.monotonic() + defaultIntervals.expire * 1_000 - ageMs;
    if (!followed.client.isOutOfReach || this.#clock.monotonic() < followed.inheritedUntil) return;
    const reason = "no cache could be reached since another process had the data";
    this.#deps.log.error({ source: name, reason }, "RPKI data discarded: validity is unknown until a cache responds");
    followed.stock = { kind: "given-up", reason };
  }

  /** Each failing cache with its reason; null: a cache is synchronised, or none has failed yet. */
  fault(name: string): string | null {
    const caches = this.status(name);
    if (caches.some(({ state }) => state === "synchronised")) return null;
    const failing = caches.filter(({ error }) => error !== null);
    return failing.length === 0 ? null : failing.map(({ cache, error }) => `${cache}: ${error}`).join("; ");
  }

  /** The attempts at all caches together; times are Unix ms. */
  checks(name: string): { readonly checkedAt: number | null; readonly succeededAt: number | null; readonly failures: number } {
    const caches = this.status(name);
    const latest = (times: readonly (number | null)[]) => Math.max(...times.map((time) => time ?? 0)) || null;
    return {
      checkedAt: latest(caches.map(({ checkedAt }) => checkedAt)),
      succeededAt: latest(caches.map(({ updatedAt }) => updatedAt)),
      failures: caches.some(({ state }) => state === "synchronised") ? 0 : Math.max(0, ...caches.map(({ failures }) => failures)),
    };
  }

  status(name: string): CacheStatus[] {
    return this.#followed.get(name)?.client.status() ?? [];
  }

  /** Ends every session; resolves when nothing is being written any more. */
  async stop(): Promise<void> {
    for (const name of [...this.#followed.keys()]) this.#leave(name);
    await Promise.all(this.#leaving.values());
  }

  #begin(source: RtrSource): void {
    const { name, location } = source;
    const { log, metrics, settings } = this.#deps;
    const withSource = (fields: object) => ({ source: name, ...fields });
    const client = new RtrClient({
      caches: readCacheList(location) ?? [],
      clock: this.#clock,
      ...(settings !== undefined && { settings }),
      log: {
        info: (fields, message) => log.info(withSource(fields), message),
        warn: (fields, message) => log.warn(withSource(fields), message),
        error: (fields, message) => log.error(withSource(fields), message),
      },
      onChange: (change) => {
        metrics.change(name, change);
        this.#later(followed, this.#deps.delayMs);
      },
      onStatus: () => metrics.status(name, client.status()),
    });
    const followed: Followed = {
      source,
      client,
      stock: null,
      deliveredAt: null,
      inheritedUntil: null,
      callOff: null,
      callOffRefresh: () => undefined,
      writing: this.#leaving.get(name) ?? Promise.resolve(),
      isStopped: false,
    };
    this.#followed.set(name, followed);
    client.start();
  }

  /** The interval may have changed. */
  #continue(followed: Followed, source: RtrSource): void {
    const { intervalSeconds } = followed.source;
    followed.source = source;
    if (intervalSeconds !== source.intervalSeconds) this.#refreshLater(followed);
  }

  #leave(name: string): void {
    const followed = this.#followed.get(name);
    if (followed === undefined) return;
    this.#followed.delete(name);
    followed.isStopped = true;
    followed.callOff?.();
    followed.callOffRefresh();
    followed.client.stop();
    this.#deps.metrics.ended(name, followed.client.status());
    this.#leaving.set(
      name,
      followed.writing.then(() => rm(this.#pathOf(name), { force: true })).catch(() => undefined),
    );
  }

  /** The first change sets the time; later ones go into the same file. */
  #later(followed: Followed, ms: number): void {
    if (followed.isStopped || followed.callOff !== null) return;
    followed.callOff = this.#clock.after(ms, () => {
      followed.callOff = null;
      followed.writing = followed.writing.then(() => this.#deliver(followed));
    });
  }

  /** Never rejects. */
  async #deliver(followed: Followed): Promise<void> {
    const { source, client } = followed;
    if (followed.isStopped) return;
    const data = client.current();
    const { heardAt } = client;
    if (data === null) {
      followed.deliveredAt = null;
      const [preferred] = client.status();
      followed.stock = { kind: "given-up", reason: preferred?.error ?? "no cache has data" };
      this.#deps.onChange(source.name);
      return;
    }
    const path = this.#pathOf(source.name);
    try {
      const sha256 = await (this.#deps.write ?? writeVrpFile)(path, data);
      followed.stock = { kind: "file", path, sha256, cache: data.cache, updatedAt: data.updatedAt };
      followed.deliveredAt = heardAt;
    } catch (err) {
      this.#deps.log.error({ source: source.name, err }, "VRPs of an RTR cache cannot be written to the state folder; retrying");
      this.#later(followed, writeAgainMs);
      return;
    }
    if (followed.isStopped) return;
    this.#deps.onChange(source.name);
    this.#refreshLater(followed);
  }

  /** Data that stay current get a new file with their new time. */
  #refreshLater(followed: Followed): void {
    followed.callOffRefresh();
    if (followed.deliveredAt === null) return;
    followed.callOffRefresh = this.#clock.after(followed.source.intervalSeconds * 1_000, () => {
      const { deliveredAt, client } = followed;
      if (deliveredAt === null) return;
      if ((client.heardAt ?? 0) > deliveredAt) this.#later(followed, 0);
      else this.#refreshLater(followed);
    });
  }

  #pathOf(name: string): string {
    return join(this.#deps.folder, `${name}.rtr`);
  }
}
