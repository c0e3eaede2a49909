/** Opens a connection to NATS that never gives up: it waits for a server that is not there yet, and comes back after every loss. */

import type { ConnectionOptions, NatsConnection } from "nats";
import { type NatsAccess, planAccess } from "./access.ts";
import { Handshake, type Refusal } from "./handshake.ts";
import { inboxPrefix } from "./inbox.ts";
import { connectThrough } from "./transport.ts";

export interface ConnectOptions {
  /**
   * One URL, or those of a cluster in one text between commas: `nats://user:password@host:4222`. One user serves all.
   * With `tls://` in any of them, no server is told anything in plain text: one that offers no TLS, or a certificate that is not trusted, is none.
   */
  readonly servers: string | readonly string[];
  /** Who it is, as NATS' monitoring shows it: the name of the service. */
  readonly name: string;
  /** One attempt, and no coming back: for commands, which have somebody to tell. Rejects when no server answers within 3 s. */
  readonly once?: boolean | undefined;
  /** Interval of pings, in ms; after two without an answer the connection is given up. Default 5,000. */
  readonly pingMs?: number | undefined;
  /** Credentials and certificates. Those in files are read for each attempt, so that they may be replaced. */
  readonly access?: NatsAccess | undefined;
  /** Told every 5 s while the first connection has not come about. `servers` are without credentials; `reasons` are the latest of each. */
  readonly onWaiting?: ((waiting: Waiting) => void) | undefined;
  /** Told of each attempt that fails, the first and those to come back. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
}

export interface Waiting {
  readonly servers: readonly string[];
  readonly waitedMs: number;
  readonly reasons: readonly string[];
}

/** No server lets us in. Its message says why, for each. */
export class NatsRefusedError extends Error {
  override readonly name = "NatsRefusedError";
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
  // With a bound on attempts the client takes two servers off its list for each that fails.
  reconnect: false,
  timeout: 3_000,
} as const satisfies ConnectionOptions;

const waitingIntervalMs = 5_000;

/**
 * Resolves with the first connection, however long that takes, unless it is to try `once`.
 *
 * @throws NatsSettingsError (a TypeError) for settings that cannot be used together, or a URL that is none.
 * @throws NatsRefusedError where it tries `once`.
 */
export async function connect(options: ConnectOptions): Promise<NatsConnection> {
  const plan = planAccess(options.servers, options.access ?? {});
  const { servers } = plan;
  const reasons = new Map<string, string>();
  const handshake = new Handshake(plan, (refusal) => {
    reasons.set(refusal.server, refusal.reason);
    options.onRefused?.(refusal);
  });
  const startedAt = performance.now();
  const waiting = setInterval(
    () => options.onWaiting?.({ servers, waitedMs: Math.round(performance.now() - startedAt), reasons: [...reasons.values()] }),
    waitingIntervalMs,
  );
  try {
    return await connectThrough(handshake, {
      ...settings,
      ...(options.once === true ? onceSettings : {}),
      ...(options.pingMs === undefined ? {} : { pingInterval: options.pingMs }),
      servers: [...servers],
      name: options.name,
      inboxPrefix: inboxPrefix(options.name),
    });
  } catch (cause) {
    throw new NatsRefusedError([...reasons.values()].join("; ") || "no NATS server answers", { cause });
  } finally {
    clearInterval(waiting);
  }
}
