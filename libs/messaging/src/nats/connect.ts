/** Opens a connection to NATS that never gives up: it waits for a server that is not available yet, and reconnects after every loss. */

import type { ConnectionOptions, NatsConnection } from "nats";
import { type NatsAccess, planAccess } from "./access.ts";
import { Handshake, type Refusal } from "./handshake.ts";
import { inboxPrefix } from "./inbox.ts";
import { connectThrough } from "./transport.ts";

export interface ConnectOptions {
  /**
   * One URL, or those of a cluster in one text with commas: `nats://user:password@host:4222`. One user is used for all. With `tls://` in any of them,
   * nothing is sent to any server in plain text, and a server without TLS or with an untrusted certificate is not used.
   */
  readonly servers: string | readonly string[];
  /** Name of the service, which NATS' monitoring shows. */
  readonly name: string;
  /** One attempt, and no reconnecting: for commands, which report to a person. Rejects when no server answers within 3 s. */
  readonly once?: boolean | undefined;
  /** Interval of pings, in ms; after two pings without an answer the connection counts as lost. Default 5,000. */
  readonly pingMs?: number | undefined;
  /** Credentials and certificates. Files are read for each attempt, so that they may be replaced. */
  readonly access?: NatsAccess | undefined;
  /** Called every 5 s until the first connection is made. `servers` are without credentials; `reasons` has the latest of each. */
  readonly onWaiting?: ((waiting: Waiting) => void) | undefined;
  /** Called for each failed attempt, of the first connection and of reconnects. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
}

export interface Waiting {
  readonly servers: readonly string[];
  readonly waitedMs: number;
  readonly reasons: readonly string[];
}

/** No server accepts the connection. The message gives the reason for each. */
class NatsRefusedError extends Error {
  override readonly name = "NatsRefusedError";
}

/** The client's own defaults give up after 20 s and notice a silent server after 4 min. */
const settings = {
  maxReconnectAttempts: -1,
  waitOnFirstConnect: true,
  noAsyncTraces: true,
  pingInterval: 5_000,
  maxPingOut: 2,
  // Credentials may be rotated on the server first: a refusal must not end the attempts.
  ignoreAuthErrorAbort: true,
  reconnectTimeWait: 500,
  reconnectJitter: 500,
  timeout: 5_000,
} as const satisfies ConnectionOptions;

const onceSettings = {
  waitOnFirstConnect: false,
  // If attempts are limited, the client removes two servers from its list for each failure.
  reconnect: false,
  timeout: 3_000,
} as const satisfies ConnectionOptions;

const waitingIntervalMs = 5_000;

/**
 * Resolves with the first connection, however long that takes; with `once`, rejects if the attempt fails.
 *
 * @throws NatsSettingsError (a TypeError) for settings that cannot be used together, or an invalid URL.
 * @throws NatsRefusedError with `once`.
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
