/** The connection of a service's process to NATS, with its metrics, spans and log lines. */

import { type Lane, type Messaging, type MessagingEvents, seldom } from "@netfacts/messaging";
import { type ConnectOptions, createNatsMessaging, NatsSettingsError, natsAccessOf } from "@netfacts/messaging/nats";
import type { BusConfig } from "./bus-config.ts";
import { BusState } from "./bus-state.ts";
import { ConfigError } from "./config.ts";
import { measureCredentials } from "./credential-expiry.ts";
import type { Logger } from "./logger.ts";
import type { Count, Metrics } from "./metrics.ts";
import type { ServiceContext } from "./service.ts";

export { type BusConfig, busConfigSchema } from "./bus-config.ts";

/** The options of a connection from the settings of a service; plain data, also for another thread. */
export function natsConnection(name: string, config: BusConfig): Pick<ConnectOptions, "servers" | "name" | "access"> {
  return { servers: config.NATS_URL, name, access: natsAccessOf(config) };
}

/**
 * Connects; waits as long as there is no server. Closes when the service stops, after its app.
 *
 * @throws ConfigError for an invalid URL, and for settings that cannot be used together.
 */
export async function openBus(service: string, config: BusConfig, context: ServiceContext<unknown>): Promise<Messaging> {
  const { log, metrics, tracing, onStop } = context;
  measureCredentials(metrics, config);
  const state = new BusState(log, context.explain);
  state.begins();
  const connecting = createNatsMessaging({
    ...natsConnection(service, config),
    tracing,
    events: busEvents(metrics, log, state),
    onWaiting: (waiting) => state.waits(waiting),
    onRefused: (refusal) => state.refused(refusal),
    onError: (what, cause) => log.error({ err: cause }, what),
  });
  const messaging = await connecting.catch((error: unknown) => {
    throw error instanceof NatsSettingsError ? new ConfigError(error.faults) : error;
  });
  onStop(() => {
    state.stop();
    return messaging.close();
  });
  return messaging;
}

/** The counters of frames to one service, looked up once. */
interface Way {
  readonly to: string;
  readonly lane: Lane;
  readonly frames: Count;
  readonly items: Count;
  readonly bytes: Count;
  inFlight: number;
}

function busEvents(metrics: Metrics, log: Logger, state: BusState): MessagingEvents {
  const connected = metrics.gauge({ name: "netfacts_nats_connected", help: "1 while connected to NATS" });
  const rightsMissing = metrics.gauge({
    name: "netfacts_nats_rights_missing",
    help: "1 if NATS has refused this process a subject since it connected",
  });
  connected.set({}, 0);
  rightsMissing.set({}, 0);
  const framesSent = metrics.counter({ name: "netfacts_frames_sent_total", help: "Request frames sent", labelNames: ["to", "lane"] });
  const itemsSent = metrics.counter({
    name: "netfacts_items_sent_total",
    help: "Items of request frames sent",
    labelNames: ["to", "lane"],
  });
  const bytesSent = metrics.counter({
    name: "netfacts_frame_sent_bytes_total",
    help: "Bytes of request frames sent",
    labelNames: ["to", "lane"],
  });
  const framesServed = metrics.counter({ name: "netfacts_frames_served_total", help: "Request frames received", labelNames: ["lane"] });
  const itemsServed = metrics.counter({
    name: "netfacts_items_served_total",
    help: "Items of request frames received",
    labelNames: ["lane"],
  });
  const framesRefused = metrics.counter({
    name: "netfacts_frames_refused_total",
    help: "Request frames that could not be read",
    labelNames: ["lane"],
  });
  metrics.gauge({
    name: "netfacts_frames_in_flight",
    help: "Request frames waiting for responses",
    labelNames: ["to", "lane"],
    collect: (gauge) => {
      for (const { to, lane, inFlight } of ways.values()) gauge.set({ to, lane }, inFlight);
    },
  });
  const ways = new Map<string, Way>();
  const wayOf = (to: string, lane: Lane): Way => {
    const key = `${to} ${lane}`;
    let way = ways.get(key);
    if (way === undefined) {
      const labels = { to, lane };
      way = { to, lane, frames: framesSent.of(labels), items: itemsSent.of(labels), bytes: bytesSent.of(labels), inFlight: 0 };
      ways.set(key, way);
    }
    return way;
  };
  const retried = metrics.counter({
    name: "netfacts_items_retried_total",
    help: "Items sent a second time, by reason",
    labelNames: ["to", "lane", "reason"],
  });
  const dropped = metrics.counter({
    name: "netfacts_replies_dropped_total",
    help: "Replies received after their request had ended",
    labelNames: ["reason"],
  });
  const failed = metrics.counter({
    name: "netfacts_requests_unanswered_total",
    help: "Requests to other services that ended without a reply",
    labelNames: ["to", "lane", "code"],
  });
  const broadcastsRefused = metrics.counter({
    name: "netfacts_broadcasts_refused_total",
    help: "Broadcasts that could not be read",
    labelNames: ["subject"],
  });
  // Starts at 0: a rate does not see the first increase of a series that begins with it.
  for (const lane of ["single", "batch"] satisfies Lane[]) framesRefused.inc({ lane }, 0);
  const tellMalformed = seldom((lane: Lane) =>
    log.warn({ lane }, "malformed request frame; an error was returned to its sender. Further ones are only counted for a minute"),
  );
  return {
    frameSent(to, lane, items, bytes) {
      const way = wayOf(to, lane);
      way.frames.inc();
      way.items.inc(items);
      way.bytes.inc(bytes);
    },
    frameServed(_service, lane, items) {
      framesServed.inc({ lane });
      itemsServed.inc({ lane }, items);
    },
    frameRefused(_service, lane) {
      framesRefused.inc({ lane });
      tellMalformed(lane);
    },
    broadcastsAwaited: (subject) => broadcastsRefused.inc({ subject }, 0),
    broadcastRefused: (subject) => broadcastsRefused.inc({ subject }),
    framesInFlight(to, lane, frames) {
      wayOf(to, lane).inFlight = frames;
    },
    itemsRetried: (to, lane, reason, items) => retried.inc({ to, lane, reason }, items),
    repliesDropped: (reason, items) => dropped.inc({ reason }, items),
    requestFailed: (to, lane, code) => failed.inc({ to, lane, code }),
    notPermitted(text) {
      rightsMissing.set({}, 1);
      state.notPermitted(text);
    },
    connection(up) {
      connected.set({}, up ? 1 : 0);
      if (up) rightsMissing.set({}, 0);
      state.changed(up);
    },
  };
}
