/** Five services as processes over servers of their own, with a proxy before each server, under the load of `fault-load.ts`. */

import { expect } from "@jest/globals";
import { createKey, readScopes } from "@netfacts/keys";
import { openFolderStore } from "@netfacts/snapshot";
import type { Store } from "@netfacts/storage";
import { openMongoStore } from "@netfacts/storage/mongo";
import { publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { type DnsServer, honest, startDnsServer } from "../../services/rdns-resolver/test/support/dns-server.ts";
import { sendPipelined } from "../load/pipelined-requests.ts";
import { madeWorld, worldQuestions } from "../load/worlds.ts";
import { type Distributed, type DistributedOptions, startDistributed } from "../support/distributed.ts";
import { removeFolders, temporaryFolder } from "../support/processes.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { FaultLoad, type FaultTally, faultSettings, meetRequestsMin, requestsPerSecond } from "./fault-load.ts";

/** Of the key whose month ends. */
const monthLimit = 7.5 * requestsPerSecond;
/** Above what is asked, and so low that the blocks of leases last for 1.4 s of it at most: a store that is away is met. */
const rate = { limit: 150 * requestsPerSecond, windowSeconds: 60 };

export interface FaultyWorld {
  readonly distributed: Distributed;
  readonly load: FaultLoad;
  readonly nats: TcpProxy;
  readonly mongo: TcpProxy;
  /** Not through the proxy. */
  readonly store: Store;
  /** Ends the load, prints its table, and expects what must hold after any fault. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

interface FaultyWorldOptions extends Pick<DistributedOptions, "replicas" | "durable"> {
  /** Services connect to the servers themselves: where this process is too busy to serve as a proxy, servers do not seem to be away. */
  readonly direct?: boolean;
}

/** Resolves when all answers are right. */
export async function startFaultyWorld({ direct = false, ...options }: FaultyWorldOptions): Promise<FaultyWorld> {
  const undo: (() => Promise<unknown> | unknown)[] = [removeFolders];
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  };
  try {
    const dns: DnsServer = await startDnsServer(honest);
    undo.push(() => dns.stop());
    const origin = openFolderStore(temporaryFolder());
    const { id } = await publishMade(origin, madeWorld(0));
    let proxies: { nats: TcpProxy; mongo: TcpProxy } | null = null;
    const distributed = await startDistributed({
      ...options,
      settings: { ...faultSettings, RESOLVERS: dns.address },
      snapshot: { store: origin, id },
      async route({ natsUrl, mongoUrl }) {
        const { origin: mongoServer, pathname } = splitUrl(mongoUrl);
        const nats = await startTcpProxy(natsUrl);
        undo.push(() => nats.stop());
        const mongo = await startTcpProxy(mongoServer);
        undo.push(() => mongo.stop());
        proxies = { nats, mongo };
        return direct ? { natsUrl, mongoUrl } : { natsUrl: nats.url, mongoUrl: `${mongo.url}${pathname}` };
      },
    });
    undo.push(() => distributed.stop());
    if (proxies === null) throw new Error("no route was asked for");
    const { nats, mongo } = proxies as { nats: TcpProxy; mongo: TcpProxy };
    const store = await openMongoStore(distributed.mongoUrl, { appName: "faults" });
    undo.push(() => store.close());

    const [endless, month] = await Promise.all(
      [100_000_000, monthLimit].map((limit) => createKey(store, { label: `${limit}`, scopes: readScopes, rate, month: { limit } })),
    );
    if (endless === undefined || month === undefined) throw new Error("no keys");
    const urls = distributed.gateways.map(({ url }) => url);
    const load = new FaultLoad(urls, { endless: endless.secret, month: month.secret });
    undo.push(() => load.stop());
    // Leases and code are cold at first, and behind the proxies of a busy machine a server may seem to be away.
    const problems = ["limits_unavailable", "upstream_unavailable"] as const;
    await load.meet({ name: "none", problems, lastsMs: 0, make: () => undefined, mend: () => undefined });
    return {
      distributed,
      load,
      nats,
      mongo,
      store,
      async settle() {
        await load.stop();
        console.log(load.table());
        const unexpected =
          distributed
            .logs()
            .match(/^.*internal_error.*$/gm)
            ?.slice(0, 5) ?? [];
        if (unexpected.length > 0) console.log(unexpected.join("\n"));
        expect(load.tallies.flatMap(({ wrong }) => wrong).slice(0, 20)).toEqual([]);
        expect(load.tallies.flatMap(({ hung }) => hung)).toEqual([]);
        const { admitted, refused } = await useUp(urls, month.secret);
        const sum = load.admitted + admitted;
        console.log(`the key with a month of ${monthLimit}: ${sum} admitted, then ${refused} refused`);
        expect(refused).toBeGreaterThan(0);
        expect(sum).toBeLessThanOrEqual(monthLimit);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Every fault must be met by requests, and some be answered rightly meanwhile or afterwards. */
export function expectMet({ requests, right }: FaultTally): void {
  expect(requests).toBeGreaterThan(meetRequestsMin);
  expect(right).toBeGreaterThan(0);
}

/** Asks until the month is used up at every gateway. */
async function useUp(urls: readonly string[], secret: string): Promise<{ admitted: number; refused: number }> {
  let admitted = 0;
  let refused = 0;
  await Promise.all(
    urls.map((url) => {
      let asked = 0;
      let refusedHere = 0;
      return sendPipelined({
        target: { url, path: `/api/v1${worldQuestions[0]?.path}`, headers: { authorization: `Bearer ${secret}` } },
        connections: 1,
        depth: 4,
        take: () => asked++ < 2 * monthLimit && refusedHere < 50,
        onAnswer(status) {
          if (status === 200) admitted += 1;
          if (status !== 429) return;
          refused += 1;
          refusedHere += 1;
        },
      });
    }),
  );
  return { admitted, refused };
}

/** `mongodb://host:port` and `/database`. */
function splitUrl(text: string): { origin: string; pathname: string } {
  const { protocol, host, pathname } = new URL(text);
  return { origin: `${protocol}//${host}`, pathname };
}
