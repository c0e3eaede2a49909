/** Fetches one complete set of VRPs for one run, from the first cache that has it. */

import type { CacheAddress } from "./cache-address.ts";
import type { LinkSettings } from "./cache-link.ts";
import { RtrClient, type RtrData } from "./rtr-client.ts";

export interface FetchVrpsOptions {
  /** The preferred cache first. */
  readonly caches: readonly CacheAddress[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly settings?: Partial<LinkSettings>;
}

/** No cache had data. The message names each with its reason. */
export class RtrUnavailableError extends Error {
  override readonly name = "RtrUnavailableError";
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Resolves with the data of the most preferred cache that is available. @throws RtrUnavailableError when each was tried once, or the time is over */
export function fetchVrps({ caches, timeoutMs, signal, settings = {} }: FetchVrpsOptions): Promise<RtrData> {
  return new Promise((resolve, reject) => {
    const end = (finish: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      client.stop();
      finish();
    };
    const fail = (why: string) => {
      const reasons = client.status().map(({ cache, state, error }) => `${cache}: ${error ?? state}`);
      end(() => reject(new RtrUnavailableError(`${why}: ${reasons.join("; ")}`)));
    };
    const look = () => {
      const data = client.current();
      if (data !== null) end(() => resolve(data));
      else if (client.isOutOfReach) fail("no RTR cache has data");
    };
    const abort = () => end(() => reject(signal?.reason));
    const client = new RtrClient({ caches, log: silent, settings, onStatus: look });
    const timer = setTimeout(() => fail(`no RTR cache sent its data within ${timeoutMs / 1_000} s`), timeoutMs);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    else client.start();
  });
}
