/** Opens a connection to NATS that never gives up: it waits for a server that is not there yet, and comes back after every loss. */

import type { ConnectionOptions, NatsConnection } from "nats";
import { connectWithLongReads } from "./transport.ts";

export interface ConnectOptions {
  /**
   * One URL, or those of a cluster in one text between commas: `nats://user:password@host:4222`. Credentials of the first one serve all.
   * With `tls://` in any of them, no server is told anything in plain text: one that offers no TLS, or a certificate that Node does not trust, is none.
   */
  readonly servers: string | readonly string[];
  /** Who it is, as NATS' monitoring shows it: the name of the service. */
  readonly name: string;
  /** One attempt, and no coming back: for commands, which have somebody to tell. Rejects when no server answers within 3 s. */
  readonly once?: boolean | undefined;
  /** Interval of pings, in ms; after two without an answer the connection is given up. Default 5,000. */
  readonly pingMs?: number | undefined;
  /** Take precedence over credentials in the URL. */
  readonly user?: string | undefined;
  readonly pass?: string | undefined;
  /** Told every 5 s while the first connection has not come about. `servers` are without credentials. */
  readonly onWaiting?: ((waiting: { readonly servers: readonly string[]; readonly waitedMs: number }) => void) | undefined;
}

/** The client's own defaults give up after 20 s and notice a silent server after 4 min. */
const settings = {
  maxReconnectAttempts: -1,
  waitOnFirstConnect: true,
  noAsyncTraces: true,
  pingInterval: 5_000,
  maxPingOut: 2,
  // Credentials may be rotated on the server first: a refusal is no reason to stay away for good.
  ignoreAuthErrorAbort: true,
  reconnectTimeWait: 500,
  reconnectJitter: 500,
  timeout: 5_000,
} as const satisfies ConnectionOptions;

const onceSettings = {
  waitOnFirstConnect: false,
  reconnect: false,
  maxReconnectAttempts: 0,
  timeout: 3_000,
} as const satisfies ConnectionOptions;

const waitingIntervalMs = 5_000;

/**
 * Resolves with the first connection, however long that takes, unless it is to try `once`.
 *
 * @throws TypeError for a URL that is none.
 */
export async function connect(options: ConnectOptions): Promise<NatsConnection> {
  const urls = readUrls(options.servers);
  const servers = urls.map(({ host }) => host);
  const user = options.user ?? decodeURIComponent(urls[0]?.username ?? "");
  const pass = options.pass ?? decodeURIComponent(urls[0]?.password ?? "");
  const startedAt = performance.now();
  const waiting = setInterval(
    () => options.onWaiting?.({ servers, waitedMs: Math.round(performance.now() - startedAt) }),
    waitingIntervalMs,
  );
  try {
    return await connectWithLongReads({
      ...settings,
      ...(options.once === true ? onceSettings : {}),
      ...(options.pingMs === undefined ? {} : { pingInterval: options.pingMs }),
      ...(urls.some(({ protocol }) => protocol === "tls:") ? { tls: {} } : {}),
      servers,
      name: options.name,
      ...(user === "" ? {} : { user, pass }),
    });
  } finally {
    clearInterval(waiting);
  }
}

const schemes = ["nats:", "tls:"];

function readUrls(servers: string | readonly string[]): URL[] {
  const texts = typeof servers === "string" ? servers.split(",") : servers;
  return texts.map((text) => {
    const trimmed = text.trim();
    const url = URL.parse(trimmed.includes("://") ? trimmed : `nats://${trimmed}`);
    // Never the text itself: it may hold a password.
    if (url === null || url.hostname === "" || !schemes.includes(url.protocol))
      throw new TypeError("a NATS URL has the form nats://user:password@host:4222, or tls:// in place of nats://");
    return url;
  });
}
